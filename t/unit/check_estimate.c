/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate.c: SOSP'97 Figure 7, and the rules one by one.
 */
#include "config.h"

#include "analysis/freq/estimate.h"

#include <errno.h>
#include <math.h>

#include "t/unit/cfg_make.h"

#define MAX_INSNS 16

/* One block of straight code, its instructions as (samples, M). */
struct table {
	int nr;
	double samples[MAX_INSNS], min_cycles[MAX_INSNS];
	int depends_on[MAX_INSNS]; /* 0: nothing, else 1 + the instruction */
	bool any_order;
	enum estimate_rule rule;
	double frequency;
	bool chosen[MAX_INSNS];
};

static struct estimate run(const struct table *t, struct arena *arena, bool *chosen)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_RETURN } };
	struct cfg *cfg = cfg_make(arena, 2, edge, 1);
	int depends_on[MAX_INSNS];
	struct freq_input in = {
		.cfg = cfg,
		.samples = t->samples,
		.min_cycles = t->min_cycles,
		.depends_on = depends_on,
		.in_order = !t->any_order,
		.period_cycles = 1,
	};
	struct estimate *est;
	struct equiv eq;

	for (int i = 0; i < t->nr; i++)
		depends_on[i] = t->depends_on[i] - 1;
	cfg->nr_insns = cfg->block[0].nr_insns = t->nr;
	ck_assert_int_eq(equiv_build(cfg, arena, &eq), 0);
	ck_assert_int_eq(estimate_classes(&in, &eq, arena, &est, chosen), 0);
	return est[eq.block[0]];
}

/*
 * "Estimating Frequency of Copy Loop", the Alpha 21164's M; true frequency 1575.1.
 * The slides mark the same rows.
 */
static const struct table figure7 = {
	.nr = 13,
	.samples = { 3126, 0, 1636, 390, 1482, 0, 27766, 0, 1493, 174727, 1548, 0,
		     1586 },
	.min_cycles = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1 },
	.rule = ESTIMATE_CLUSTER,
	.frequency = 1527.25,
	.chosen = { [4] = true, [8] = true, [10] = true, [12] = true },
};

START_TEST(figure_7_gives_1527_from_the_marked_rows)
{
	bool chosen[MAX_INSNS] = { false };
	struct estimate e;
	struct arena arena;

	arena_init(&arena, 0);
	e = run(&figure7, &arena, chosen);
	ck_assert_int_eq(e.rule, figure7.rule);
	ck_assert_int_eq((int)e.frequency, 1527);
	ck_assert_double_eq(e.frequency, figure7.frequency);
	ck_assert_double_eq(e.samples, 213754);
	ck_assert_int_eq(e.points, 8);
	ck_assert_int_eq(e.used, 4);
	for (int i = 0; i < figure7.nr; i++)
		ck_assert_int_eq(chosen[i], figure7.chosen[i]);
	ck_assert_double_lt(fabs(log(1575.1 / e.frequency)), 3 * e.sd);
	arena_fini(&arena);
}
END_TEST

static const struct table rules[] = {
	/* few samples: the sum's ratio */
	{ 3, { 4, 1, 2 }, { 1, 0, 2 }, .rule = ESTIMATE_SUM, .frequency = 7.3 / 3 },
	/* no issue point, nothing to say */
	{ 2, { 5, 5 }, { 0, 0 }, .rule = ESTIMATE_NONE },
	/* i waits for 0 while 1 stalls: the ratio from 1 to i is the right one */
	{ 3,
	  { 1000, 2500, 500 },
	  { 1, 1, 2 },
	  .depends_on = { 0, 0, 1 },
	  .rule = ESTIMATE_CLUSTER,
	  .frequency = 1000 },
	/* a lone low ratio of five is under a quarter: an anomaly */
	{ 5,
	  { 20, 1000, 1010, 1020, 1005 },
	  { 1, 1, 1, 1, 1 },
	  .rule = ESTIMATE_CLUSTER,
	  .frequency = 1008.75 },
	/* 100 would make the last stall for 2000 cycles */
	{ 3,
	  { 100, 5000, 200000 },
	  { 1, 1, 1 },
	  .rule = ESTIMATE_CLUSTER,
	  .frequency = 5000 },
	/* what cannot hold samples says nothing of F */
	{ 4,
	  { 0, 0, 800, 810 },
	  { 1, 1, 1, 1 },
	  .rule = ESTIMATE_CLUSTER,
	  .frequency = 805 },
	/* out of order: all of it, by cycles between ΣM and 0.4 each: 4^0.25 × 1.6^0.75
	 */
	{ 4,
	  { 0, 0, 800, 800 },
	  { 1, 1, 1, 1 },
	  .any_order = true,
	  .rule = ESTIMATE_SUM,
	  .frequency = 1600.3 / 2.011893487492697 },
};

START_TEST(each_rule_gives_its_ratio)
{
	struct arena arena;
	struct estimate e;

	arena_init(&arena, 0);
	e = run(&rules[_i], &arena, NULL);
	ck_assert_int_eq(e.rule, rules[_i].rule);
	ck_assert_double_eq_tol(e.frequency, rules[_i].frequency, 1e-9);
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
	static const double samples[] = { 10, 4, 6, 30 }, cycles[] = { 1, 1, 1, 1 };
	struct estimate *est;
	struct arena arena;
	struct equiv eq;
	struct freq_input in = { .samples = samples,
				 .min_cycles = cycles,
				 .in_order = true };

	arena_init(&arena, 0);
	in.cfg = cfg_make(&arena, 5, edge, 5);
	ck_assert_int_eq(equiv_build(in.cfg, &arena, &eq), 0);
	ck_assert_int_eq(estimate_classes(&in, &eq, &arena, &est, NULL), 0);
	ck_assert_double_eq(est[eq.block[0]].samples, 40);
	ck_assert_double_eq(est[eq.block[3]].cycles, 2);
	ck_assert_double_eq(est[eq.block[1]].samples, 4);
	ck_assert_double_eq(est[eq.block[2]].samples, 6);
	arena_fini(&arena);
}
END_TEST

static Suite *estimate_suite(void)
{
	Suite *s = suite_create("estimate");
	TCase *t = tcase_create("estimate");

	tcase_add_test(t, figure_7_gives_1527_from_the_marked_rows);
	tcase_add_loop_test(t, each_rule_gives_its_ratio, 0, (int)NR(rules));
	tcase_add_test(t, the_blocks_of_a_class_count_together);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(estimate_suite)
