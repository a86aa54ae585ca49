/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain.h - how often does a random walk visit each state?
 *
 * A Markov chain whose walks start at sources and end by leaving: control flow
 * with the states as blocks. What flows into a state flows out of it, whatever
 * the probabilities are, and no flow is negative.
 */
#ifndef CPI_ANALYSIS_CHAIN_H
#define CPI_ANALYSIS_CHAIN_H

#include "base/arena.h"

struct chain;

struct chain_step {
	int from, to; /* states */
};

/*
 * Orders the elimination for these steps, which ascend by from; several may join
 * the same two states.
 * Everything lives in the arena. Returns 0, -CPI_ELIMIT when the graph is too
 * tangled to be solved in bounded time, or -ENOMEM.
 */
int chain_build(int nr_states, const struct chain_step *step, int nr_steps,
		struct arena *arena, struct chain **out);

/*
 * Takes the probabilities: of each step, and of leaving from each state. From each
 * state there must be a way to leave that has no zeros.
 */
void chain_factor(struct chain *c, const double *step, const double *leave);

/* v = source + Pᵀ v: visits to each state for that many starts. v may be source. */
void chain_visits(const struct chain *c, const double *source, double *v);

/* v = reward + P v: what a walk from each state will gather. v may be reward. */
void chain_values(const struct chain *c, const double *reward, double *v);

#endif
