/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_trace.c - the graph that a trace without a program has run through
 */
#include "config.h"

#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/cfg/cfg.h"
#include "t/accuracy/event_graph.h"

#define INSN_SIZE 4

struct tracing {
	const uint64_t *pc;
	size_t nr;
	uint64_t low, size; /* in instructions */
	bool *ran, *leads;  /* by (pc - low) / INSN_SIZE */
	int *block;
	struct cfg *cfg;
};

static void *get(struct arena *arena, size_t nr, size_t size)
{
	void *p = arena_array(arena, nr, size);

	if (!p)
		errx(EXIT_FAILURE, "out of memory");
	return p;
}

static size_t slot(const struct tracing *t, size_t i)
{
	return (t->pc[i] - t->low) / INSN_SIZE;
}

static void find_leaders(struct tracing *t, struct arena *arena)
{
	uint64_t high = 0;

	t->low = UINT64_MAX;
	for (size_t i = 0; i < t->nr; i++) {
		t->low = t->pc[i] < t->low ? t->pc[i] : t->low;
		high = t->pc[i] > high ? t->pc[i] : high;
	}
	t->size = (high - t->low) / INSN_SIZE + 1;
	t->ran = get(arena, t->size + 1, sizeof(bool));
	t->leads = get(arena, t->size + 1, sizeof(bool));
	t->block = get(arena, t->size + 1, sizeof(int));
	t->leads[slot(t, 0)] = true;
	for (size_t i = 0; i < t->nr; i++) {
		t->ran[slot(t, i)] = true;
		if (i && t->pc[i] != t->pc[i - 1] + INSN_SIZE)
			t->leads[slot(t, i)] = t->leads[slot(t, i - 1) + 1] = true;
	}
}

/* Block 0 is the entry, the others ascend. */
static void make_blocks(struct tracing *t, struct arena *arena)
{
	const size_t entry = slot(t, 0);
	struct cfg *cfg = t->cfg;
	int b = 0, insn = 0;

	cfg->insn = get(arena, t->size, sizeof(*cfg->insn));
	cfg->block = get(arena, t->size + 1, sizeof(*cfg->block));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < t->size; i++) {
			size_t end = i + 1;

			if (!t->ran[i] || (i && t->ran[i - 1] && !t->leads[i]))
				continue;
			while (end < t->size && t->ran[end] && !t->leads[end])
				end++;
			if ((i == entry) == (pass == 1))
				continue;
			cfg->block[b] = (struct cfg_block){
				.start = i * INSN_SIZE,
				.end = end * INSN_SIZE,
				.first_insn = insn,
				.nr_insns = (int)(end - i),
			};
			for (size_t k = i; k < end; k++) {
				t->block[k] = b;
				cfg->insn[insn++] =
					(struct insn){ .address =
							       t->low + k * INSN_SIZE,
						       .size = INSN_SIZE };
			}
			b++;
		}
	}
	cfg->nr_insns = insn;
	cfg->exit = b;
	cfg->nr_blocks = b + 1;
}

static int by_from(const void *a, const void *b)
{
	const struct cfg_edge *x = a, *y = b;

	return x->from != y->from ? x->from - y->from : x->to - y->to;
}

static int by_to(const void *a, const void *b)
{
	const struct cfg_edge *const *x = a, *const *y = b;

	return (*x)->to != (*y)->to ? (*x)->to - (*y)->to : (*x)->from - (*y)->from;
}

/* From each block to each that came behind it. */
static size_t collect(const struct tracing *t, struct cfg_edge *edge)
{
	size_t nr = 0, unique = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const int from = t->block[slot(t, i)];
		const bool last = i + 1 == t->nr;

		if (!last && !t->leads[slot(t, i + 1)])
			continue;
		edge[nr++] = (struct cfg_edge){
			from, last ? t->cfg->exit : t->block[slot(t, i + 1)],
			last                                   ? EDGE_RETURN
			: t->pc[i + 1] == t->pc[i] + INSN_SIZE ? EDGE_FALL
							       : EDGE_TAKEN
		};
	}
	qsort(edge, nr, sizeof(*edge), by_from);
	for (size_t i = 0; i < nr; i++)
		if (!i || by_from(&edge[i - 1], &edge[i]))
			edge[unique++] = edge[i];
	return unique;
}

static void make_edges(struct tracing *t, struct arena *arena)
{
	struct cfg *cfg = t->cfg;
	const struct cfg_edge **sorted;

	cfg->edge = get(arena, t->nr, sizeof(*cfg->edge));
	cfg->nr_edges = (int)collect(t, cfg->edge);
	cfg->in = get(arena, cfg->nr_edges, sizeof(*cfg->in));
	sorted = get(arena, cfg->nr_edges, sizeof(struct cfg_edge *));
	for (int e = cfg->nr_edges - 1; e >= 0; e--) {
		sorted[e] = &cfg->edge[e];
		cfg->block[cfg->edge[e].from].first_out = e;
		cfg->block[cfg->edge[e].from].nr_out++;
	}
	qsort(sorted, cfg->nr_edges, sizeof(struct cfg_edge *), by_to);
	for (int i = cfg->nr_edges - 1; i >= 0; i--) {
		cfg->in[i] = (int)(sorted[i] - cfg->edge);
		cfg->block[sorted[i]->to].first_in = i;
		cfg->block[sorted[i]->to].nr_in++;
	}
}

struct cfg *event_trace_cfg(const uint64_t *pc, size_t nr, struct arena *arena)
{
	struct tracing t = { .pc = pc, .nr = nr };

	find_leaders(&t, arena);
	t.cfg = get(arena, 1, sizeof(*t.cfg));
	t.cfg->bias = t.low;
	make_blocks(&t, arena);
	make_edges(&t, arena);
	return t.cfg;
}
