/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/counted.h"

#include <errno.h>
#include <math.h>

#define SD_NONE    3.0 /* as freq.c has it, where nothing is known */
#define COUNT_HIGH 100 /* of a block: 10 % are a deviation */
#define COUNT_SOME 12

/* What runs say of a procedure. */
struct counts {
	const struct counted_input *in;
	double *block;   /* executions seen */
	double *through; /* by block: that went on behind its end */
	double *edge;    /* by edge: as often as the branch was seen; 0 of a fall */
	double sum;      /* of block */
	double cycles, timed, runs; /* of runs that begin here */
};

static uint64_t last_insn(const struct cfg *cfg, int b)
{
	const struct cfg_block *block = &cfg->block[b];
	const struct insn *last = &cfg->insn[block->first_insn + block->nr_insns - 1];

	return last->address - cfg->bias;
}

/* A run covers blocks that lie behind one another. */
static void add_run(struct counts *c, const struct edge *run)
{
	const struct cfg *cfg = c->in->cfg;
	int b = cfg_block_at(cfg, run->from);

	if (b < 0)
		return;
	c->runs += (double)run->n;
	c->cycles += (double)run->cycles;
	c->timed += (double)run->nr_timed;
	if (run->from > cfg->block[b].start) { /* it begins behind a call */
		if (run->to >= cfg->block[b].end)
			c->through[b] += (double)run->n;
		b++;
	}
	for (; b < cfg->exit && cfg->block[b].start >= run->from &&
	       cfg->block[b].start <= run->to;
	     b++) {
		c->block[b] += (double)run->n;
		c->sum += (double)run->n;
		if (run->to >= cfg->block[b].end)
			c->through[b] += (double)run->n;
	}
}

/* A branch at the end of a block is one of its edges; elsewhere it is a call. */
static void add_branch(struct counts *c, const struct edge *branch)
{
	const struct cfg *cfg = c->in->cfg;
	int b = cfg_block_at(cfg, branch->from), to = cfg_block_at(cfg, branch->to);
	const struct cfg_block *block = &cfg->block[b < 0 ? cfg->exit : b];

	if (b < 0 || branch->from != last_insn(cfg, b))
		return;
	if (to >= 0 && cfg->block[to].start != branch->to)
		to = -1;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++) {
		if (cfg->edge[e].kind != EDGE_FALL &&
		    cfg->edge[e].to == (to < 0 ? cfg->exit : to)) {
			c->edge[e] += (double)branch->n;
			return;
		}
	}
}

static int count(struct counts *c, struct arena *arena)
{
	const struct cfg *cfg = c->in->cfg;
	const struct edge *e;
	size_t nr;

	c->block = arena_array(arena, cfg->nr_blocks, sizeof(*c->block));
	c->through = arena_array(arena, cfg->nr_blocks, sizeof(*c->through));
	c->edge = arena_array(arena, cfg->nr_edges + 1, sizeof(*c->edge));
	if (!c->block || !c->through || !c->edge)
		return -ENOMEM;
	e = edges_sorted(c->in->runs, &nr);
	for (size_t i = 0; i < nr; i++)
		add_run(c, &e[i]);
	e = edges_sorted(c->in->branches, &nr);
	for (size_t i = 0; i < nr; i++)
		add_branch(c, &e[i]);
	return 0;
}

/* A block's executions, by how often each of its edges was seen. */
static void share_out(const struct counts *c, int b, double *edge)
{
	const struct cfg *cfg = c->in->cfg;
	const int first = cfg->block[b].first_out, nr = cfg->block[b].nr_out;
	double sum = 0;

	for (int e = first; e < first + nr; e++) {
		edge[e] = cfg->edge[e].kind == EDGE_FALL ? c->through[b] : c->edge[e];
		sum += edge[e];
	}
	for (int e = first; e < first + nr; e++)
		edge[e] = c->block[b] * (sum > 0 ? edge[e] / sum : 1.0 / nr);
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

	if (c->timed > 0.9 * c->runs && c->cycles > 0 && c->in->time_cycles > 0) {
		f->scale = confidence_of(c->timed);
		return c->in->time_cycles / c->cycles;
	}
	for (int b = 0; b < cfg->exit; b++) {
		estimated += f->block[b] * cfg->block[b].nr_insns;
		seen += c->block[b] * cfg->block[b].nr_insns;
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
		f->block[b] = c->block[b] * scale;
		f->block_sd[b] = deviation_of(c->block[b]);
		f->shape[b] = confidence_of(c->block[b]);
	}
	f->counted = true;
	f->unmatched = 0;
}

int counted_apply(const struct counted_input *in, struct arena *arena, struct freq *f)
{
	struct counts c = { .in = in };
	int err;

	if (!in->branches || !in->runs)
		return 0;
	err = count(&c, arena);
	if (!err && c.sum >= COUNTED_LEAST)
		take_counts(&c, f);
	return err;
}
