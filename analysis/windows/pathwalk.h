/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pathwalk.h - the paths through a procedure that a window recorded
 *
 * A path is the sequence of blocks from one anchor to the next. Anchors are the
 * procedure's entry and the heads of its loops: the targets of back edges of a
 * depth-first search. The procedure's exit also ends a path. Called procedures are not
 * part of the path; a recursive call has paths of its own.
 */
#ifndef CPI_ANALYSIS_PATHWALK_H
#define CPI_ANALYSIS_PATHWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cfg/cfg.h"
#include "base/arena.h"
#include "db/profile/windows.h"

/* The call, or the jump from another procedure, that led to the entry. */
struct pathwalk_caller {
	bool known;
	uint32_t image; /* its number, as in the window's jumps */
	uint64_t offset;
};

/* A path that begins where control reached an anchor. */
struct pathwalk_path {
	const int *block; /* begins with the anchor; does not include end */
	int nr_blocks;
	int end; /* the next anchor or cfg->exit; -1: the window ended before */
	/*
	 * The block from which control came to the anchor; cfg->exit if the procedure
	 * was entered; -1: unknown.
	 */
	int from;
	/*
	 * The number of the procedure's execution, less than PATHWALK_MAX_EXECUTIONS.
	 * Paths with the same number follow each other.
	 */
	uint32_t execution;
	struct pathwalk_caller caller; /* of a path from the entry */
	uint64_t nr_insns; /* estimate: executed until the path's end, calls included */
	uint64_t left;     /* the same until the window's end; at least nr_insns */
};

#define PATHWALK_MAX_EXECUTIONS (WINDOW_MAX_INSNS + 2) /* of a window */

struct pathwalk;

/* image is the number of cfg's image. Lives in the arena. NULL when out of memory. */
struct pathwalk *pathwalk_new(const struct cfg *cfg, uint32_t image,
			      struct arena *arena);

/*
 * Calls fn for each arrival of control at an anchor, in the order in which the paths
 * end. The window w began in image number start. The start of a window does not count
 * as an arrival, because the sampler chose it. Stops at fn's first non-zero result and
 * returns it; else returns 0.
 */
typedef int (*pathwalk_fn)(void *ctx, const struct pathwalk_path *p);
int pathwalk_window(struct pathwalk *walk, const struct window *w, uint32_t start,
		    pathwalk_fn fn, void *ctx);

#endif
