/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * propagate.c: from a part of a true flow it finds nothing that is not true, and
 * all that an equation with one unknown says.
 */
#include "config.h"

#include "analysis/freq/propagate.h"

#include <errno.h>
#include <math.h>

#include "t/unit/flow_make.h"

#define GRAPHS 2000

struct truth {
	struct cfg *cfg;
	struct equiv eq;
	double block[FLOW_MAX], edge[64];
	struct guess guess[FLOW_MAX + 64];
};

static void make_truth(struct truth *t, struct arena *arena, uint64_t *state)
{
	double source[FLOW_MAX] = { 1000 }, p[64];

	t->cfg = cfg_make_random(arena, state, 12, true);
	flow_make_probabilities(t->cfg, state, p);
	flow_make(t->cfg, p, source, t->block, t->edge);
	ck_assert_int_eq(equiv_build(t->cfg, arena, &t->eq), 0);
	for (int b = 0; b < t->cfg->nr_blocks; b++) {
		struct guess *g = &t->guess[t->eq.block[b]];

		*g = (struct guess){ .frequency = t->block[b], .sd = 0.1 };
	}
	for (int c = 0; c < t->eq.nr; c++)
		t->guess[c].known = unit_random(state) % 2 && t->guess[c].frequency > 0;
}

/* Is any equation left with one unknown? The entry's edges in are no equation. */
static bool more_to_find(const struct truth *t)
{
	for (int b = 0; b < t->cfg->nr_blocks; b++) {
		const struct cfg_block *block = &t->cfg->block[b];
		int in = !t->guess[t->eq.block[b]].known, out = in;

		for (int i = 0; i < block->nr_in; i++)
			in += !t->guess[t->eq.edge[t->cfg->in[block->first_in + i]]]
				       .known;
		for (int i = 0; i < block->nr_out; i++)
			out += !t->guess[t->eq.edge[block->first_out + i]].known;
		if ((b && block->nr_in && in == 1) || (block->nr_out && out == 1))
			return true;
	}
	return false;
}

START_TEST(only_the_truth_is_found_and_all_of_it)
{
	uint64_t state = unit_seed();

	for (int n = 0; n < GRAPHS; n++) {
		unsigned long long seed = state;
		struct truth t = { 0 };
		struct arena arena;

		arena_init(&arena, 0);
		make_truth(&t, &arena, &state);
		ck_assert_int_eq(propagate(t.cfg, &t.eq, &arena, t.guess), 0);
		for (int b = 0; b < t.cfg->nr_blocks; b++) {
			const struct guess *g = &t.guess[t.eq.block[b]];

			ck_assert_msg(!g->known ||
					      fabs(g->frequency - t.block[b]) < 1e-6,
				      "SEED=%#llx block %d: %g not %g", seed, b,
				      g->frequency, t.block[b]);
		}
		for (int e = 0; e < t.cfg->nr_edges; e++) {
			const struct guess *g = &t.guess[t.eq.edge[e]];

			ck_assert_msg(!g->known ||
					      fabs(g->frequency - t.edge[e]) < 1e-6,
				      "SEED=%#llx edge %d: %g not %g", seed, e,
				      g->frequency, t.edge[e]);
		}
		ck_assert_msg(!more_to_find(&t), "SEED=%#llx", seed);
		arena_fini(&arena);
	}
}
END_TEST

/* 0 → 1 or 2 → 3 */
static const struct cfg_edge diamond[] = {
	{ 0, 1, EDGE_FALL }, { 0, 2, EDGE_TAKEN },  { 1, 3, EDGE_TAKEN },
	{ 2, 3, EDGE_FALL }, { 3, 4, EDGE_RETURN },
};

static void run_diamond(double whole, double part, struct guess *other)
{
	struct guess guess[16] = { { 0 } };
	struct arena arena;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	cfg = cfg_make(&arena, 5, diamond, NR(diamond));
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	guess[eq.block[0]] = (struct guess){ true, false, whole, 0.1 };
	guess[eq.block[1]] = (struct guess){ true, false, part, 0.1 };
	ck_assert_int_eq(propagate(cfg, &eq, &arena, guess), 0);
	*other = guess[eq.block[2]];
	arena_fini(&arena);
}

START_TEST(no_frequency_is_negative)
{
	struct guess g;

	run_diamond(100, 130, &g);
	ck_assert(g.known && g.propagated);
	ck_assert_double_eq(g.frequency, 0);
}
END_TEST

START_TEST(a_small_difference_of_large_sums_is_worth_little)
{
	struct guess small, large;

	run_diamond(100, 95, &small);
	run_diamond(100, 5, &large);
	ck_assert_double_eq(small.frequency, 5);
	ck_assert_double_eq(large.frequency, 95);
	ck_assert_double_eq_tol(small.sd, sqrt(10 * 10 + 9.5 * 9.5) / 5, 1e-9);
	ck_assert_double_lt(large.sd, 0.11);
}
END_TEST

static Suite *propagate_suite(void)
{
	Suite *s = suite_create("propagate");
	TCase *t = tcase_create("propagate");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, only_the_truth_is_found_and_all_of_it);
	tcase_add_test(t, no_frequency_is_negative);
	tcase_add_test(t, a_small_difference_of_large_sums_is_worth_little);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(propagate_suite)
