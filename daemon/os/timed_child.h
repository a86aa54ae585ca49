/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_child.h - runs calls that may block for ever in a child, with a deadline
 *
 * THE RULE. The main thread (it reads the rings, stores counts and answers requests)
 * makes no system call that another process, a file system or a peer can block. It uses
 * this interface for:
 *
 *	/proc/PID/...	each read takes locks of that process (maps, environ, mem, root,
 *			exe, map_files, mountinfo), of all cgroups (cgroup), or drops
 *			the last reference to its memory (stat, status). It can hold
 *			these for as long as it likes, by FUSE, userfaultfd or a fork
 *			without end.
 *	other files	opening, reading, asking for the status and *closing* a file
 *			waits for its file system: FUSE, a network, an overlay of these.
 *	perf events	of another thread: perf_event_open() waits for its exec.
 *	sockets		messages are received without waiting, and without the
 *			descriptors that a peer may send: closing these can take for
 *			ever (SO_LINGER).
 *
 * That thread may use directly: its own database, socket, log and rings; the kernel's
 * own files below /proc/sys, /proc/self, /sys and tracefs; readdir() of /proc, stat()
 * of /proc/PID itself, kill(); statx() of cached metadata (procroot_peek()).
 * t/0407-hostile-syscalls.t checks this list.
 *
 * How: a server is forked while this process is small. It forks workers, one after the
 * other. A worker serves one request after the other as long as it answers in time. A
 * worker that does not is killed, or abandoned if it cannot be killed. While there are
 * few late workers, one may first go on for a while, although its answer is dropped:
 * then a file that is slow to read is cached when it is read again.
 *
 * I1  A caller waits for one answer no longer than its patience. In the long run the
 *     waits for answers that do not come take at most 2 % of the time, or 10 % if all
 *     these processes had answered in the 100 s before or had not been asked.
 * I2  Each process, each user except root, and each range of subordinate user ids has
 *     a share of time. All work that it causes is charged to this share. If a share is
 *     used up, the answer is -EBUSY, without effect on others. The answer is also
 *     -EBUSY while a worker is stuck with the same question about the same process.
 * I3  At most TIMED_CHILD_MAX_STUCK workers are stuck at any time: at most
 *     TIMED_CHILD_MAX_STUCK_USER because of one user, and TIMED_CHILD_MAX_STUCK_ROOT
 *     because of root.
 * I4  This process never has a descriptor of another process's file: the descriptor
 *     goes from the worker to its reader within a socket (fdpass.h).
 */
#ifndef CPI_DAEMON_TIMED_CHILD_H
#define CPI_DAEMON_TIMED_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

#define TIMED_CHILD_PATIENCE_MS    200
#define TIMED_CHILD_MAX_STUCK      32
#define TIMED_CHILD_MAX_STUCK_USER 4
#define TIMED_CHILD_MAX_STUCK_ROOT 16
#define TIMED_CHILD_MAX_LINGER     4     /* late workers that may go on ... */
#define TIMED_CHILD_LINGER_MS      10000 /* ... for at most this time */
#define TIMED_CHILD_LINGER_CPU_MS  50    /* ... and this CPU time */
#define TIMED_CHILD_MAX_QUESTION   8192
#define TIMED_CHILD_MAX_ANSWER     (16u << 20)

struct timed_child;
struct openfiles;

/*
 * Starts the server, with the rights to read others' files. 0 or -errno: -EPERM if it
 * cannot give up its other rights (logged).
 */
int timed_child_new(struct timed_child **out);
void timed_child_free(struct timed_child *a); /* accepts NULL */

/*
 * Sets the patience of questions that name none, which begins as
 * TIMED_CHILD_PATIENCE_MS. For tests: on a busy machine a worker that does not hang may
 * need longer.
 */
void timed_child_set_patience(struct timed_child *a, unsigned int ms);

/* A request, as the worker sees it. */
struct timed_child_job {
	const void *question;
	size_t size;
	int fd;                  /* sent with the question; the job closes it; or -1 */
	struct buf answer;       /* begins empty */
	struct openfiles *files; /* files that the worker keeps open */
};

/*
 * Runs in the worker, which is this program with the memory of the moment when the
 * server was forked. So a question must not contain pointers. 0 or a negative error.
 */
typedef int (*timed_child_fn)(struct timed_child_job *job);

struct timed_child_question {
	timed_child_fn fn;
	const void *data;
	size_t size;
	const int *fd;            /* sent along; still the caller's; NULL: none */
	pid_t tgid;               /* the process whose share pays; 0: none */
	pid_t parent;             /* its parent, which pays too; 0: not known */
	unsigned int patience_ms; /* 0: that of timed_child_set_patience() */
};

/*
 * Runs q->fn in a worker and returns its result. If that is 0, the answer is appended
 * to *out (NULL: there is none). Other errors: -ETIMEDOUT; -EBUSY if a share is used up
 * or too many workers do not answer; -ECHILD if the worker has died.
 */
int timed_child_ask(struct timed_child *a, const struct timed_child_question *q,
		    struct buf *out);

/* The same, for an answer of a known size; -CPI_ECORRUPT for any other. */
int timed_child_ask_for(struct timed_child *a, const struct timed_child_question *q,
			void *out, size_t size);

/*
 * Closes a descriptor in a worker, because closing may take long. Waits no longer than
 * for an answer.
 */
void timed_child_dispose(struct timed_child *a, int fd);

/* CPU time of all workers. */
uint64_t timed_child_cpu_ns(const struct timed_child *a);

/*
 * The CPU time since the last call that exceeds most_ns per user, summed over users. It
 * does not count for the budget, so that one user cannot lower the rate for others.
 */
uint64_t timed_child_take_excess(struct timed_child *a, uint64_t most_ns);

/* Appends lines for session_status(). */
void timed_child_status(struct timed_child *a, struct buf *out);

#endif
