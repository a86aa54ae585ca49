/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - which process a thread belonged to, and which process ran on a CPU
 *
 * Records of hardware contain at most a thread id, and are read some time after the
 * sample. So these functions answer for a time in the past. For each thread id the last
 * two processes are remembered, because a number may be reused; for each CPU, the last
 * 32768 switches.
 */
#ifndef CPI_DAEMON_THREADS_H
#define CPI_DAEMON_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"

#define THREADS_UNKNOWN UINT32_MAX

struct threads {
	struct hmap all;  /* struct thread, by tid */
	struct hmap cpus; /* struct cpu: the processes that ran, by CPU number */
};

void threads_fini(struct threads *t); /* starts as { 0 } */

/*
 * Notes that thread tid has belonged to process tgid since `when`, or since an earlier
 * time. Returns 0 or -ENOMEM.
 */
int threads_note(struct threads *t, uint32_t tid, uint32_t tgid, uint64_t when);

/* Returns the process of a thread at a time, or THREADS_UNKNOWN. */
uint32_t threads_tgid(const struct threads *t, uint32_t tid, uint64_t when);

/*
 * Notes that process tgid has been running on a CPU since `when`;
 * THREADS_UNKNOWN: no process has. Call it in the order of time. Returns 0 or
 * -ENOMEM.
 */
int threads_switch(struct threads *t, uint32_t cpu, uint32_t tgid, uint64_t when);

/* Returns the process that ran on a CPU at a time, or THREADS_UNKNOWN. */
uint32_t threads_running(const struct threads *t, uint32_t cpu, uint64_t when);

#endif
