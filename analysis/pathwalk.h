/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pathwalk.h - the paths through a procedure that a window shows
 *
 * A path is the row of blocks from one anchor to the next. Anchors are the procedure's
 * entry and the heads of its loops: blocks that an edge leads back to, depth first. Its
 * exit ends a path, too. What is called on the way is not part of it; where that is the
 * procedure itself, the inner execution has paths of its own.
 */
#ifndef CPI_ANALYSIS_PATHWALK_H
#define CPI_ANALYSIS_PATHWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cfg.h"
#include "base/arena.h"
#include "db/windows.h"

/* Where the entry was come to from, by a call or a jump from elsewhere. */
struct pathwalk_caller {
	bool known;
	uint32_t image; /* its number, as in the window's jumps */
	uint64_t offset;
};

/* Control came to an anchor. */
struct pathwalk_path {
	const int *block; /* the first one is the anchor; the end is not there */
	int nr_blocks;
	int end; /* the next anchor or cfg->exit; -1: the window does not say */
	struct pathwalk_caller caller; /* of a path from the entry */
	uint64_t nr_insns; /* about: executed until its end, calls included */
	uint64_t left;     /* and until the window's end; not less */
};

struct pathwalk;

/* cfg is of an image that has a number. All is the arena's. NULL: out of memory. */
struct pathwalk *pathwalk_new(const struct cfg *cfg, uint32_t image,
			      struct arena *arena);

/*
 * Calls fn once for each time that control came to an anchor, in the order of the
 * paths' ends; w began in the image of number start. Its first instruction was chosen
 * and not come to. fn's non-zero return ends it and is returned; else 0.
 */
typedef int (*pathwalk_fn)(void *ctx, const struct pathwalk_path *p);
int pathwalk_window(struct pathwalk *walk, const struct window *w, uint32_t start,
		    pathwalk_fn fn, void *ctx);

#endif
