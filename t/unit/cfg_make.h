/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg_make.h - CFGs without code, for tests of what works on the graph alone
 */
#ifndef CPI_T_UNIT_CFG_MAKE_H
#define CPI_T_UNIT_CFG_MAKE_H

#include "analysis/cfg/cfg.h"
#include "base/arena.h"

#include "t/unit/unit.h"

static inline int cfg_make_by_from(const void *a, const void *b)
{
	const struct cfg_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from - y->from;
	return x->to != y->to ? x->to - y->to : (int)x->kind - (int)y->kind;
}

/* Block i is at [16 i, 16 i + 16) with one instruction; the exit is the last. */
static inline struct cfg *cfg_make(struct arena *arena, int nr_blocks,
				   const struct cfg_edge *edge, int nr_edges)
{
	struct cfg *cfg = arena_alloc(arena, sizeof(*cfg));
	int in = 0;

	cfg->nr_blocks = nr_blocks;
	cfg->exit = nr_blocks - 1;
	cfg->nr_insns = cfg->exit;
	cfg->insn = arena_array(arena, nr_blocks, sizeof(*cfg->insn));
	cfg->block = arena_array(arena, nr_blocks, sizeof(*cfg->block));
	cfg->nr_edges = nr_edges;
	cfg->edge = arena_array(arena, nr_edges, sizeof(*cfg->edge));
	cfg->in = arena_array(arena, nr_edges, sizeof(*cfg->in));
	for (int e = 0; e < nr_edges; e++)
		cfg->edge[e] = edge[e];
	qsort(cfg->edge, nr_edges, sizeof(*cfg->edge), cfg_make_by_from);
	for (int b = 0, out = 0; b < nr_blocks; b++) {
		struct cfg_block *block = &cfg->block[b];

		*block = (struct cfg_block){ .start = 16 * b,
					     .end = b == cfg->exit ? 16 * b
								   : 16 * b + 16,
					     .first_insn = b,
					     .nr_insns = b != cfg->exit,
					     .first_out = out,
					     .first_in = in };
		for (; out < nr_edges && cfg->edge[out].from == b; out++)
			block->nr_out++;
		for (int e = 0; e < nr_edges; e++)
			if (cfg->edge[e].to == b)
				cfg->in[in++] = e;
		block->nr_in = in - block->first_in;
	}
	return cfg;
}

/*
 * A random graph: irreducible, with self loops, edges in parallel, infinite loops
 * and unreachable blocks, as it comes. sane: none of the last two, and one edge or
 * two from each block, as code has them.
 */
static inline struct cfg *cfg_make_random(struct arena *arena, uint64_t *seed,
					  int max_blocks, bool sane)
{
	int nr = 2 + (int)(unit_random(seed) % (max_blocks - 1)), edges = 0;
	int max = sane ? 2 * nr : (int)(unit_random(seed) % (3 * nr)) + 1;
	struct cfg_edge *edge = arena_array(arena, max, sizeof(*edge));

	if (!sane) {
		for (; edges < max; edges++)
			edge[edges] = (struct cfg_edge){
				.from = (int)(unit_random(seed) % (nr - 1)),
				.to = (int)(unit_random(seed) % nr),
				.kind = (enum edge_kind)(unit_random(seed) % 5),
			};
		return cfg_make(arena, nr, edge, edges);
	}
	/* On from each block to the next, and from some to anywhere else. */
	for (int b = 0; b < nr - 1; b++) {
		edge[edges++] = (struct cfg_edge){ b, b + 1, EDGE_FALL };
		if (unit_random(seed) % 2)
			edge[edges++] =
				(struct cfg_edge){ b, (int)(unit_random(seed) % nr),
						   EDGE_TAKEN };
	}
	return cfg_make(arena, nr, edge, edges);
}

#endif
