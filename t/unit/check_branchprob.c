/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branchprob.c: outcomes become probabilities, with errors that hold.
 */
#include "config.h"

#include "analysis/freq/branchprob.h"

#include <errno.h>
#include <math.h>

#include "t/unit/flow_make.h"

/* Block 0 branches to 1 (not taken) and 2, both go to 3, the exit. */
static const struct cfg_edge branch[] = {
	{ 0, 1, EDGE_FALL },
	{ 0, 2, EDGE_TAKEN },
	{ 1, 3, EDGE_RETURN },
	{ 2, 3, EDGE_RETURN },
};

struct result {
	double taken, sd, outcomes;
};

/* at: the instruction of block 0, of two, that has the outcomes. */
static struct result run(uint64_t taken, uint64_t not_taken, int at,
			 double not_taken_time, double taken_time)
{
	struct count outcomes[4] = { { 0 } };
	struct guess guess[8] = { { 0 } };
	struct freq_input in = { .outcomes = outcomes };
	struct branchprob bp;
	struct arena arena;
	struct result r;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	cfg = cfg_make(&arena, 4, branch, NR(branch));
	for (int b = 0; b < 3; b++)
		cfg->block[b].first_insn = b ? b + 1 : 0;
	cfg->block[0].nr_insns = 2;
	cfg->nr_insns = 4;
	in.cfg = cfg;
	outcomes[at].taken = taken;
	outcomes[at].not_taken = not_taken;
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	guess[eq.block[1]] =
		(struct guess){ not_taken_time > 0, false, not_taken_time, 0.5 };
	guess[eq.block[2]] = (struct guess){ taken_time > 0, false, taken_time, 0.5 };
	ck_assert_int_eq(branchprob_build(&in, &eq, guess, &arena, &bp), 0);
	ck_assert_double_eq_tol(bp.probability[0] + bp.probability[1], 1, 1e-12);
	ck_assert_double_eq(bp.probability[2], 1);
	ck_assert(isinf(bp.outcomes[1]));
	r = (struct result){ bp.probability[1], bp.sd[1], bp.outcomes[0] };
	arena_fini(&arena);
	return r;
}

static const struct {
	uint64_t taken, not_taken;
	int at;
	double not_taken_time, taken_time;
	double low, high;
} cases[] = {
	{ 900, 100, 1, 0, 0, 0.89, 0.91 }, /* at the jump */
	{ 900, 100, 0, 0, 0, 0.89, 0.91 }, /* at what it is fused with */
	{ 900, 100, 1, 5, 1, 0.89, 0.91 }, /* time says otherwise, outcomes win */
	{ 0, 0, 1, 0, 0, 0.499, 0.501 },   /* nothing known */
	{ 0, 0, 1, 30, 10, 0.249, 0.251 }, /* time alone */
	{ 1, 0, 1, 30, 10, 0.6, 0.65 },    /* one outcome weighs as much as the prior */
	{ 1000000, 0, 1, 0, 0, 0.99999, 1 }, /* never surer than certain */
	{ 0, 1000000, 1, 0, 0, 1e-9, 1e-5 }, /* nor impossible */
	{ 900, 100, 2, 0, 0, 0.499, 0.501 }, /* not in this block */
};

START_TEST(probabilities_follow_outcomes_then_time)
{
	struct result r = run(cases[_i].taken, cases[_i].not_taken, cases[_i].at,
			      cases[_i].not_taken_time, cases[_i].taken_time);

	ck_assert_double_gt(r.taken, cases[_i].low);
	ck_assert_double_lt(r.taken, cases[_i].high);
}
END_TEST

START_TEST(more_outcomes_are_worth_more_up_to_their_bias)
{
	double none = run(0, 0, 1, 0, 0).outcomes, ten = run(5, 5, 1, 0, 0).outcomes;
	double many = run(50000, 50000, 1, 0, 0).outcomes;
	double more = run(5000000, 5000000, 1, 0, 0).outcomes;

	ck_assert_double_lt(none, ten);
	ck_assert_double_lt(ten, many);
	ck_assert_double_lt(more / many, 1.01);
	ck_assert_double_lt(run(50, 50, 1, 0, 0).sd, run(5, 5, 1, 0, 0).sd);
}
END_TEST

