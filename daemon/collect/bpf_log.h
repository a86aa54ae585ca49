/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_log.h - what libbpf has to say
 */
#ifndef CPI_DAEMON_BPF_LOG_H
#define CPI_DAEMON_BPF_LOG_H

/* From now on it goes to the log, as that of something that is told of anyway. */
void bpf_log_begin(void);

#endif
