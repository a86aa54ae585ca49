/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadmap.h - the process and the name of each thread, over time
 *
 * Samples name a thread instead of a process if profiles are kept by thread. A
 * process's first thread has the process's own number, so only the other threads are
 * entered: from the kernel's records of forks, names and exits, and from a scan of
 * /proc at start.
 *
 * I1  Samples with a tid belong to a thread from its fork until the tid is given to
 *     another task, as for processes (procmap.h, I1).
 * I2  At most THREADMAP_MAX threads are kept, exited ones until threadmap_forget(). The
 *     samples of threads beyond that have no process.
 */
#ifndef CPI_DAEMON_THREADMAP_H
#define CPI_DAEMON_THREADMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "daemon/procmap/procmap.h"

#define THREADMAP_MAX (1u << 18)

struct thread {
	struct hnode node;
	uint32_t tid, tgid;
	uint64_t since; /* time of its fork; PROCMAP_ALWAYS: found by a scan */
	uint64_t until; /* time of its exit; UINT64_MAX: it lives */
	/* when its tid was given to another task; UINT64_MAX: never */
	uint64_t replaced;
	uint64_t scan; /* the number of the last scan that found it */
	char comm[PROCMAP_COMM_SIZE];
};

struct threadmap {
	struct hmap all; /* by tid */
	uint64_t scan;
	uint64_t nr_refused; /* threads beyond THREADMAP_MAX */
};

void threadmap_fini(struct threadmap *tm); /* starts as { 0 } */

/* Adds a thread, with the name of the thread that created it. Returns 0 or -ENOMEM. */
int threadmap_fork(struct threadmap *tm, uint32_t tid, uint32_t tgid, const char *comm,
		   uint64_t when);

/* Notes that a process began. Its number may have been the tid of a former thread. */
void threadmap_process(struct threadmap *tm, uint32_t tgid, uint64_t when);
void threadmap_comm(struct threadmap *tm, uint32_t tid, const char *comm);
void threadmap_exit(struct threadmap *tm, uint32_t tid, uint64_t when);

/*
 * Take in a scan of /proc: call threadmap_found() for each thread, between begin and
 * end. Threads that were not found have exited. threadmap_found() returns 0 or -ENOMEM.
 */
void threadmap_begin_scan(struct threadmap *tm);
int threadmap_found(struct threadmap *tm, uint32_t tid, uint32_t tgid,
		    const char *comm);
void threadmap_end_scan(struct threadmap *tm, uint64_t when);

/*
 * Finds the thread that had a tid in an interval. *out is valid until
 * threadmap_forget(). Returns 0; -ENOENT if no thread is known, so the tid is that of a
 * main thread; or -EEXIST if several tasks had the tid.
 */
int threadmap_find(const struct threadmap *tm, uint32_t tid, uint64_t from_ns,
		   uint64_t to_ns, const struct thread **out);

/* Drops the threads that exited before horizon. */
void threadmap_forget(struct threadmap *tm, uint64_t horizon);

#endif
