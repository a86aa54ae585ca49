/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop_runs.h - runs of innermost loops in a window, and how many iterations they had
 *
 * A run begins when control comes to the loop's head from outside of the loop, and ends
 * when it leaves the loop. A pass that leaves from the head of a loop of several blocks
 * is no iteration: it only tests the condition.
 */
#ifndef CPI_ANALYSIS_LOOP_RUNS_H
#define CPI_ANALYSIS_LOOP_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cfg/cfg.h"
#include "analysis/windows/pathwalk.h"
#include "base/arena.h"

/* A run whose begin is in the window. */
struct loop_run {
	int head;            /* block */
	uint64_t iterations; /* of a run that is not complete: at least so many */
	bool complete;       /* the window also has its end */
};

struct loop_runs;

/* image is the number of cfg's image. Lives in the arena. NULL when out of memory. */
struct loop_runs *loop_runs_new(const struct cfg *cfg, uint32_t image,
				struct arena *arena);

/* Whether the block is the head of a loop without loops inside. */
bool loop_runs_has(const struct loop_runs *runs, int block);

/*
 * Calls fn for each run in the window w, which began in image number start. Stops at
 * fn's first non-zero result and returns it; else returns 0.
 */
typedef int (*loop_runs_fn)(void *ctx, const struct loop_run *run);
int loop_runs_window(struct loop_runs *runs, const struct window *w, uint32_t start,
		     loop_runs_fn fn, void *ctx);

#endif
