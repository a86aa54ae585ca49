/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfev.h - perf_event_open, and what its refusals mean
 */
#ifndef CPI_DAEMON_PERFEV_H
#define CPI_DAEMON_PERFEV_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* A close-on-exec descriptor, or -errno. */
int perfev_open(struct perf_event_attr *attr, pid_t pid, int cpu);

/* Appends why opening failed with err, and what to do about it. */
void perfev_explain(int err, struct buf *out);

/*
 * The same for an event and its ring on a CPU that came online later. The usual cause
 * is then the limit of locked memory, because a ring is locked memory.
 */
void perfev_explain_ring(int err, struct buf *out);

/*
 * Whether this process may sample all CPUs, in user and kernel mode: 0 or -errno.
 */
int perfev_system_access(void);

/* A number from /proc/sys/kernel/NAME, or fallback. */
long perfev_sysctl(const char *name, long fallback);

#endif
