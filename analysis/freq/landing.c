/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer interrupt is taken when the instruction that blocked the head of the
 * reorder buffer has retired, together with the instructions behind it that were
 * ready. So the PC is the first instruction behind a group that retired together.
 * The time belongs to the group's first instruction, its leader, because all the
 * others waited for it. The static schedule shows which instructions are leaders:
 * only leaders spend cycles at the head of the reorder buffer.
 *
 * Samples at a block's first instruction are divided among the edges into the
 * block by frequency. The share of entries from outside stays where it landed,
 * because the code before is not in this procedure. Samples right behind a call are
 * moved to the call, although the group that retired last is the end of the callee.
 *
 * Samples at code where nothing waits move as well. That does little harm: they move by
 * one group, and neighbouring groups there have about equally many samples.
 */
#include "config.h"

#include "analysis/freq/landing.h"

#include <errno.h>
#include <string.h>

#define LEADS     0.5f /* cycles at the head, per execution */
#define GROUP_MAX 8    /* instructions that a core retires in one cycle */

/* The leader of the group that ends with instruction i; first is the block's. */
static int find_leader(const struct isa_timing *timing, int first, int i)
{
	for (int n = 1; n < GROUP_MAX && i > first; n++, i--)
		if (timing[i].head + timing[i].front_end >= LEADS)
			break;
	return i;
}

/* By block: the instruction that samples right behind the block waited for. */
static int *find_last_leaders(const struct landing_input *in, struct arena *arena)
{
	int *last = arena_array(arena, in->cfg->nr_blocks, sizeof(*last));

	for (int b = 0; last && b < in->cfg->exit; b++) {
		const struct cfg_block *block = &in->cfg->block[b];

		last[b] = find_leader(in->timing, block->first_insn,
				      block->first_insn + block->nr_insns - 1);
	}
	return last;
}

static double weight_of(const struct landing_input *in, int e)
{
	return in->edge ? in->edge[e] : 1;
}

/*
 * The flow into the block from outside, in the unit of edges: the flow out of it minus
 * the flow in along edges. Without frequencies it counts as one edge.
 */
static double weight_from_outside(const struct landing_input *in, int b, double within)
{
	const struct cfg_block *block = &in->cfg->block[b];
	double out = 0;

	if (b && block->nr_in && !block->landing_pad)
		return 0;
	if (!in->edge)
		return 1;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++)
		out += in->edge[e];
	return out > within ? out - within : 0;
}

static void move_head(const struct landing_input *in, const int *last, int b,
		      double *blamed)
{
	const struct cfg_block *block = &in->cfg->block[b];
	double samples = in->samples[block->first_insn], within = 0, sum;

	for (int i = 0; i < block->nr_in; i++)
		within += weight_of(in, in->cfg->in[block->first_in + i]);
	sum = within + weight_from_outside(in, b, within);
	if (!(within > 0)) {
		blamed[block->first_insn] += samples;
		return;
	}
	for (int i = 0; i < block->nr_in; i++) {
		int e = in->cfg->in[block->first_in + i];

		blamed[last[in->cfg->edge[e].from]] += samples * weight_of(in, e) / sum;
	}
	blamed[block->first_insn] += samples * (sum - within) / sum;
}

int landing_blame(const struct landing_input *in, struct arena *arena, double *blamed)
{
	const struct cfg *cfg = in->cfg;
	int *last;

	if (in->landing != LANDING_AFTER_GROUP) {
		memcpy(blamed, in->samples, cfg->nr_insns * sizeof(*blamed));
		return 0;
	}
	last = find_last_leaders(in, arena);
	if (!last)
		return -ENOMEM;
	memset(blamed, 0, cfg->nr_insns * sizeof(*blamed));
	for (int b = 0; b < cfg->exit; b++) {
		int first = cfg->block[b].first_insn;

		move_head(in, last, b, blamed);
		for (int i = first + 1; i < first + cfg->block[b].nr_insns; i++)
			blamed[find_leader(in->timing, first, i - 1)] += in->samples[i];
	}
	return 0;
}
