/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_balance.h - weights of windows, so that as many end in each place as begin
 * there
 *
 * Windows begin where time is spent, but should begin in proportion to executions. The
 * time that one execution takes in a place is not known. However, a window is one step
 * of a Markov chain, from the place where it begins to the place where it ends, and the
 * frequencies of executions are the chain's stationary distribution. So with the right
 * weights, as many windows end in each place as begin there.
 */
#ifndef CPI_ANALYSIS_WINDOW_BALANCE_H
#define CPI_ANALYSIS_WINDOW_BALANCE_H

#include <stdint.h>

#include "base/arena.h"

/* Equal windows; none of them ended early. */
struct window_step {
	uint32_t from, to; /* places */
	double n;          /* how many were seen */
	double weight;     /* of all of them, if executions were proportional to time */
};

/*
 * Finds the logarithm of a factor for the weights of each place, in the arena. A place
 * that windows do not connect keeps its guess (by place; NULL: 0). Returns 0, -EINVAL
 * for a place beyond nr_places or a number that is negative or not finite, -CPI_ELIMIT
 * for too many places, or -ENOMEM.
 */
int window_balance_solve(const struct window_step *step, size_t nr, uint32_t nr_places,
			 const double *guess, struct arena *arena, double **log_factor);

#endif
