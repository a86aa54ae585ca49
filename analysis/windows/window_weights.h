/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_weights.h - how much each window of a selection counts
 *
 * Windows (db/profile/windows.h) begin where time is spent, not where instructions are
 * executed. If each window counted the same, slow code and the code that runs after it
 * would count too much. Weights correct this: a window has a larger weight if the code
 * where it began is executed more often than its time suggests. The starts of windows
 * are a sample of time; the code in the weighted windows is a sample of executions.
 *
 * Code is divided into pieces at the jumps and targets in the windows. This needs
 * neither the bytes of the code nor its procedures.
 */
#ifndef CPI_ANALYSIS_WINDOW_WEIGHTS_H
#define CPI_ANALYSIS_WINDOW_WEIGHTS_H

#include <stdint.h>

#include "db/profile/edges.h"
#include "db/profile/windows.h"

/* An edge's count for one pass of a window of weight 1. */
#define WINDOW_WEIGHTS_UNIT 1024

#define WINDOW_WEIGHTS_DRAWS 16 /* random draws of the errors of all pieces */
#define WINDOW_WEIGHTS_LEAST 50 /* windows; with fewer, samples are more exact */

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

/*
 * Computes the weights after all windows and samples are added. Returns 0 or -ENOMEM.
 */
int window_weights_solve(struct window_weights *ww);

/* The number of windows that have a weight. */
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
 * Returns the straight runs and the taken jumps inside an image in the form of branch
 * stacks (db/profile/edges.h); counts are multiplied by WINDOW_WEIGHTS_UNIT. The caller
 * frees both. Returns 0 or -ENOMEM.
 */
int window_weights_edges(const struct window_weights *ww, uint32_t image,
			 struct edges **runs, struct edges **branches);

/*
 * Returns the number of independent windows that would determine the executions of the
 * code at offset equally well; 0 if it is in no window.
 */
double window_weights_worth(const struct window_weights *ww, uint32_t image,
			    uint64_t offset);

/*
 * Returns WINDOW_WEIGHTS_DRAWS random draws of the error of log(executions) at offset;
 * NULL if the offset is in no window. Draw i of one offset and draw i of another are
 * one joint draw. So offsets that windows connect have nearly the same error.
 */
const double *window_weights_errors(const struct window_weights *ww, uint32_t image,
				    uint64_t offset);

/*
 * Calls fn with bytes that differ if a function below would return something else for
 * an offset of the image, or window_weights_nr() would.
 */
void window_weights_bytes(const struct window_weights *ww, uint32_t image,
			  void (*fn)(void *ctx, const void *data, size_t size),
			  void *ctx);

/* Returns Σ time / Σ executed instructions, over the code in the windows. */
double window_weights_time_per_insn(const struct window_weights *ww);

/*
 * Returns how fast the fastest paths are: their time per instruction, divided by that
 * of all code in the windows. A path is what one window passed. One in ten instructions
 * is on a path that is faster than this. 1 if it is not known, because these paths have
 * no samples.
 */
double window_weights_fast(const struct window_weights *ww);

#endif
