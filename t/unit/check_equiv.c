/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * equiv.c against its definition: arc a is equivalent to arc b when both are on a
 * cycle, and deleting either leaves the other on none.
 */
#include "config.h"

#include "analysis/cfg/equiv.h"

#include <errno.h>

#include "t/unit/cfg_make.h"

#define GRAPHS     2000
#define MAX_BLOCKS 8
#define MAX_NODES  (2 * MAX_BLOCKS)

struct graph {
	int from[128], to[128];
	int nr, nr_members; /* the members of classes come first */
};

static void make_graph(const struct cfg *cfg, struct graph *g)
{
	g->nr = 0;
	for (int b = 0; b < cfg->nr_blocks; b++, g->nr++) {
		g->from[g->nr] = 2 * b;
		g->to[g->nr] = 2 * b + 1;
	}
	for (int e = 0; e < cfg->nr_edges; e++, g->nr++) {
		g->from[g->nr] = 2 * cfg->edge[e].from + 1;
		g->to[g->nr] = 2 * cfg->edge[e].to;
	}
	g->nr_members = g->nr;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		if (b && !cfg->block[b].landing_pad)
			continue;
		g->from[g->nr] = 2 * cfg->exit + 1;
		g->to[g->nr++] = 2 * b;
	}
}

/* Is arc a on a cycle that does without arc cut? */
static bool on_cycle(const struct graph *g, int a, int cut)
{
	bool seen[MAX_NODES] = { false }, grew = true;

	seen[g->to[a]] = true;
	while (grew) {
		grew = false;
		for (int i = 0; i < g->nr; i++) {
			if (i == cut || !seen[g->from[i]] || seen[g->to[i]])
				continue;
			seen[g->to[i]] = true;
			grew = true;
		}
	}
	return seen[g->from[a]];
}

static void compare(const struct cfg *cfg, const struct equiv *eq, uint64_t seed)
{
	static bool cycle[128][128]; /* is a on one without b? */
	struct graph g;
	int class[128];

	make_graph(cfg, &g);
	for (int a = 0; a < g.nr_members; a++) {
		class[a] = a < cfg->nr_blocks ? eq->block[a]
					      : eq->edge[a - cfg->nr_blocks];
		ck_assert_int_lt(class[a], eq -> nr);
		for (int b = 0; b < g.nr_members; b++)
			cycle[a][b] = on_cycle(&g, a, a == b ? -1 : b);
	}
	for (int a = 0; a < g.nr_members; a++)
		for (int b = 0; b < a; b++) {
			bool want = cycle[a][a] && cycle[b][b] && !cycle[a][b] &&
				    !cycle[b][a];

			ck_assert_msg((class[a] == class[b]) == want,
				      "SEED=%#llx: arcs %d and %d, classes %d and %d",
				      (unsigned long long)seed, a, b, class[a],
				      class[b]);
		}
}

static void compare_random(bool sane, bool pads)
{
	uint64_t state = unit_seed();

	for (int i = 0; i < GRAPHS; i++) {
		uint64_t seed = state;
		struct arena arena;
		struct equiv eq;
		struct cfg *cfg;

		arena_init(&arena, 0);
		cfg = cfg_make_random(&arena, &state, MAX_BLOCKS, sane);
		for (int b = 1; pads && b < cfg->exit; b++)
			cfg->block[b].landing_pad = unit_random(&state) % 4 == 0;
		ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
		compare(cfg, &eq, seed);
		arena_fini(&arena);
	}
}

START_TEST(classes_of_code_are_those_of_the_definition)
{
	compare_random(true, false);
}
END_TEST

START_TEST(classes_of_any_graph_are_those_of_the_definition)
{
	compare_random(false, false);
}
END_TEST

START_TEST(landing_pads_are_entries)
{
	compare_random(true, true);
	compare_random(false, true);
}
END_TEST

