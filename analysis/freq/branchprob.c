/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An outcome is recorded at the jump, or at a compare before it that is fused with the
 * jump, because such pairs are sampled at the compare's address. All outcomes in the
 * jump's block count for the jump.
 *
 * A branch that was sampled n times gets the mean of a Dirichlet distribution
 * over the counted outcomes plus PRIOR pseudo-outcomes, which are split in
 * proportion to the frequencies of the targets. An edge of a class with samples
 * has that class's frequency; any other has its target's, which other edges may
 * share. If a block's samples are biased (a mispredicted jump is seen for longer
 * than others), more of them do not remove the bias: what n outcomes are worth is
 * bounded by BIAS, the relative error that remains.
 * If the code fixes how many rounds a loop has, its outcomes are not needed.
 */
#include "config.h"

#include "analysis/freq/branchprob.h"

#include <errno.h>
#include <math.h>

#define PRIOR  1.0  /* outcomes */
#define P_MIN  1e-4 /* of the prior's shares */
#define BIAS   0.2
#define PASSES 1.0 /* outcomes that one direction seen by a window counts as */

/* The frequency of edge e that is known without outcomes. */
static double edge_share(const struct cfg *cfg, const struct equiv *eq,
			 const struct guess *guess, int e)
{
	const struct guess *edge = &guess[eq->edge[e]];
	const struct guess *to = &guess[eq->block[cfg->edge[e].to]];

	if (edge->known)
		return edge->frequency;
	return to->known ? to->frequency : NAN;
}

/* Shares of the edges out of b; equal shares if one frequency is not known. */
static void share_prior(const struct cfg *cfg, const struct equiv *eq,
			const struct guess *guess, int b, double *share)
{
	const struct cfg_block *block = &cfg->block[b];
	double sum = 0;

	for (int i = 0; i < block->nr_out; i++) {
		share[i] = edge_share(cfg, eq, guess, block->first_out + i);
		sum += share[i];
	}
	for (int i = 0; i < block->nr_out; i++) {
		double p = sum > 0 ? share[i] / sum : 1.0 / block->nr_out;

		share[i] = (p + P_MIN) / (1 + P_MIN * block->nr_out);
	}
}

/* Whether b ends with a conditional jump that has an edge for each direction. */
static bool is_conditional(const struct cfg *cfg, int b)
{
	const struct cfg_edge *edge = &cfg->edge[cfg->block[b].first_out];

	return cfg->block[b].nr_out == 2 &&
	       (edge[0].kind == EDGE_FALL) != (edge[1].kind == EDGE_FALL);
}

static void count_outcomes(const struct freq_input *in, int b, double *taken,
			   double *not_taken)
{
	const struct cfg_block *block = &in->cfg->block[b];

	*taken = *not_taken = 0;
	if (!in->outcomes || !is_conditional(in->cfg, b))
		return;
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		*taken += (double)in->outcomes[i].taken;
		*not_taken += (double)in->outcomes[i].not_taken;
	}
}

/* Adds the edges that windows took out of b, like outcomes. */
static void add_windows(const struct freq_input *in, int b, struct branchprob *bp)
{
	const struct cfg_block *block = &in->cfg->block[b];
	const struct freq_windows *w = in->windows;
	double sum = 0, n, before = bp->outcomes[b];

	for (int e = block->first_out; e < block->first_out + block->nr_out; e++)
		sum += w->edge[e];
	if (!(sum > 0))
		return;
	n = PASSES * sum / w->one;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++) {
		double *p = &bp->probability[e];

		*p = (before * *p + n * w->edge[e] / sum) / (before + n);
		bp->sd[e] = sqrt(*p * (1 - *p) / (before + n + 1));
	}
	bp->outcomes[b] = before + n;
}

static void add_outcomes(const struct freq_input *in, int b, struct branchprob *bp)
{
	const struct cfg_block *block = &in->cfg->block[b];
	double taken, not_taken, n;

	count_outcomes(in, b, &taken, &not_taken);
	n = PRIOR + taken + not_taken;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++) {
		double *p = &bp->probability[e], seen;

		seen = in->cfg->edge[e].kind == EDGE_FALL ? not_taken : taken;
		*p = n > PRIOR ? (seen + PRIOR * *p) / n : *p;
		bp->sd[e] =
			sqrt(*p * (1 - *p) / (n + 1) + pow(BIAS * *p * (1 - *p), 2));
	}
	bp->outcomes[b] = 1 / (1 / n + BIAS * BIAS);
}

/*
 * Takes the probabilities that the code fixes; they are exact, whatever was sampled.
 * Returns false if the code does not fix those of b.
 */
static bool take_fixed(const struct freq_input *in, int b, struct branchprob *bp)
{
	const struct cfg_block *block = &in->cfg->block[b];

	if (!in->fixed || isnan(in->fixed[block->first_out]))
		return false;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++) {
		bp->probability[e] = in->fixed[e];
		bp->sd[e] = 0;
	}
	return true;
}

int branchprob_build(const struct freq_input *in, const struct equiv *eq,
		     const struct guess *guess, struct arena *arena,
		     struct branchprob *out)
{
	const struct cfg *cfg = in->cfg;
	struct branchprob bp;

	bp.probability = arena_array(arena, cfg->nr_edges, sizeof(*bp.probability));
	bp.outcomes = arena_array(arena, cfg->nr_blocks, sizeof(*bp.outcomes));
	bp.sd = arena_array(arena, cfg->nr_edges, sizeof(*bp.sd));
	if (!bp.probability || !bp.outcomes || !bp.sd)
		return -ENOMEM;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		int first = cfg->block[b].first_out;

		if (cfg->block[b].nr_out == 1)
			bp.probability[first] = 1;
		bp.outcomes[b] = INFINITY;
		if (cfg->block[b].nr_out < 2 || take_fixed(in, b, &bp))
			continue;
		share_prior(cfg, eq, guess, b, &bp.probability[first]);
		add_outcomes(in, b, &bp);
		if (in->windows)
			add_windows(in, b, &bp);
	}
	*out = bp;
	return 0;
}

void branchprob_dump(const struct cfg *cfg, const struct branchprob *bp,
		     struct buf *out)
{
	for (int e = 0; e < cfg->nr_edges; e++)
		if (cfg->block[cfg->edge[e].from].nr_out > 1)
			buf_printf(out,
				   "branchprob: edge %d -> %d %.4g ± %.2g of %.4g\n",
				   cfg->edge[e].from, cfg->edge[e].to,
				   bp->probability[e], bp->sd[e],
				   bp->outcomes[cfg->edge[e].from]);
}
