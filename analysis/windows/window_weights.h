/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_weights.h - how much each window of a selection counts
 *
 * Windows (db/profile/windows.h) begin where time is spent, not where instructions are
 * executed. Counted alike, they show too much slow code, and too much of the code that
 * runs after it. Weights correct that: a window weighs more if it began where more is
 * executed than the time there suggests. The starts of windows are a sample of time;
 * weighted, the code that they pass is a sample of executions.
 *
 * Code is divided into pieces, at the jumps and targets that windows saw. That needs
 * neither the code's bytes nor its procedures.
 */
#ifndef CPI_ANALYSIS_WINDOW_WEIGHTS_H
#define CPI_ANALYSIS_WINDOW_WEIGHTS_H

#include <stdint.h>

#include "db/profile/edges.h"
#include "db/profile/windows.h"

/* An edge's count for one pass of a window of weight 1. */
#define WINDOW_WEIGHTS_UNIT 1024

#define WINDOW_WEIGHTS_DRAWS 16 /* of the errors of all pieces together */
#define WINDOW_WEIGHTS_LEAST 50 /* windows; from fewer, samples are better */

struct window_weights;

struct window_weights *window_weights_new(void);     /* NULL when out of memory */
void window_weights_free(struct window_weights *ww); /* accepts NULL */

/*
 * Adds the windows that began in an image. The caller numbers images; map turns the
 * numbers in the windows' jumps into the caller's. Returns 0, -CPI_ELIMIT for a number
 * above 65535, or an error of windows_merge(). After an error only free ww.
 */
int window_weights_add(struct window_weights *ww, uint32_t image, struct windows *set,
		       const uint32_t *map, uint32_t nr_map);

/*
 * Adds samples of time, in one unit for all images. Returns 0, -CPI_ELIMIT for an
 * offset of 2^63 or more, or -ENOMEM.
 */
int window_weights_sample(struct window_weights *ww, uint32_t image, uint64_t offset,
			  double time);

/* Gives each window its weight, once all are added. Returns 0 or -ENOMEM. */
int window_weights_solve(struct window_weights *ww);

/* Windows that have a weight. */
uint64_t window_weights_nr(const struct window_weights *ww);

/*
 * Calls fn for each different window, with the number of the image that it began in and
 * the weight of all windows that it stands for. Stops at fn's first non-zero result and
 * returns it; else returns 0.
 */
typedef int (*window_weights_fn)(void *ctx, const struct window *w, uint32_t image,
				 double weight);
int window_weights_each(const struct window_weights *ww, window_weights_fn fn,
			void *ctx);

/*
 * The straight runs and the taken jumps inside an image, as a branch stack would give
 * them (db/profile/edges.h), in WINDOW_WEIGHTS_UNIT. The caller frees both. Returns 0
 * or -ENOMEM.
 */
int window_weights_edges(const struct window_weights *ww, uint32_t image,
			 struct edges **runs, struct edges **branches);

/*
 * How many independent windows would determine the executions of the code at offset
 * equally well; 0 if no window passed it.
 */
double window_weights_worth(const struct window_weights *ww, uint32_t image,
			    uint64_t offset);

/*
 * WINDOW_WEIGHTS_DRAWS draws of the error of the logarithm of the executions at offset;
 * NULL if no window passed it. Draw i of one place belongs with draw i of another.
 * Places that windows do not connect share an error.
 */
const double *window_weights_errors(const struct window_weights *ww, uint32_t image,
				    uint64_t offset);

/* Σ time / Σ executed instructions, over the code that windows passed. */
double window_weights_time_per_insn(const struct window_weights *ww);

#endif
