/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain.h - how often does a random walk visit each state?
 *
 * A Markov chain whose walks start at sources and end by leaving. For control flow the
 * states are blocks. The flow into a state equals the flow out of it, whatever the
 * probabilities are, and no flow is negative.
 */
#ifndef CPI_ANALYSIS_CHAIN_H
#define CPI_ANALYSIS_CHAIN_H

#include "base/arena.h"

struct chain;

struct chain_step {
	int from, to; /* states */
};

/*
 * Chooses the order of elimination for these steps. They must ascend by from; several
 * may connect the same two states. Everything lives in the arena. Returns 0,
 * -CPI_ELIMIT when the graph is too tangled to be solved in bounded time, or -ENOMEM.
 */
int chain_build(int nr_states, const struct chain_step *step, int nr_steps,
		struct arena *arena, struct chain **out);

/*
 * Sets the probability of each step, and that of leaving from each state. Every state
 * needs a path of steps above zero that leaves.
 */
void chain_factor(struct chain *c, const double *step, const double *leave);

/*
 * v = source + Pᵀ v: visits to each state if source[s] walks start at state s. v may be
 * source.
 */
void chain_visits(const struct chain *c, const double *source, double *v);

/* v = reward + P v: the total reward of a walk from each state. v may be reward. */
void chain_values(const struct chain *c, const double *reward, double *v);

#endif
