/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance.h - weights of windows with which control leaves each place as often as it
 *             comes there
 *
 * Windows begin where time is spent. In each place so many should begin as it has
 * executions; but how much time an execution takes there is not known. A window is one
 * step of a chain, though, from where it begins to where it ends, and executions are
 * what such a step leaves as it is: weighed rightly, as many windows end in a place as
 * begin there.
 */
#ifndef CPI_ANALYSIS_BALANCE_H
#define CPI_ANALYSIS_BALANCE_H

#include <stdint.h>

#include "base/arena.h"

/* Windows alike, of which none ended early. */
struct balance_step {
	uint32_t from, to; /* places */
	double n;          /* how many were seen */
	double weight;     /* of all of them, if time told of executions */
};

/*
 * Finds the logarithm of a factor for the weights of each place, in the arena: where
 * windows do not tell, it is as guessed (by place; NULL: 0). Returns 0, -EINVAL for a
 * place that there is not or a number that is negative or not finite, -CPI_ELIMIT for
 * too many places, or -ENOMEM.
 */
int balance_find(const struct balance_step *step, size_t nr, uint32_t nr_places,
		 const double *guess, struct arena *arena, double **log_factor);

#endif
