/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pathcount.h - how often control takes each path through a procedure, by windows
 *
 * MICRO'97 section 5.3 asks for path profiles; here windows have them (followed.h),
 * each from anchor to anchor (pathwalk.h). Of the times that control came to an anchor,
 * some are cut by the window's end, those on long paths more often. So a path that was
 * seen whole counts for those of its length that were cut: the inverse of the chance
 * that a window reaches so far behind this anchor (Kaplan and Meier 1958; windows that
 * end for another reason than their length say nothing of that chance from there on).
 * What no path can be said of stays unknown: what is longer than windows are, or always
 * ends them.
 */
#ifndef CPI_ANALYSIS_PATHCOUNT_H
#define CPI_ANALYSIS_PATHCOUNT_H

#include "analysis/followed.h"
#include "analysis/interval.h"
#include "analysis/pathwalk.h"

#define PATHCOUNT_MAX_SCALE 20 /* that a path seen whole counts for at most */

/* Passes are in executions on the way of a window of weight 1. */
struct pathcount_path {
	const int *block; /* as in struct pathwalk_path */
	int nr_blocks;
	int end; /* an anchor or cfg->exit */
	struct pathwalk_caller caller;
	uint64_t seen, windows; /* how often whole, and in how many windows */
	double passes;          /* estimated */
	struct interval share;  /* of the passes of its anchor, at most 1 together */
};

struct pathcount_anchor {
	int block;
	uint64_t seen, windows; /* how often control came to it, in how many windows */
	double passes;
	double known; /* share of these whose path is known, 0 to 1 */
};

struct pathcount {
	struct pathcount_path *path; /* the most frequent first */
	size_t nr_paths;
	struct pathcount_anchor *anchor; /* by block */
	size_t nr_anchors;
	uint64_t windows; /* that came to any anchor */
};

/*
 * requires: followed_weigh(). image is that of cfg, by its number in f. What is found
 * lives in the arena. 0 or -ENOMEM.
 */
int pathcount_find(const struct cfg *cfg, const struct followed *f, uint32_t image,
		   struct arena *arena, struct pathcount *out);

#endif
