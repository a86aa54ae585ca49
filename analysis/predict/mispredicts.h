/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mispredicts.h - how often a branch is mispredicted, from its executions in windows
 *
 * Nothing here counts mispredictions. The expected share is what a predictor of the
 * TAGE family (Seznec and Michaud 2006) would make of the branch: for each execution it
 * goes by the longest history that it has seen before. Windows are a small sample: the
 * predictor has seen every execution. So the lower end contains only mispredictions
 * that no history explains, of the lengths that windows have.
 */
#ifndef CPI_ANALYSIS_MISPREDICTS_H
#define CPI_ANALYSIS_MISPREDICTS_H

#include "analysis/predict/branch_history.h"

#define MISPREDICTS_LEAST 10 /* executions; fewer say nothing */

struct mispredicts {
	uint64_t executions; /* in windows; 0: nothing is known */
	uint32_t windows;
	double low, likely, high; /* share of executions, with a 90 % interval */
	double rarer; /* share of executions that do not go the most frequent way */
};

/*
 * Estimates from the executions of one branch (branch_history_find()). The working
 * memory is in the arena. With fewer than MISPREDICTS_LEAST executions, or of less than
 * two windows, out->executions is 0. Returns 0 or -ENOMEM.
 */
int mispredicts_estimate(const struct branch_event *event, size_t nr,
			 struct arena *arena, struct mispredicts *out);

#endif