/* Of 95 % intervals, as standard errors have them, 95 % hold the truth. */
START_TEST(standard_errors_are_neither_bold_nor_shy)
{
	uint64_t state = unit_seed();
	unsigned long long seed = state;
	int inside = 0, trials = 2000;

	for (int n = 0; n < trials; n++) {
		double p = 0.1 + 0.8 * flow_make_uniform(&state);
		uint64_t taken = 0;
		struct result r;

		for (int i = 0; i < 60; i++)
			taken += flow_make_uniform(&state) < p;
		r = run(taken, 60 - taken, 1, 0, 0);
		inside += fabs(r.taken - p) < 1.96 * r.sd;
	}
	ck_assert_msg(inside > trials * 0.91 && inside < trials * 0.985,
		      "SEED=%#llx: %d of %d", seed, inside, trials);
}
END_TEST

/* A jump table of three: no outcome can be told from another. */
START_TEST(indirect_jumps_go_where_the_time_is)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_INDIRECT }, { 0, 2, EDGE_INDIRECT },
		{ 0, 3, EDGE_INDIRECT }, { 1, 4, EDGE_RETURN },
		{ 2, 4, EDGE_RETURN },   { 3, 4, EDGE_RETURN },
	};
	struct guess guess[16] = { { 0 } };
	struct freq_input in = { 0 };
	struct branchprob bp;
	struct arena arena;
	struct equiv eq;

	arena_init(&arena, 0);
	in.cfg = cfg_make(&arena, 5, edge, NR(edge));
	ck_assert_int_eq(equiv_build(in.cfg, &arena, &eq), 0);
	for (int b = 1; b < 4; b++)
		guess[eq.block[b]] = (struct guess){ true, false, 10 * b, 0.5 };
	ck_assert_int_eq(branchprob_build(&in, &eq, guess, &arena, &bp), 0);
	for (int e = 0; e < 3; e++)
		ck_assert_double_eq_tol(bp.probability[e], (e + 1) / 6.0, 1e-3);
	arena_fini(&arena);
}
END_TEST

/* A loop of ten rounds; outcomes say two. */
START_TEST(what_the_code_fixes_needs_no_outcomes)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL },
		{ 1, 1, EDGE_TAKEN },
		{ 1, 2, EDGE_FALL },
		{ 2, 3, EDGE_RETURN },
	};
	const double fixed[] = { NAN, 0.9, 0.1, NAN };
	const struct count outcomes[] = { { 0 },
					  { .taken = 50, .not_taken = 50 },
					  { 0 } };
	struct guess guess[16] = { { 0 } };
	struct freq_input in = { .outcomes = outcomes, .fixed = fixed };
	struct branchprob bp;
	struct arena arena;
	struct equiv eq;
	struct cfg *cfg;

	arena_init(&arena, 0);
	cfg = cfg_make(&arena, 4, edge, NR(edge));
	for (int b = 0; b < 3; b++) {
		cfg->block[b].first_insn = b;
		cfg->block[b].nr_insns = 1;
	}
	cfg->nr_insns = 3;
	in.cfg = cfg;
	ck_assert_int_eq(equiv_build(cfg, &arena, &eq), 0);
	ck_assert_int_eq(branchprob_build(&in, &eq, guess, &arena, &bp), 0);
	ck_assert_double_eq(bp.probability[0], 1);
	ck_assert_double_eq(bp.probability[1], 0.9);
	ck_assert_double_eq(bp.probability[2], 0.1);
	ck_assert_double_eq(bp.sd[1], 0);
	ck_assert(isinf(bp.outcomes[1]));
	arena_fini(&arena);
}
END_TEST

static Suite *branchprob_suite(void)
{
	Suite *s = suite_create("branchprob");
	TCase *t = tcase_create("branchprob");

	tcase_add_loop_test(t, probabilities_follow_outcomes_then_time, 0,
			    (int)NR(cases));
	tcase_add_test(t, more_outcomes_are_worth_more_up_to_their_bias);
	tcase_add_test(t, standard_errors_are_neither_bold_nor_shy);
	tcase_add_test(t, indirect_jumps_go_where_the_time_is);
	tcase_add_test(t, what_the_code_fixes_needs_no_outcomes);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(branchprob_suite)
