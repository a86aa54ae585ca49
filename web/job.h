/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - runs reports in child processes, a limited number at a time
 *
 * A job runs cpi with the arguments of one question, in a confined child process
 * (confine.h). If the same question is asked while its job runs, both share the job. At
 * most max_running jobs run and max_queued wait; further ones are refused. In addition,
 * one cheap job may run: one for the report `status`, or for a stamp
 * (api_stamp_make()). A job is killed when no client waits for it any more, when its
 * time is over, or when it prints too much. It counts as running until its process has
 * ended. Processes that it has started are killed with it.
 */
#ifndef CPI_WEB_JOB_H
#define CPI_WEB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "web/api.h"
#include "web/loop.h"
#include "web/reply.h"

#define JOB_KEY_SIZE 32

/*
 * A hash of a question and of all that its answer depends on: equal keys have equal
 * answers.
 */
struct job_key {
	uint8_t bytes[JOB_KEY_SIZE];
};

struct jobs_config {
	const char *cpi;             /* the program */
	const char *socket;          /* cpid's, or NULL */
	const char *folder;          /* for temporary files, or NULL */
	const char *cache;           /* where reports keep results, or NULL: nowhere */
	const struct text_list *dbs; /* the databases that cpi reads */
	unsigned int max_running, max_queued;
	uint64_t max_memory;     /* of a child, in bytes */
	uint64_t max_gzip;       /* limit of an answer's gzip form, in bytes */
	bool no_source;          /* reports read no source files */
	bool public_source;      /* or only those that everybody may read */
	unsigned int patience_s; /* limit of CPU time and of elapsed time */
};

/* A request that waits for an answer. */
struct job_waiter {
	struct job_waiter *next;
	struct job *job; /* NULL: it does not wait */
	/*
	 * Called once, unless jobs_leave() was called before. The job owns reply, which
	 * is NULL when out of memory.
	 */
	void (*done)(struct job_waiter *w, struct reply *reply);
};

struct jobs {
	const struct jobs_config *config;
	struct loop *loop;
	struct job *first; /* all jobs, in the order of arrival */
	unsigned int nr_running, nr_queued;
	unsigned int nr_cheap; /* of nr_running; one of them may exceed max_running */
	uint64_t nr_done, nr_failed, nr_cancelled, nr_refused;
	/* Called with an answer that may be cached, before the waiters' functions. */
	void (*finished)(struct jobs *jobs, const struct job_key *key,
			 struct reply *reply);
};

/*
 * Asks a question. Takes over *call, and ends it with api_call_fini(), also on failure.
 * Returns 0; -EBUSY if too many jobs wait; or -ENOMEM.
 */
int jobs_ask(struct jobs *jobs, const struct job_key *key, struct api_call *call,
	     struct job_waiter *w);

/* The request does not wait any longer. */
void jobs_leave(struct job_waiter *w);

/* Whether two jobs, of which one is cheap, would start now, without waiting. */
bool jobs_are_free(const struct jobs *jobs);

/* Changes the key of the job that w waits for. If another job has this key already, w
 * waits for that job instead.
 */
void jobs_rename(struct job_waiter *w, const struct job_key *key);

/* Ends jobs whose time is over. Call it once a second. */
void jobs_tick(struct jobs *jobs, uint64_t now_ns);

/* The options have changed: answers of jobs that run now are not cached. */
void jobs_options_changed(struct jobs *jobs);

/* Ends all jobs; waiters get no reply. */
void jobs_fini(struct jobs *jobs);

#endif
