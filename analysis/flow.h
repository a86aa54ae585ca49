/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.h - control flow as a Markov chain
 *
 * The states are the blocks but the exit; an edge to the exit leaves. Flow enters
 * by doors: the entry, landing pads, blocks without edges in, and where nothing
 * else would enter a part of the procedure, its first block. So that every walk
 * ends, an infinite loop is cut: one edge of it leaves, and where that edge leads
 * there is a door. (In the long run as much comes in there as left.)
 */
#ifndef CPI_ANALYSIS_FLOW_H
#define CPI_ANALYSIS_FLOW_H

#include <stdbool.h>

#include "analysis/cfg.h"
#include "analysis/chain.h"
#include "base/arena.h"

struct flow {
	const struct cfg *cfg;
	bool *door; /* by block */
	bool *cut;  /* by edge */
	struct chain *chain;
	double *leave; /* by block: scratch of flow_factor() */
	double *step;  /* by edge, the same */
};

/* requires: cfg. All in the arena. 0, -ENOMEM, or -CPI_ELIMIT (see chain_build()). */
int flow_build(const struct cfg *cfg, struct arena *arena, struct flow *out);

/*
 * Sets the probabilities of all edges, above 0; those from one block sum to 1.
 * A block without edges out leaves.
 */
void flow_factor(struct flow *f, const double *probability);

/*
 * The executions of all blocks, the exit's too, and edges, when source[b] times
 * the procedure is entered at each door b (source is 0 elsewhere).
 */
void flow_spread(const struct flow *f, const double *probability, const double *source,
		 double *block, double *edge);

#endif
