/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * followed.h - all windows of a selection, and how much each of them counts
 *
 * Windows (db/windows.h) begin where time is spent, not where instructions are
 * executed. Counted alike, they show too much of what is slow and of what follows on
 * it. Their starts are a sample of time; what they pass is a sample of executions. So a
 * window that began where more is executed than time would have it weighs more, and the
 * other way round; then all that was passed is added up, by weight.
 *
 * What is passed is looked at in pieces of code between jumps and their targets, as
 * windows saw them: that needs neither code nor procedures.
 */
#ifndef CPI_ANALYSIS_FOLLOWED_H
#define CPI_ANALYSIS_FOLLOWED_H

#include <stdint.h>

#include "db/edges.h"
#include "db/windows.h"

/* Edges count in these: an execution on the way of a window of weight 1. */
#define FOLLOWED_UNIT 1024

#define FOLLOWED_DRAWS 16  /* of what may be off, all together */
#define FOLLOWED_LEAST 100 /* windows; fewer say less than samples do */

struct followed;

struct followed *followed_new(void);    /* NULL when out of memory */
void followed_free(struct followed *f); /* accepts NULL */

/*
 * Adds the windows that began in an image, which has a number of the caller's as those
 * in their jumps have, by map. 0, -CPI_ELIMIT for a number above 65535, or as
 * windows_merge(); then f is only to be freed.
 */
int followed_add(struct followed *f, uint32_t image, struct windows *set,
		 const uint32_t *map, uint32_t nr_map);

/*
 * Adds samples of time, in one unit for all images. 0, -CPI_ELIMIT for an offset of
 * 2^63 or more, or -ENOMEM.
 */
int followed_sample(struct followed *f, uint32_t image, uint64_t offset, double time);

/* Gives each window its weight, when all are there. 0 or -ENOMEM. */
int followed_weigh(struct followed *f);

uint64_t followed_nr(const struct followed *f); /* windows that count */

/*
 * Calls fn for each different window that counts: the number of the image that it began
 * in, and the weight of all n that are like it, with those that they stand for. fn's
 * non-zero return ends it and is returned; else 0.
 */
typedef int (*followed_fn)(void *ctx, const struct window *w, uint32_t image,
			   double weight);
int followed_each(const struct followed *f, followed_fn fn, void *ctx);

/*
 * What was passed in an image: straight runs, and taken jumps inside it, as branch
 * stacks say it (db/edges.h), in FOLLOWED_UNIT. Both are the caller's to free. 0 or
 * -ENOMEM.
 */
int followed_edges(const struct followed *f, uint32_t image, struct edges **runs,
		   struct edges **branches);

/*
 * How many windows that chose their way independently would say as much of how often
 * the code at offset is executed; 0 where none came.
 */
double followed_worth(const struct followed *f, uint32_t image, uint64_t offset);

/*
 * Draws of what the logarithm of that may be off by, FOLLOWED_DRAWS of them: draw i of
 * one place belongs to draw i of another one, and what windows do not connect is off
 * together. NULL where none came.
 */
const double *followed_errors(const struct followed *f, uint32_t image,
			      uint64_t offset);

/* How often windows passed it, by weight; 0 as above. */
double followed_passed(const struct followed *f, uint32_t image, uint64_t offset);

/* Σ time over Σ instructions executed, of what both samples and windows have seen. */
double followed_time_per_insn(const struct followed *f);

#endif
