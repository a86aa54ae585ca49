/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers.h - does jobs in parallel processes
 *
 * A worker is a fork of this process: it has all that was loaded before. It must not
 * use a database, because SQLite forbids that after a fork(), and may not open files
 * other than to read them. If this process ends, its workers are killed.
 */
#ifndef CPI_REPORT_WORKERS_H
#define CPI_REPORT_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workers;

/* What a worker has written; valid only while worker_done_fn runs. */
struct worker_result {
	void *job;
	/*
	 * -ECHILD: the worker died. -EIO: it could not begin, or its result could not
	 * be written or read. Else what worker_fn returned.
	 */
	int err;
	int signal; /* that it died of; 0: none, or it is not known */
	const uint8_t *data;
	size_t size;
};

/*
 * Runs in a worker: writes the result to a file, which is also the standard output, at
 * its end. Returns 0 or -errno.
 */
typedef int (*worker_fn)(void *ctx, void *job, int file);

/* Takes a result and the job. Returns 0, or an error that ends the work. */
typedef int (*worker_done_fn)(void *ctx, const struct worker_result *r);

/*
 * $CPI_JOBS, or else the number of CPUs that this process may use; at least 1, at most
 * 64.
 */
unsigned int workers_wanted(void);

/* Whether $CPI_JOBS says so. */
bool workers_are_asked_for(void);

/*
 * At most nr workers run at the same time. SIGCHLD gets its default action. NULL when
 * out of memory.
 */
struct workers *workers_new(unsigned int nr, worker_fn fn, worker_done_fn done,
			    void *ctx);

/*
 * Starts a worker for the job, or waits for others first. Calls done() for jobs that
 * were started before and have ended, in the order of their start. *started is false if
 * the system has no room for another process: then the job is still the caller's.
 * Returns 0, or an error of done(), and then nothing was started.
 */
int workers_start(struct workers *w, void *job, bool *started);

/* Waits for all workers, and calls done() for each. Returns 0 or an error of done(). */
int workers_finish(struct workers *w);

/*
 * Kills the workers that still run. Calls drop() for each job that done() was not
 * called for. Accepts NULL.
 */
void workers_free(struct workers *w, void (*drop)(void *job));

#endif
