/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_repair.h - the consistent flow that agrees best with all evidence
 *
 * CGO'10 section 3.2 turns inconsistent counts into a flow at the least cost. So
 * does this file, with costs that follow from the errors: the logarithm of each
 * frequency has a given standard deviation; each branch probability has the error
 * that a given number of counted outcomes would have.
 */
#ifndef CPI_ANALYSIS_FLOW_REPAIR_H
#define CPI_ANALYSIS_FLOW_REPAIR_H

#include "analysis/freq/flow.h"
#include "base/arena.h"
#include "base/buf.h"

/* Arrays by block or edge of the CFG. */
struct flow_repair_input {
	struct flow *flow;
	const double *probability; /* by edge: above 0; of one block they sum to 1 */
	const double *outcomes; /* by block: how many counted outcomes the probabilities
				   are worth; INFINITY: exact */
	const double *seen;     /* by block: its frequency; 0: not known */
	const double *seen_sd;  /* by block: the deviation of log(seen); above 0 */
	const double
		*mass; /* by block: its weight in the mean of the log deviations. That
			  mean is the procedure's common factor, and is subtracted */
	const double *const
		*error; /* by block: WINDOW_WEIGHTS_DRAWS draws of an error of log(seen)
			   that blocks share, beside seen_sd; or NULL */
	const double *unseen; /* by block that no sample or window saw: how many would
				 be expected at frequency 1; or NULL */
};

/*
 * Deviations are of the logarithm, without the error of the procedure's common factor.
 */
struct flow_repair {
	double *block, *edge; /* frequencies: a flow */
	double *block_sd, *edge_sd;
	double moved; /* Σ |seen - block| / Σ seen, of the blocks with seen > 0 */
	int rounds;
};

/*
 * requires: flow_build(). Everything lives in the arena. Returns 0, -ENOMEM, or -ERANGE
 * if the executions of nested loops overflow a double.
 */
int flow_repair_solve(const struct flow_repair_input *in, struct arena *arena,
		      struct flow_repair *out);

void flow_repair_dump(const struct flow_repair_input *in, const struct flow_repair *r,
		      struct buf *out);

#endif
