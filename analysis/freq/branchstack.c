/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks get the counts of the runs that pass their heads. A block's count is
 * divided among its out edges in proportion to the recorded taken branches and
 * fall-throughs. Counts are turned into executions by one factor for the
 * procedure: its time over the cycles of its runs, if the hardware times runs,
 * else the factor that keeps the estimated number of instructions.
 */
#include "config.h"

#include "analysis/freq/branchstack.h"

#include <math.h>

#include "analysis/windows/block_counts.h"

#define SD_NONE    3.0 /* as in freq.c, for an edge without information */
#define COUNT_HIGH 100 /* of a block: the deviation is 10 % */
#define COUNT_SOME 12

struct counts {
	const struct branchstack_input *in;
	struct block_counts p;
};

/* Divides a block's executions among its edges, by how often each was seen. */
static void share_out(const struct counts *c, int b, double *edge)
{
	const struct cfg *cfg = c->in->cfg;
	const int first = cfg->block[b].first_out, nr = cfg->block[b].nr_out;
	double sum = 0;

	for (int e = first; e < first + nr; e++) {
		edge[e] =
			cfg->edge[e].kind == EDGE_FALL ? c->p.through[b] : c->p.edge[e];
		sum += edge[e];
	}
	for (int e = first; e < first + nr; e++)
		edge[e] = c->p.block[b] * (sum > 0 ? edge[e] / sum : 1.0 / nr);
}

static enum confidence confidence_of(double n)
{
	if (n < COUNT_SOME)
		return CONFIDENCE_LOW;
	return n < COUNT_HIGH ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
}

static double deviation_of(double n)
{
	return n > 0 ? 1 / sqrt(n) : SD_NONE;
}

/*
 * The number of executions that one seen execution stands for. It follows from the
 * runs' cycles; without these it keeps the estimated number of executed instructions.
 */
static double find_scale(const struct counts *c, struct freq *f)
{
	const struct cfg *cfg = c->in->cfg;
	double estimated = 0, seen = 0;

	if (c->p.timed > 0.9 * c->p.runs && c->p.cycles > 0 && c->in->time_cycles > 0) {
		f->scale = confidence_of(c->p.timed);
		return c->in->time_cycles / c->p.cycles;
	}
	for (int b = 0; b < cfg->exit; b++) {
		estimated += f->block[b] * cfg->block[b].nr_insns;
		seen += c->p.block[b] * cfg->block[b].nr_insns;
	}
	return seen > 0 ? estimated / seen : 0;
}

static void take_counts(const struct counts *c, struct freq *f)
{
	const struct cfg *cfg = c->in->cfg;
	const double scale = find_scale(c, f);

	f->block[cfg->exit] = 0;
	for (int b = 0; b < cfg->exit; b++) {
		const int first = cfg->block[b].first_out;

		share_out(c, b, f->edge);
		for (int e = first; e < first + cfg->block[b].nr_out; e++) {
			f->edge_sd[e] = deviation_of(f->edge[e]);
			f->edge_shape[e] = confidence_of(f->edge[e]);
			f->edge[e] *= scale;
			if (cfg->edge[e].to == cfg->exit)
				f->block[cfg->exit] += f->edge[e];
		}
		f->block[b] = c->p.block[b] * scale;
		f->block_sd[b] = deviation_of(c->p.block[b]);
		f->shape[b] = confidence_of(c->p.block[b]);
	}
	f->counted = true;
	f->windows = false;
	f->retired = false;
	f->unmatched = 0;
}

int branchstack_apply(const struct branchstack_input *in, struct arena *arena,
		      struct freq *f)
{
	struct counts c = { .in = in };
	int err;

	if (!in->branches || !in->runs)
		return 0;
	err = block_counts_build(in->cfg, in->branches, in->runs, arena, &c.p);
	if (!err && c.p.sum >= BRANCHSTACK_LEAST)
		take_counts(&c, f);
	return err;
}