/* 0 → 1 ⇄ 2, 2 → 3 → 1: the loop 1, 2 never ends; 4 is the exit, 0 may go there. */
START_TEST(an_infinite_loop_has_classes_of_its_own)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL },  { 0, 4, EDGE_RETURN }, { 1, 2, EDGE_FALL },
		{ 2, 1, EDGE_TAKEN }, { 2, 3, EDGE_FALL },   { 3, 1, EDGE_TAKEN },
	};
	struct arena arena;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	cfg = cfg_make(&arena, 5, edge, NR(edge));
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	ck_assert_int_eq(eq.block[0], eq.block[4]);
	ck_assert_int_eq(eq.block[1], eq.block[2]);
	ck_assert_int_eq(eq.block[1], eq.edge[2]);
	ck_assert_int_eq(eq.block[3], eq.edge[5]);
	ck_assert_int_ne(eq.block[1], eq.block[3]);
	ck_assert_int_ne(eq.block[1], eq.block[0]);
	arena_fini(&arena);
}
END_TEST

START_TEST(missing_edges_leave_each_to_itself)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_FALL },
						{ 1, 2, EDGE_RETURN } };
	struct arena arena;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	cfg = cfg_make(&arena, 3, edge, NR(edge));
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	ck_assert_int_eq(eq.nr, 1);
	cfg->missing_edges = cfg->block[1].missing_out = true;
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	ck_assert_int_eq(eq.nr, 5);
	arena_fini(&arena);
}
END_TEST

/* A stack that grew with the graph would overflow here. */
START_TEST(a_chain_of_300000_blocks_is_no_deeper_than_one)
{
	const int nr = 300000;
	struct arena arena;
	struct cfg_edge *edge;
	struct equiv eq;
	struct cfg *cfg;
	int in = 0;

	arena_init(&arena, 0);
	edge = arena_array(&arena, 2 * nr, sizeof(*edge));
	cfg = arena_alloc(&arena, sizeof(*cfg));
	cfg->block = arena_array(&arena, nr, sizeof(*cfg->block));
	cfg->in = arena_array(&arena, nr, sizeof(*cfg->in));
	cfg->nr_blocks = nr;
	cfg->exit = nr - 1;
	for (int b = 0; b < nr; b++) {
		cfg->block[b].first_out = cfg->nr_edges;
		if (b < cfg->exit)
			edge[cfg->nr_edges++] =
				(struct cfg_edge){ b, b + 1, EDGE_FALL };
		cfg->block[b].nr_out = b < cfg->exit;
		cfg->block[b].first_in = in;
		if (b)
			cfg->in[in++] = b - 1;
		cfg->block[b].nr_in = b > 0;
	}
	cfg->edge = edge;
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	ck_assert_int_eq(eq.nr, 1);
	arena_fini(&arena);
}
END_TEST

START_TEST(a_full_arena_is_no_crash)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_FALL },
						{ 1, 2, EDGE_RETURN } };
	struct arena arena, small;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	arena_init(&small, 64);
	cfg = cfg_make(&arena, 3, edge, NR(edge));
	ck_assert_int_eq(equiv_build(cfg, &small, &eq), -ENOMEM);
	arena_fini(&small);
	arena_fini(&arena);
}
END_TEST

static Suite *equiv_suite(void)
{
	Suite *s = suite_create("equiv");
	TCase *t = tcase_create("equiv");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, classes_of_code_are_those_of_the_definition);
	tcase_add_test(t, classes_of_any_graph_are_those_of_the_definition);
	tcase_add_test(t, landing_pads_are_entries);
	tcase_add_test(t, an_infinite_loop_has_classes_of_its_own);
	tcase_add_test(t, missing_edges_leave_each_to_itself);
	tcase_add_test(t, a_chain_of_300000_blocks_is_no_deeper_than_one);
	tcase_add_test(t, a_full_arena_is_no_crash);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(equiv_suite)
