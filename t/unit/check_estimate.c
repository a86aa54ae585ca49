/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate.c: frequencies of classes from their own samples.
 */
#include "config.h"

#include "analysis/freq/estimate.h"

#include <errno.h>
#include <math.h>

#include "t/unit/cfg_make.h"

/* One block of straight code. */
static const struct {
	int nr;
	double samples[4];
	enum estimate_rule rule;
	double frequency;
	bool at_most;
} rules[] = {
	/* all of it, at 0.4 cycles each */
	{ 4, { 0, 0, 800, 800 }, ESTIMATE_SUM, 1600.3 / 1.6, false },
	{ 3, { 4, 1, 2 }, ESTIMATE_SUM, 7.3 / 1.2, false },
	/* no samples: an upper bound */
	{ 1, { 0 }, ESTIMATE_SUM, 0.3 / 0.4, true },
	/* no instructions */
	{ 0, { 0 }, ESTIMATE_NONE, 0, false },
};

START_TEST(each_rule_gives_its_ratio)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_RETURN } };
	struct freq_input in = { .samples = rules[_i].samples, .period_cycles = 1 };
	struct estimate *est, *e;
	struct arena arena;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	in.cfg = cfg = cfg_make(&arena, 2, edge, 1);
	cfg->nr_insns = cfg->block[0].nr_insns = rules[_i].nr;
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	ck_assert_int_eq(estimate_classes(&in, &eq, &arena, &est), 0);
	e = &est[eq.block[0]];
	ck_assert_int_eq(e->rule, rules[_i].rule);
	ck_assert_double_eq_tol(e->frequency, rules[_i].frequency, 1e-9);
	ck_assert_int_eq(e->at_most, rules[_i].at_most);
	ck_assert_double_eq_tol(e->unseen, e->at_most ? e->cycles : 0, 1e-9);
	arena_fini(&arena);
}
END_TEST

/* Blocks 0 and 3 are one class, 1 and 2 are not. */
START_TEST(the_blocks_of_a_class_count_together)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL }, { 0, 2, EDGE_TAKEN },  { 1, 3, EDGE_TAKEN },
		{ 2, 3, EDGE_FALL }, { 3, 4, EDGE_RETURN },
	};
	static const double samples[] = { 10, 4, 6, 30 };
	struct estimate *est;
	struct arena arena;
	struct equiv eq;
	struct freq_input in = { .samples = samples };

	arena_init(&arena, 0);
	in.cfg = cfg_make(&arena, 5, edge, 5);
	ck_assert_int_eq(equiv_build(in.cfg, &arena, &eq), 0);
	ck_assert_int_eq(estimate_classes(&in, &eq, &arena, &est), 0);
	ck_assert_double_eq(est[eq.block[0]].samples, 40);
	ck_assert_double_eq_tol(est[eq.block[3]].cycles, 0.8, 1e-9);
	ck_assert_double_eq(est[eq.block[1]].samples, 4);
	ck_assert_double_eq(est[eq.block[2]].samples, 6);
	arena_fini(&arena);
}
END_TEST

static Suite *estimate_suite(void)
{
	Suite *s = suite_create("estimate");
	TCase *t = tcase_create("estimate");

	tcase_add_loop_test(t, each_rule_gives_its_ratio, 0, (int)NR(rules));
	tcase_add_test(t, the_blocks_of_a_class_count_together);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(estimate_suite)
