/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighing.h - a selection as weighted stacks
 */
#ifndef CPI_TOOLS_WEIGHING_H
#define CPI_TOOLS_WEIGHING_H

#include "tools/events.h"
#include "tools/imagecache.h"
#include "tools/select.h"
#include "tools/weighed.h"

/* Of each event its samples, and what they stand for. */
#define WEIGHING_MAX_COLUMNS (2 * EVENTS_MAX)

struct weighing {
	const struct cmd_context *ctx;
	struct selection sel;
	struct events ev;
	/*
	 * Per event its samples; then what they stand for: where the first measures
	 * time, that time, and of events whose samples stand for different amounts,
	 * these.
	 */
	struct weighed_column column[WEIGHING_MAX_COLUMNS];
	size_t nr_columns;
	size_t amount[EVENTS_MAX]; /* by event: the column; 0: its samples say it */
	bool has_contexts;
	enum context_kind kind; /* where has_contexts: of the labels */
	/* The source: calls fn for each stack. */
	int (*each)(struct weighing *w, weighed_fn fn, void *ctx);
};

/* The words of --by: the first is for any kind that there is. */
#define WEIGHING_BY "auto|none|comm|cgroup|label|process"

/* Whether what is selected can be labelled by --by: 0, or EXIT_USAGE after saying why
 * not. */
int weighing_check_by(const struct cmd_context *ctx);

/* Opens the selection of ctx's options. 0, or an error that was said. */
int weighing_open(const struct cmd_context *ctx, struct weighing *w);
void weighing_close(struct weighing *w);

/* How many machines the selection is of. */
size_t weighing_nr_hosts(const struct weighing *w);

/*
 * The source of samples without callers. Image by image, ascending offsets, and equal
 * offsets behind each other; so the memory is that of the largest image's counts.
 */
int weighing_flat(struct weighing *w, weighed_fn fn, void *ctx);

/*
 * The source of call stacks, which are samples of their own: the time of the same
 * machine, measured again. Names of frames are in memory.
 */
int weighing_stacks(struct weighing *w, weighed_fn fn, void *ctx);

/* For the sources: calls fn with the epochs of each machine. */
typedef int (*weighing_host_fn)(void *ctx, const struct query_epochs *epochs);
int weighing_each_host(struct weighing *w, weighing_host_fn fn, void *ctx);

/* The images, looked for as the options say; to be freed also after a failure. */
int weighing_open_images(struct weighing *w, struct image_cache **out);

/* The root of stacks whose context is not known, where others have one; else NULL. */
const char *weighing_missing_whom(const struct weighing *w);

/* Adds samples of an event, each weighing weight, to values per column. */
void weighing_add(const struct weighing *w, size_t event, uint64_t n, double weight,
		  double *value);

/* Says how many samples of the idle loop were left out, if any were. */
void weighing_say_idle(double samples);

#endif
