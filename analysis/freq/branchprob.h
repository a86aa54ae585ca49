/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branchprob.h - the probability of each direction of a branch
 *
 * The outcomes of sampled conditional jumps decide (SOSP'97 section 7: "edge samples").
 * If there are few, the estimated frequencies of the blocks behind the branch do.
 */
#ifndef CPI_ANALYSIS_BRANCHPROB_H
#define CPI_ANALYSIS_BRANCHPROB_H

#include "analysis/cfg/equiv.h"
#include "analysis/freq/freq.h"
#include "analysis/freq/propagate.h"
#include "base/arena.h"
#include "base/buf.h"

struct branchprob {
	double *probability; /* by edge: above 0; those of all edges out of a block sum
				to 1 */
	double *outcomes;    /* by block: effective sample size of its probabilities, in
				outcomes */
	double *sd;          /* by edge: the probability's standard error */
};

/* requires: propagate(). Everything lives in the arena. Returns 0 or -ENOMEM. */
int branchprob_build(const struct freq_input *in, const struct equiv *eq,
		     const struct guess *guess, struct arena *arena,
		     struct branchprob *out);

void branchprob_dump(const struct cfg *cfg, const struct branchprob *bp,
		     struct buf *out);

#endif
