/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.h - control flow as a Markov chain
 *
 * The states are all blocks except the exit; control flow leaves the chain at an
 * edge to the exit. Flow enters by doors: the entry, landing pads, blocks without
 * edges in, and the first block of a part of the procedure that nothing else enters.
 * Every walk must end, so each infinite loop is cut: one of its edges leaves, and
 * that edge's target becomes a door. (In the long run as much flow enters there as
 * leaves.)
 */
#ifndef CPI_ANALYSIS_FLOW_H
#define CPI_ANALYSIS_FLOW_H

#include <stdbool.h>

#include "analysis/cfg/cfg.h"
#include "analysis/math/chain.h"
#include "base/arena.h"

struct flow {
	const struct cfg *cfg;
	bool *door; /* by block */
	bool *cut;  /* by edge */
	struct chain *chain;
	double *leave; /* by block: scratch of flow_factor() */
	double *step;  /* by edge, the same */
};

/*
 * requires: cfg_build(). Everything lives in the arena. Returns 0, -ENOMEM, or
 * -CPI_ELIMIT (see chain_build()).
 */
int flow_build(const struct cfg *cfg, struct arena *arena, struct flow *out);

/*
 * Sets the probabilities of all edges, above 0; those from one block sum to 1.
 * Control flow leaves the chain at a block without outgoing edges.
 */
void flow_factor(struct flow *f, const double *probability);

/*
 * Computes the executions of all blocks, with the exit, and of all edges, if the
 * procedure is entered source[b] times at each door b. source is 0 at other blocks.
 */
void flow_spread(const struct flow *f, const double *probability, const double *source,
		 double *block, double *edge);

#endif
