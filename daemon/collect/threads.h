/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - whose a thread was, and who ran on a CPU
 *
 * Hardware names threads, if anyone, and writes its records down later than it sampled:
 * what is asked is of the past. What is newest is known best: of a number that was used
 * again, the last two owners are; of a CPU, some thousands of switches.
 */
#ifndef CPI_DAEMON_THREADS_H
#define CPI_DAEMON_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"

#define THREADS_UNKNOWN UINT32_MAX

struct threads {
	struct hmap all;  /* by number */
	struct hmap cpus; /* who ran, by CPU */
};

void threads_fini(struct threads *t); /* starts as { 0 } */

/* A thread is of a process, from a moment on at the latest. 0 or -ENOMEM. */
int threads_note(struct threads *t, uint32_t tid, uint32_t tgid, uint64_t when);

/* Its process at a moment, or THREADS_UNKNOWN. */
uint32_t threads_tgid(const struct threads *t, uint32_t tid, uint64_t when);

/* From a moment on a process runs on a CPU; THREADS_UNKNOWN: none. 0 or -ENOMEM. */
int threads_switch(struct threads *t, uint32_t cpu, uint32_t tgid, uint64_t when);

/* The process that ran on a CPU at a moment, or THREADS_UNKNOWN. */
uint32_t threads_running(const struct threads *t, uint32_t cpu, uint64_t when);

#endif
