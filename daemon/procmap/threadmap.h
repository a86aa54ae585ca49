/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadmap.h - the process and the name of each thread, over time
 *
 * Samples name a thread instead of a process if profiles are kept by thread. A
 * process's first thread has the process's own number, so only the other threads are
 * entered: from the kernel's records of forks, names and exits, and from a scan of
 * /proc at start.
 *
 * I1  A thread's samples are its own from its fork to the moment at which its number is
 *     given to another task, as for processes (procmap.h, I1).
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
	uint64_t since;    /* its fork; PROCMAP_ALWAYS: found by a scan */
	uint64_t until;    /* its exit; UINT64_MAX: it lives */
	uint64_t replaced; /* when its number was given away; UINT64_MAX: it was not */
	uint64_t scan;     /* the number of the last scan that found it */
	char comm[PROCMAP_COMM_SIZE];
};

struct threadmap {
	struct hmap all; /* by tid */
	uint64_t scan;
	uint64_t nr_refused; /* threads beyond THREADMAP_MAX */
};

void threadmap_fini(struct threadmap *tm); /* starts as { 0 } */

/* A thread begins, with the name of the one that made it. 0 or -ENOMEM. */
int threadmap_fork(struct threadmap *tm, uint32_t tid, uint32_t tgid, const char *comm,
		   uint64_t when);

/* A process begins, which may have the number of a former thread. */
void threadmap_process(struct threadmap *tm, uint32_t tgid, uint64_t when);
void threadmap_comm(struct threadmap *tm, uint32_t tid, const char *comm);
void threadmap_exit(struct threadmap *tm, uint32_t tid, uint64_t when);

/*
 * A scan of /proc: between begin and end, each thread that is there is told of. One
 * that is not found has exited. threadmap_found() returns 0 or -ENOMEM.
 */
void threadmap_begin_scan(struct threadmap *tm);
int threadmap_found(struct threadmap *tm, uint32_t tid, uint32_t tgid,
		    const char *comm);
void threadmap_end_scan(struct threadmap *tm, uint64_t when);

/*
 * The thread that had a number in an interval; it stays where it is until
 * threadmap_forget(). Returns 0; -ENOENT if it is not known, so the number is that of a
 * process's first thread; -EEXIST if several tasks had the number.
 */
int threadmap_find(const struct threadmap *tm, uint32_t tid, uint64_t from_ns,
		   uint64_t to_ns, const struct thread **out);

/* Forgets the threads that exited before horizon. */
void threadmap_forget(struct threadmap *tm, uint64_t horizon);

#endif
