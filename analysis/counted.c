/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/counted.h"

#include <math.h>

#include "analysis/passed.h"

#define SD_NONE    3.0 /* as freq.c has it, where nothing is known */
#define COUNT_HIGH 100 /* of a block: 10 % are a deviation */
#define COUNT_SOME 12

struct counts {
	const struct counted_input *in;
	struct passed p;
};

/* A block's executions, by how often each of its edges was seen. */
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

/* Executions for one that was seen: by the runs' own cycles, or as many as estimated.
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
	f->bias = NULL;
	f->unmatched = 0;
}

int counted_apply(const struct counted_input *in, struct arena *arena, struct freq *f)
{
	struct counts c = { .in = in };
	int err;

	if (!in->branches || !in->runs)
		return 0;
	err = passed_count(in->cfg, in->branches, in->runs, arena, &c.p);
	if (!err && c.p.sum >= COUNTED_LEAST)
		take_counts(&c, f);
	return err;
}
