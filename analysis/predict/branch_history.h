/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch_history.h - executions of a branch in windows, each with the jumps before it
 *
 * A window (db/profile/windows.h) has every taken jump on its path, in order. So it has
 * the outcome of each branch on the path, and what a branch predictor saw before: the
 * last taken jumps, with their targets, determine the outcomes of all branches between
 * them. This needs no code but the place of the branch.
 */
#ifndef CPI_ANALYSIS_BRANCH_HISTORY_H
#define CPI_ANALYSIS_BRANCH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/windows/window_weights.h"
#include "base/arena.h"

/*
 * The memory of an index: BRANCH_HISTORY_RUNS straight lines of 24 bytes, and 24 bytes
 * for each window. If the windows have more straight lines, only every k-th window is
 * used.
 */
#define BRANCH_HISTORY_RUNS (1u << 20)
/*
 * Executions of a branch. If there are more, only every k-th window is used, and at
 * most twice as many executions.
 */
#define BRANCH_HISTORY_EVENTS 4096

/* Taken jumps before the branch; then the iterations of its loop. */
#define BRANCH_HISTORY_LENGTHS                      \
	{                                           \
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 \
	}
enum {
	BRANCH_HISTORY_NR_LENGTHS = 11,
	BRANCH_HISTORY_NR = 12,
	BRANCH_HISTORY_LOOP = 11
};

/* One execution of a branch. */
struct branch_event {
	uint32_t window;  /* number; executions of one window depend on each other */
	uint32_t copies;  /* equal windows */
	uint64_t outcome; /* 0 or 1: taken; of an indirect jump: its target */
	double weight;    /* of all copies together */
	/*
	 * What came before: equal numbers for equal histories, and 0 if the window has
	 * no history of this length. Context BRANCH_HISTORY_LOOP is the number of
	 * executions since the outcome was a different one.
	 */
	uint32_t context[BRANCH_HISTORY_NR];
};

struct branch_place {
	uint32_t image; /* number, as in ww */
	uint64_t offset;
	bool indirect; /* a jump or call through a register or memory */
};

struct branch_history;

/* ww must outlive *out. Returns 0 or -ENOMEM. */
int branch_history_new(const struct window_weights *ww, struct branch_history **out);
void branch_history_free(struct branch_history *h); /* accepts NULL */

/*
 * Finds the executions of a branch, sorted by window, then in order of execution. They
 * live in the arena. Returns 0 or -ENOMEM.
 */
int branch_history_find(const struct branch_history *h, const struct branch_place *at,
			struct arena *arena, struct branch_event **out, size_t *nr);

#endif
