/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pathcount.h - how often control takes each path through a procedure, from windows
 *
 * MICRO'97 section 5.3 asks for path profiles. This file counts the paths in weighted
 * windows (window_weights.h). Each path leads from anchor to anchor (pathwalk.h). Some
 * windows end in the middle of a path, and more often in a long path. So a complete
 * path of n instructions is weighted by the inverse of the probability that a window
 * continues for n instructions after the anchor, but by at most PATHCOUNT_MAX_SCALE.
 * The probability is a Kaplan-Meier estimate (1958) of the window's length limit: a
 * window that reached the limit is an event, and a window that ended earlier for
 * another reason is censored. Paths that are longer than all windows, and paths that
 * always end the window, stay unknown.
 */
#ifndef CPI_ANALYSIS_PATHCOUNT_H
#define CPI_ANALYSIS_PATHCOUNT_H

#include "analysis/math/interval.h"
#include "analysis/windows/pathwalk.h"
#include "analysis/windows/window_weights.h"

#define PATHCOUNT_MAX_SCALE 20 /* the largest weight of one complete path */

/* The unit of passes is one pass of a window of weight 1. */
struct pathcount_path {
	const int *block; /* as in struct pathwalk_path */
	int nr_blocks;
	int end; /* an anchor or cfg->exit */
	struct pathwalk_caller caller;
	uint64_t seen, windows; /* complete paths, and the windows that have one */
	double passes;          /* estimated */
	struct interval share; /* of its anchor's passes; the shares of an anchor add up
				  to at most 1 */
};

struct pathcount_anchor {
	int block;
	uint64_t seen, windows; /* arrivals of control, and the windows that have one */
	double passes;
	double known; /* the share of passes whose path is known, 0 to 1 */
};

struct pathcount {
	struct pathcount_path *path; /* the most frequent first */
	size_t nr_paths;
	struct pathcount_anchor *anchor; /* by block */
	size_t nr_anchors;
	uint64_t windows; /* windows that reached an anchor */
};

/*
 * requires: window_weights_solve(). image is the number that f uses for the image of
 * cfg. The result lives in the arena. Returns 0 or -ENOMEM.
 */
int pathcount_find(const struct cfg *cfg, const struct window_weights *f,
		   uint32_t image, struct arena *arena, struct pathcount *out);

#endif
