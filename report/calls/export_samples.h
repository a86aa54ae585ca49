/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_samples.h - a selection as weighted stacks
 */
#ifndef CPI_REPORT_EXPORT_SAMPLES_H
#define CPI_REPORT_EXPORT_SAMPLES_H

#include "report/calls/export_stack.h"
#include "report/profile/procedure_evidence.h"
#include "report/select/events.h"
#include "report/select/imagecache.h"
#include "report/select/select.h"

/* Of each event its samples, and what they stand for. */
#define EXPORT_MAX_COLUMNS (2 * EVENTS_MAX)

/* By which contexts to label stacks. */
enum export_by {
	EXPORT_BY_ANY, /* all kinds that there are */
	EXPORT_BY_NONE,
	EXPORT_BY_KIND /* and each kind of context after it */
};

struct export_request {
	struct select_request select;
	int labels; /* enum export_by */
	bool call_stacks, idle;
};

struct export_samples {
	const struct export_request *req;
	struct selection sel;
	struct events ev;
	struct procedure_evidence *evidence; /* NULL: one kind of samples is time */
	/*
	 * Per event its samples; then what they stand for: where the first measures
	 * time, that time, with that of ticks, and of events whose samples stand for
	 * different amounts, these.
	 */
	struct export_column column[EXPORT_MAX_COLUMNS];
	size_t nr_columns;
	size_t amount[EVENTS_MAX]; /* by event: the column; 0: its samples say it */
	unsigned int kinds;        /* 1 << each kind of context of the labels */
	enum context_kind kind;    /* where there are any: of the first frame */
	/* The source: calls fn for each stack. */
	int (*each)(struct export_samples *w, export_stack_fn fn, void *ctx);
};

/* Opens what req selects. 0, or an error that was said. */
int export_samples_open(const struct export_request *req, struct export_samples *w);
void export_samples_close(struct export_samples *w);

/* How many machines the selection is of. */
size_t export_samples_nr_hosts(const struct export_samples *w);

/*
 * The source of samples without callers. Image by image, ascending offsets, and equal
 * offsets behind each other; so the memory is that of the largest image's counts.
 */
int export_samples_flat(struct export_samples *w, export_stack_fn fn, void *ctx);

/*
 * The source of call stacks, which are samples of their own: the time of the same
 * machine, measured again. Names of frames are in memory.
 */
int export_samples_stacks(struct export_samples *w, export_stack_fn fn, void *ctx);

/* For the sources: calls fn with the epochs of each machine. */
typedef int (*export_samples_host_fn)(void *ctx, const struct query_epochs *epochs);
int export_samples_each_host(struct export_samples *w, export_samples_host_fn fn,
			     void *ctx);

/* The images, looked for as the request says; to be freed also after a failure. */
int export_samples_open_images(struct export_samples *w, struct image_cache **out);

/* The root of stacks whose context is not known, where others have one; else NULL. */
const char *export_samples_missing_context(const struct export_samples *w);

/*
 * Adds samples of an event, each weighing weight, to values per column. random_only:
 * they are of a procedure that ticks tell nothing of (procedure_evidence.h).
 */
void export_samples_add(const struct export_samples *w, size_t event, uint64_t n,
			double weight, bool random_only, double *value);

/* Says how many samples of the idle loop were left out, if any were. */
void export_samples_say_idle(double samples);

#endif
