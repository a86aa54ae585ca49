/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - reports made by child processes, some at a time
 *
 * A job is one question: the arguments of cpi, which a child executes, confined
 * (confine.h). Those who ask the same question while it runs share it. At most
 * max_running run and max_queued wait; more are refused. One status, or a name of
 * content, may run beside them. A job is killed when nobody waits for it any more, when
 * its time is over, or when it prints too much. It keeps its place until its process
 * has ended. What it has started ends with it.
 */
#ifndef CPI_WEB_JOB_H
#define CPI_WEB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "web/api.h"
#include "web/loop.h"
#include "web/reply.h"

#define JOB_KEY_SIZE 32

/* What a question is and what its answer depends on: equal keys have the same answer.
 */
struct job_key {
	uint8_t bytes[JOB_KEY_SIZE];
};

struct jobs_config {
	const char *cpi;             /* the program */
	const char *socket;          /* cpid's, or NULL */
	const char *folder;          /* for temporary files, or NULL */
	const struct text_list *dbs; /* that cpi reads */
	unsigned int max_running, max_queued;
	uint64_t max_memory;     /* of a child, in bytes */
	uint64_t max_gzip;       /* bytes that an answer may have in gzip form */
	bool no_source;          /* reports read no source files */
	unsigned int patience_s; /* CPU time and elapsed time */
};

/* One that waits for an answer. */
struct job_waiter {
	struct job_waiter *next;
	struct job *job; /* NULL: it does not wait */
	/* Called once, unless it leaves; reply is the job's, NULL when out of memory.
	 */
	void (*done)(struct job_waiter *w, struct reply *reply);
};

struct jobs {
	const struct jobs_config *config;
	struct loop *loop;
	struct job
		*first; /* in the order of arrival; the running ones are among them */
	unsigned int nr_running, nr_queued;
	uint64_t nr_done, nr_failed, nr_cancelled, nr_refused;
	/* Called before the waiters are: an answer that may be kept. */
	void (*finished)(struct jobs *jobs, const struct job_key *key,
			 struct reply *reply);
};

/* Takes over call. 0; -EBUSY when too many wait; -ENOMEM. On failure call is ended. */
int jobs_ask(struct jobs *jobs, const struct job_key *key, struct api_call *call,
	     struct job_waiter *w);

/* w waits no longer. */
void jobs_leave(struct job_waiter *w);

/* Ends jobs whose time is over; to be called once a second. */
void jobs_tick(struct jobs *jobs, uint64_t now_ns);

/* The options have changed: answers to questions of before are only for their waiters.
 */
void jobs_options_changed(struct jobs *jobs);

/* Ends all; waiters get no reply. */
void jobs_fini(struct jobs *jobs);

#endif
