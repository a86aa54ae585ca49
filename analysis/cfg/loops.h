/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loops.h - the loop of each block
 *
 * A loop is identified by its head: the first of its blocks that a depth-first walk
 * from the entry reaches. Wei, Mao, Zou, Chen: "A New Algorithm for Identifying Loops
 * in Decompilation", SAS 2007: a single walk, also for loops with several entries.
 */
#ifndef CPI_ANALYSIS_LOOPS_H
#define CPI_ANALYSIS_LOOPS_H

#include "analysis/cfg/cfg.h"
#include "base/arena.h"

#define LOOPS_NONE (-1)

/*
 * Returns by block the head of its innermost loop (of a head, itself), or LOOPS_NONE.
 * Lives in the arena, like some 20 bytes per block of working memory. NULL: out of
 * memory.
 */
const int *loops_find(const struct cfg *cfg, struct arena *arena);

/* How loops are nested. Both arrays are by block: heads of loops, or LOOPS_NONE. */
struct loop_nest {
	const int *inner;  /* the innermost loop, as above */
	const int *around; /* the innermost loop that the block is in without being its
			      head: of a head, the loop around its own */
};

/* Finds the nesting, in the arena. Returns 0 or -ENOMEM. */
int loops_nest(const struct cfg *cfg, struct arena *arena, struct loop_nest *out);

#endif
