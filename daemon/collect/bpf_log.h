/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_log.h - sends libbpf's messages to the log
 */
#ifndef CPI_DAEMON_BPF_LOG_H
#define CPI_DAEMON_BPF_LOG_H

/* From now on libbpf's messages go to the log at level debug. */
void bpf_log_begin(void);

#endif
