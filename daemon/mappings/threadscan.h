/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadscan.h - reads from /proc which threads there are
 *
 * /proc/PID/task and /proc/PID/task/TID/comm take no lock that a process may hold for
 * long, so the daemon reads them itself.
 */
#ifndef CPI_DAEMON_THREADSCAN_H
#define CPI_DAEMON_THREADSCAN_H

#include <sys/types.h>

#include "daemon/procmap/threadmap.h"

/* Scans one process, or with 0 all processes. 0, or -errno if /proc cannot be read. */
int threadscan(struct threadmap *tm, pid_t process);

#endif
