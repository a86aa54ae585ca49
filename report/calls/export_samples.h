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

/* For each event a column of samples, and one of time or amounts. */
#define EXPORT_MAX_COLUMNS (2 * EVENTS_MAX)

/* The kinds of context in the labels of stacks. */
enum export_by {
	EXPORT_BY_ANY, /* all kinds that the selection has */
	EXPORT_BY_NONE,
	EXPORT_BY_KIND /* EXPORT_BY_KIND + kind: one kind of context */
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
	struct procedure_evidence *evidence; /* NULL: do not combine two events */
	/*
	 * First a column of samples for each event. Then, if the first event measures
	 * time, a column of the combined time; and a column of amounts for each other
	 * event whose streams have different weights.
	 */
	struct export_column column[EXPORT_MAX_COLUMNS];
	size_t nr_columns;
	size_t amount[EVENTS_MAX]; /* by event: its column of time or amounts; 0: none
				    */
	unsigned int kinds;        /* 1 << each kind of context of the labels */
	enum context_kind kind;    /* of the outermost frame, if kinds is not 0 */
	/* The source of stacks: calls fn for each one. */
	int (*each)(struct export_samples *w, export_stack_fn fn, void *ctx);
};

/* Opens the selection of req. Returns 0, or an error, which is logged. */
int export_samples_open(const struct export_request *req, struct export_samples *w);
void export_samples_close(struct export_samples *w);

/* Returns the number of machines in the selection. */
size_t export_samples_nr_hosts(const struct export_samples *w);

/*
 * The source of samples without callers. Its stacks are grouped by image and ordered by
 * offset, so memory is limited to the counts of one image.
 */
int export_samples_flat(struct export_samples *w, export_stack_fn fn, void *ctx);

/*
 * The source of call stacks. These have their own streams, which measure the same time
 * as the samples without callers: do not add the two. The names of all frames are in
 * memory.
 */
int export_samples_stacks(struct export_samples *w, export_stack_fn fn, void *ctx);

/* For the sources: calls fn for each machine, with its epochs. */
typedef int (*export_samples_host_fn)(void *ctx, const struct query_epochs *epochs);
int export_samples_each_host(struct export_samples *w, export_samples_host_fn fn,
			     void *ctx);

/* Makes the cache of images by the request's options. Free it also after an error. */
int export_samples_open_images(struct export_samples *w, struct image_cache **out);

/* Returns the outermost frame of stacks without context; NULL: no stack has one. */
const char *export_samples_missing_context(const struct export_samples *w);

/*
 * Adds n samples of an event to value[], by column; weight is the weight of one sample.
 * use: how samples in their procedure count (procedure_evidence.h).
 */
void export_samples_add(const struct export_samples *w, size_t event, uint64_t n,
			double weight, struct evidence_use use, double *value);

/* Logs how many samples of the idle loop were left out, if any were. */
void export_samples_say_idle(double samples);

#endif
