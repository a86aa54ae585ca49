/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perftarget.h - of whom perf events are: the system, a command, or a running process
 *
 * An event of a process is one of its first thread, and of what that starts from then
 * on. So a process that has other threads already needs an event of each.
 */
#ifndef CPI_DAEMON_PERFTARGET_H
#define CPI_DAEMON_PERFTARGET_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perftarget {
	pid_t pid;           /* -1: the whole system */
	bool enable_on_exec; /* with pid: events begin when it calls exec */
	const pid_t *thread; /* that it has beside the first one; the owner's */
	int nr_threads;
};

/* The process of a thread; 0: there is no such thread. */
pid_t perftarget_process(pid_t thread);

/*
 * The threads that a process has beside its first one: a new array, the caller's. 0,
 * -ESRCH when there is no such process, or -errno.
 */
int perftarget_read_threads(pid_t pid, pid_t **thread, int *nr);

/* May events of a process be opened? 0 or -errno. */
int perftarget_access(pid_t pid);

/* Events of one kind on one CPU, of each of those threads; starts as { 0 }. */
struct perfthreads {
	struct {
		int fd;
		uint64_t id;
	} * event;
	int nr;
};

/* Opens them, but of threads that have ended. 0 or -errno; then there are none. */
int perfthreads_open(const struct perftarget *target,
		     const struct perf_event_attr *attr, int cpu,
		     struct perfthreads *out);
void perfthreads_close(struct perfthreads *t);

/* The same ioctl on each. 0, or the last -errno. */
int perfthreads_ioctl(const struct perfthreads *t, unsigned long request,
		      unsigned long argument);

/* Whether one of them is called id by perf. */
bool perfthreads_have(const struct perfthreads *t, uint64_t id);

#endif
