/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_counts.c - executions of blocks and edges, counted from runs and branches
 *
 * A run (db/profile/edges.h) is code that was executed in a straight line, from a
 * jump's target to the next taken jump. It counts as one execution of each block whose
 * first instruction it contains, and as one fall-through of each block whose end it
 * passes. A branch counts for an edge only if it is the last instruction of its block;
 * calls in the middle of a block have no edge. A binary search finds the edges of each
 * part of a procedure, so the time does not grow with the edges of the image.
 */
#include "config.h"

#include "analysis/windows/block_counts.h"

#include <errno.h>

static uint64_t last_insn(const struct cfg *cfg, int b)
{
	const struct cfg_block *block = &cfg->block[b];
	const struct insn *last = &cfg->insn[block->first_insn + block->nr_insns - 1];

	return last->address - cfg->bias;
}

/* A run covers adjacent blocks. */
static void add_run(struct block_counts *p, const struct cfg *cfg,
		    const struct edge *run)
{
	int b = cfg_block_at(cfg, run->from);

	if (b < 0)
		return;
	p->runs += (double)run->n;
	p->cycles += (double)run->cycles;
	p->timed += (double)run->nr_timed;
	if (run->from > cfg->block[b].start) { /* it begins after a call */
		if (run->to >= cfg->block[b].end)
			p->through[b] += (double)run->n;
		b++;
	}
	for (; b < cfg->exit && cfg->block[b].start >= run->from &&
	       cfg->block[b].start <= run->to;
	     b++) {
		p->block[b] += (double)run->n;
		p->sum += (double)run->n;
		if (run->to >= cfg->block[b].end)
			p->through[b] += (double)run->n;
	}
}

/* A branch at the end of a block is one of its edges; elsewhere it is a call. */
static void add_branch(struct block_counts *p, const struct cfg *cfg,
		       const struct edge *branch)
{
	int b = cfg_block_at(cfg, branch->from), to = cfg_block_at(cfg, branch->to);
	const struct cfg_block *block = &cfg->block[b < 0 ? cfg->exit : b];

	if (b < 0 || branch->from != last_insn(cfg, b))
		return;
	if (to >= 0 && cfg->block[to].start != branch->to)
		to = -1;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++) {
		if (cfg->edge[e].kind != EDGE_FALL &&
		    cfg->edge[e].to == (to < 0 ? cfg->exit : to)) {
			p->edge[e] += (double)branch->n;
			return;
		}
	}
}

/* Calls add for each edge that begins in a part of the procedure. */
static void each_edge(const struct cfg *cfg, int part, struct edges *set,
		      struct block_counts *p,
		      void (*add)(struct block_counts *p, const struct cfg *cfg,
				  const struct edge *e))
{
	const uint64_t start = cfg->block[cfg->part[part]].start;
	const uint64_t end = cfg->block[cfg->part[part + 1] - 1].end;
	size_t nr;
	const struct edge *e = edges_sorted(set, &nr);

	for (size_t i = edges_first_from(e, nr, start); i < nr && e[i].from < end; i++)
		add(p, cfg, &e[i]);
}

int block_counts_build(const struct cfg *cfg, struct edges *branches,
		       struct edges *runs, struct arena *arena,
		       struct block_counts *out)
{
	struct block_counts p = { 0 };

	p.block = arena_array(arena, cfg->nr_blocks, sizeof(*p.block));
	p.through = arena_array(arena, cfg->nr_blocks, sizeof(*p.through));
	p.edge = arena_array(arena, cfg->nr_edges + 1, sizeof(*p.edge));
	if (!p.block || !p.through || !p.edge)
		return -ENOMEM;
	for (int part = 0; part < cfg->nr_parts; part++) {
		each_edge(cfg, part, runs, &p, add_run);
		each_edge(cfg, part, branches, &p, add_branch);
	}
	*out = p;
	return 0;
}
