/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perftarget.h - what perf events measure: the whole system, a command, or a
 * running process
 *
 * perf_event_open() with a PID counts only the main thread and the threads and
 * processes that it creates later (inherit). So a running process needs one event
 * for each further thread.
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
	const pid_t *thread; /* threads other than the main one; the array belongs to
				the caller */
	int nr_threads;
};

/* The process of a thread; 0: there is no such thread. */
pid_t perftarget_process(pid_t thread);

/*
 * Reads the process's threads other than the main one into a new array, which the
 * caller frees. 0, -ESRCH when there is no such process, or -errno.
 */
int perftarget_read_threads(pid_t pid, pid_t **thread, int *nr);

/* May events of a process be opened? 0 or -errno. */
int perftarget_access(pid_t pid);

/*
 * One event of the same kind for each thread of a perftarget, on one CPU. Starts
 * as { 0 }.
 */
struct perfthreads {
	struct {
		int fd;
		uint64_t id;
	} * event;
	int nr;
};

/*
 * Opens an event for each thread; threads that have ended are skipped. Returns 0
 * or -errno; on failure none stays open.
 */
int perfthreads_open(const struct perftarget *target,
		     const struct perf_event_attr *attr, int cpu,
		     struct perfthreads *out);
void perfthreads_close(struct perfthreads *t);

/* The same ioctl on each. 0, or the last -errno. */
int perfthreads_ioctl(const struct perfthreads *t, unsigned long request,
		      unsigned long argument);

/* Whether one of these events has this perf event id. */
bool perfthreads_have(const struct perfthreads *t, uint64_t id);

#endif
