/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doors come first, then cuts: a search backwards, from the exit and from the blocks
 * without edges out, finds the blocks that reach an end. A walk forwards from any other
 * block must return to a block that it already visited; the edge that returns there is
 * cut. After that, every block of the walk reaches an end, so no block is walked twice.
 */
#include "config.h"

#include "analysis/freq/flow.h"

#include <errno.h>

struct flow_search {
	struct flow *flow;
	int *stack, depth;
	int *next; /* by block: the edge out to follow next */
	bool *seen;
};

enum direction { ONWARD, BACK };

static void visit_block(struct flow_search *s, int b)
{
	if (s->seen[b])
		return;
	s->seen[b] = true;
	s->stack[s->depth++] = b;
}

/* Marks all blocks that b leads to, or all blocks that lead to b. */
static void search_blocks(struct flow_search *s, int b, enum direction direction)
{
	const struct cfg *cfg = s->flow->cfg;

	visit_block(s, b);
	while (s->depth) {
		const struct cfg_block *block = &cfg->block[s->stack[--s->depth]];
		const int nr = direction == ONWARD ? block->nr_out : block->nr_in;

		for (int i = 0; i < nr; i++) {
			if (direction == ONWARD)
				visit_block(s, cfg->edge[block->first_out + i].to);
			else
				visit_block(
					s,
					cfg->edge[cfg->in[block->first_in + i]].from);
		}
	}
}

static void find_doors(struct flow_search *s)
{
	const struct cfg *cfg = s->flow->cfg;
	bool *door = s->flow->door;

	for (int b = 0; b < cfg->exit; b++)
		door[b] = !b || cfg->block[b].landing_pad || !cfg->block[b].nr_in;
	for (int b = 0; b < cfg->exit; b++)
		if (door[b])
			search_blocks(s, b, ONWARD);
	for (int b = 0; b < cfg->exit; b++) {
		if (s->seen[b])
			continue;
		door[b] = true;
		search_blocks(s, b, ONWARD);
	}
}

/*
 * Walks from b, which does not reach the exit, until the walk meets itself, and
 * cuts the edge where it does. The blocks on the walk have next > 0.
 */
static void cut_loop(struct flow_search *s, int b)
{
	const struct cfg *cfg = s->flow->cfg;
	int from, edge;

	for (s->depth = 0;;) {
		s->stack[s->depth++] = from = b;
		s->next[b] = 1;
		edge = cfg->block[b].first_out;
		b = cfg->edge[edge].to;
		if (s->next[b])
			break;
	}
	s->flow->cut[edge] = true;
	s->flow->door[b] = true;
	while (s->depth)
		s->next[s->stack[--s->depth]] = 0;
	search_blocks(s, from, BACK);
}

static void cut_loops(struct flow_search *s)
{
	const struct cfg *cfg = s->flow->cfg;

	for (int b = 0; b < cfg->nr_blocks; b++)
		s->seen[b] = false;
	search_blocks(s, cfg->exit, BACK);
	for (int b = 0; b < cfg->exit; b++)
		if (!cfg->block[b].nr_out)
			search_blocks(s, b, BACK);
	for (int b = 0; b < cfg->exit; b++)
		while (!s->seen[b])
			cut_loop(s, b);
}

static bool leaves(const struct flow *f, int edge)
{
	return f->cut[edge] || f->cfg->edge[edge].to == f->cfg->exit;
}

static int build_chain(struct flow *f, struct arena *arena)
{
	const struct cfg *cfg = f->cfg;
	struct chain_step *step = arena_array(arena, cfg->nr_edges, sizeof(*step));
	int nr = 0;

	if (!step)
		return -ENOMEM;
	for (int e = 0; e < cfg->nr_edges; e++)
		if (!leaves(f, e))
			step[nr++] = (struct chain_step){ cfg->edge[e].from,
							  cfg->edge[e].to };
	return chain_build(cfg->exit, step, nr, arena, &f->chain);
}

int flow_build(const struct cfg *cfg, struct arena *arena, struct flow *out)
{
	struct flow f = { .cfg = cfg };
	struct flow_search s = { .flow = &f };
	int err;

	f.door = arena_array(arena, cfg->nr_blocks, sizeof(*f.door));
	f.cut = arena_array(arena, cfg->nr_edges, sizeof(*f.cut));
	f.leave = arena_array(arena, cfg->nr_blocks, sizeof(*f.leave));
	f.step = arena_array(arena, cfg->nr_edges, sizeof(*f.step));
	s.stack = arena_array(arena, cfg->nr_blocks, sizeof(*s.stack));
	s.next = arena_array(arena, cfg->nr_blocks, sizeof(*s.next));
	s.seen = arena_array(arena, cfg->nr_blocks, sizeof(*s.seen));
	if (!f.door || !f.cut || !f.leave || !f.step || !s.stack || !s.next || !s.seen)
		return -ENOMEM;
	find_doors(&s);
	cut_loops(&s);
	err = build_chain(&f, arena);
	if (!err)
		*out = f;
	return err;
}

void flow_factor(struct flow *f, const double *probability)
{
	const struct cfg *cfg = f->cfg;
	int nr = 0;

	for (int b = 0; b < cfg->exit; b++)
		f->leave[b] = !cfg->block[b].nr_out;
	for (int e = 0; e < cfg->nr_edges; e++) {
		if (leaves(f, e))
			f->leave[cfg->edge[e].from] += probability[e];
		else
			f->step[nr++] = probability[e];
	}
	chain_factor(f->chain, f->step, f->leave);
}

void flow_spread(const struct flow *f, const double *probability, const double *source,
		 double *block, double *edge)
{
	const struct cfg *cfg = f->cfg;

	chain_visits(f->chain, source, block);
	block[cfg->exit] = 0;
	for (int e = 0; e < cfg->nr_edges; e++) {
		edge[e] = block[cfg->edge[e].from] * probability[e];
		if (cfg->edge[e].to == cfg->exit)
			block[cfg->exit] += edge[e];
	}
	for (int b = 0; b < cfg->exit; b++)
		if (!cfg->block[b].nr_out)
			block[cfg->exit] += block[b];
}
