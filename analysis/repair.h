/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair.h - the consistent flow that agrees best with all that was seen
 *
 * CGO'10 section 3.2 makes inconsistent counts a flow at the least cost. So does
 * this, with the costs that their errors give them: frequencies are known up to
 * a factor, of that log deviation, and branch probabilities as if so many outcomes
 * had been counted.
 */
#ifndef CPI_ANALYSIS_REPAIR_H
#define CPI_ANALYSIS_REPAIR_H

#include "analysis/flow.h"
#include "base/arena.h"
#include "base/buf.h"

/* Arrays by block or edge of the CFG. */
struct repair_input {
	struct flow *flow;
	const double *probability; /* by edge: above 0; of one block they sum to 1 */
	const double *outcomes; /* by block: their worth in outcomes; INFINITY: exact */
	const double *seen;     /* by block: its frequency; 0: not known */
	const double *seen_sd;  /* by block: the deviation of log(seen); above 0 */
	const double *mass;     /* by block: its share in the procedure's scale */
	const double *const
		*error;       /* by block: FOLLOWED_DRAWS draws of an error of log(seen)
				 that blocks share, beside seen_sd; or NULL */
	const double *unseen; /* by block: sightings that a frequency of 1 would have
				 brought, of which none came; or NULL */
	/* By block: factors of seen_sd where the flow is above, or below; NULL: 1. */
	const double *above, *below;
};

/* Deviations are of the logarithm, after the procedure's common factor. */
struct repair {
	double *block, *edge; /* frequencies: a flow */
	double *block_sd, *edge_sd;
	double moved; /* the part of seen's sum that had to be added or removed */
	int rounds;
};

/*
 * requires: flow_build(). Everything lives in the arena. Returns 0, -ENOMEM, or -ERANGE
 * when loops in loops run more often than a number can be.
 */
int repair_flow(const struct repair_input *in, struct arena *arena, struct repair *out);

void repair_dump(const struct repair_input *in, const struct repair *r,
		 struct buf *out);

#endif
