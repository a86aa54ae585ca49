/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_child.h - work that may never end, in a timed child
 *
 * THE RULE. The thread that drains, flushes and answers makes no system call that
 * another process, a file system or a peer can hold up. It asks here instead:
 *
 *	/proc/PID/...	each read takes locks of that process (maps, environ, mem, root,
 *			exe, map_files, mountinfo), of all cgroups (cgroup), or the last
 *			reference to its memory (stat, status). It can hold these for as
 *			long as it likes, by FUSE, userfaultfd or a fork without end.
 *	other files	opening, reading, asking for the status and *closing* a file
 *			waits for its file system: FUSE, a network, an overlay of these.
 *	perf events	of another thread: perf_event_open() waits for its exec.
 *	sockets		what others send is received without waiting, and without the
 *			descriptors that may come along: closing these can take for ever
 *			(SO_LINGER).
 *
 * What is left to that thread: its own database, socket, log and rings; the kernel's
 * own files below /proc/sys, /proc/self, /sys and tracefs; readdir() of /proc, stat()
 * of /proc/PID itself, kill(); statx() of what is in memory (procroot_peek()).
 * t/0407-hostile-syscalls.t holds this list.
 *
 * How: a server is forked while this process is small. It forks workers, one after the
 * other; a worker does what it is asked, in a row, for as long as it answers in time.
 * One that does not is killed, and left alone where even that does not help. While few
 * are left, it may go on for a while, though nobody hears its answer: a file that is
 * read slowly is in memory then, when it is asked for again.
 *
 * I1  Nobody waits longer for one answer than its patience, nor in the long run for
 *     answers that do not come more than 2 % of the time; 10 % where all of them
 *     were to come from processes that had always answered, or had not been asked.
 * I2  A process, and a user but root (with his subuids), have shares of their own,
 *     by which all that is done because of them is paid: when a share is used up,
 *     -EBUSY is the answer, and others' stay. So is it while a worker is stuck with
 *     the same question about that process.
 * I3  At most TIMED_CHILD_MAX_STUCK workers are stuck at any time: at most
 *     TIMED_CHILD_MAX_STUCK_USER because of one user, and TIMED_CHILD_MAX_STUCK_ROOT
 *     because of root.
 * I4  This process never has a descriptor of somebody else's file: it goes from the
 *     worker to its reader within a socket (fdpass.h).
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
#define TIMED_CHILD_MAX_LINGER     4     /* of those: they may read on */
#define TIMED_CHILD_LINGER_MS      10000 /* for so long */
#define TIMED_CHILD_LINGER_CPU_MS  50    /* and no more CPU time */
#define TIMED_CHILD_MAX_QUESTION   8192
#define TIMED_CHILD_MAX_ANSWER     (16u << 20)

struct timed_child;
struct openfiles;

/* Starts the server, with the rights to read others' files. 0 or -errno. */
int timed_child_new(struct timed_child **out);
void timed_child_free(struct timed_child *a); /* accepts NULL */

/* What a worker is to do, as it sees it. */
struct timed_child_job {
	const void *question;
	size_t size;
	int fd;                  /* came along, the job's to close; or -1 */
	struct buf answer;       /* begins empty */
	struct openfiles *files; /* that the worker keeps open */
};

/*
 * Runs in the worker. It is this very program, but with the memory of the moment when
 * the server began: a question has no pointers. 0 or a negative error.
 */
typedef int (*timed_child_fn)(struct timed_child_job *job);

struct timed_child_question {
	timed_child_fn fn;
	const void *data;
	size_t size;
	const int *fd;            /* goes along, and stays the caller's; NULL: none */
	pid_t tgid;               /* whose share pays; 0: nobody's */
	pid_t parent;             /* of that process, pays too; 0: not known */
	unsigned int patience_ms; /* 0: TIMED_CHILD_PATIENCE_MS */
};

/*
 * What fn returns. When it is 0, the answer is appended to *out (NULL: it has none).
 * Else -errno: -ETIMEDOUT; -EBUSY when a share is used up or too many do not answer;
 * -ECHILD when the worker has died.
 */
int timed_child_ask(struct timed_child *a, const struct timed_child_question *q,
		    struct buf *out);

/* The same, for an answer of a known size; -CPI_ECORRUPT for any other. */
int timed_child_ask_for(struct timed_child *a, const struct timed_child_question *q,
			void *out, size_t size);

/*
 * Has a descriptor closed by a worker, for which it does not matter how long that
 * takes. Waits no longer than for an answer.
 */
void timed_child_dispose(struct timed_child *a, int fd);

/* CPU time that the workers have spent. */
uint64_t timed_child_cpu_ns(const struct timed_child *a);

/*
 * Of the CPU time since the last call, what is above most_ns of a user, summed over
 * users: what one of them makes is not to be the others' loss.
 */
uint64_t timed_child_take_excess(struct timed_child *a, uint64_t most_ns);

/* Appends lines for session_status(). */
void timed_child_status(struct timed_child *a, struct buf *out);

#endif
