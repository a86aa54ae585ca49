/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/freq/shape.h"

#include <math.h>

#include "t/unit/random.h"
#include "t/unit/unit.h"

#define NR_INSNS 10
#define INSN(a, b, class)         \
	{                         \
		a, b, class, 0, 0 \
	}
#define TRIALS 10000 /* 4 % are expected of the hardest change, 5 % are allowed */

/*
 * A procedure of three classes: its entry, a loop, and a part of the loop. B's samples
 * are A's, times these.
 */
static const struct {
	const char *what;
	double by[NR_INSNS];
	double calls;
	bool grew;
	enum shape_kind want;
} changes[] = {
	{ "a stall in the loop",
	  { 1, 1, 1, 1, 4, 1, 1, 1, 1, 1 },
	  1,
	  true,
	  SHAPE_CYCLES },
	{ "a stall, and the caller too",
	  { 1, 1, 1, 1, 4, 1, 1, 1, 1, 1 },
	  1.8,
	  true,
	  SHAPE_CYCLES },
	{ "a stall that went",
	  { 1, 1, 1, 1, 0.1, 1, 1, 1, 1, 1 },
	  1,
	  false,
	  SHAPE_CYCLES },
	{ "twice the calls",
	  { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 },
	  2,
	  true,
	  SHAPE_FREQUENCY },
	{ "half the calls",
	  { .5, .5, .5, .5, .5, .5, .5, .5, .5, .5 },
	  .5,
	  false,
	  SHAPE_FREQUENCY },
	{ "twice the iterations",
	  { 1, 1, 1, 2, 2, 2, 2, 2, 2, 2 },
	  1,
	  true,
	  SHAPE_FREQUENCY },
	{ "all of it, no caller known",
	  { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 },
	  0,
	  true,
	  SHAPE_UNDETERMINED },
	{ "all of it, as many calls",
	  { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 },
	  1,
	  true,
	  SHAPE_UNDETERMINED },
	{ "nothing", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 1, true, SHAPE_UNDETERMINED },
};

static const double samples[NR_INSNS] = { 60, 40, 50, 300, 800, 200, 400, 90, 120, 70 };
static const int class_of[NR_INSNS] = { 0, 0, 0, 1, 1, 1, 1, 2, 2, 2 };

START_TEST(changes_are_told_apart)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct shape_insn insn[NR_INSNS];
	struct shape_verdict v;
	int wrong = 0;

	for (int n = 0; n < TRIALS; n++) {
		const double size = 0.5 + 2 * random_uniform(&state);
		struct shape_input in = { .insn = insn, .nr = NR_INSNS, .size = size };

		for (int i = 0; i < NR_INSNS; i++)
			insn[i] = (struct shape_insn){
				random_poisson(&state, samples[i]),
				random_poisson(&state,
					       samples[i] * size * changes[_i].by[i]),
				class_of[i], 0, 0
			};
		if (changes[_i].calls > 0) {
			in.calls_a = random_poisson(&state, 150);
			in.calls_b =
				random_poisson(&state, 150 * size * changes[_i].calls);
		}
		ck_assert_int_eq(shape_judge(&in, &v), 0);
		wrong += v.kind != changes[_i].want;
	}
	ck_assert_msg(wrong <= TRIALS / 20, "seed %llu: %s: %d of %d are wrong",
		      (unsigned long long)seed, changes[_i].what, wrong, TRIALS);
}
END_TEST

/* A conditional part of the loop that runs on one side only; the loop stays. */
START_TEST(added_code_makes_it_slower)
{
	struct shape_insn insn[] = { INSN(20, 22, 0),   INSN(300, 20, 1),
				     INSN(500, 560, 1), INSN(200, 420, 1),
				     INSN(0, 510, 2),   INSN(0, 130, 2) };
	struct shape_input in = { .insn = insn, .nr = NR(insn), .size = 1 };
	struct shape_verdict v;

	ck_assert_int_eq(shape_judge(&in, &v), 0);
	ck_assert_int_eq(v.kind, SHAPE_CYCLES);
	ck_assert_double_gt(v.added, 0.9);
	for (size_t i = 0; i < NR(insn); i++) { /* and without it, faster */
		const double a = insn[i].a;

		insn[i].a = insn[i].b;
		insn[i].b = a;
	}
	ck_assert_int_eq(shape_judge(&in, &v), 0);
	ck_assert_int_eq(v.kind, SHAPE_CYCLES);
}
END_TEST

/* The loop grew as well, so the added code is not all. */
START_TEST(added_code_is_not_all)
{
	const struct shape_insn insn[] = {
		INSN(300, 1200, 1), INSN(500, 2000, 1), INSN(200, 800, 1),
		INSN(0, 510, 2),    INSN(0, 130, 2),
	};
	const struct shape_input in = { .insn = insn, .nr = NR(insn), .size = 1 };
	struct shape_verdict v;

	ck_assert_int_eq(shape_judge(&in, &v), 0);
	ck_assert_int_eq(v.kind, SHAPE_UNDETERMINED);
	ck_assert_double_lt(v.added, 0.5);
}
END_TEST

/* All of it doubled. What is known besides decides. */
START_TEST(executions_decide)
{
	static const struct {
		double steady_a, steady_b;
		struct freq_interval a, b;
		enum shape_kind want;
		double runs; /* 0: not known */
	} tests[] = {
		{ 0, 0, { 0, 0, 0 }, { 0, 0, 0 }, SHAPE_UNDETERMINED, 0 },
		{ 200, 400, { 0, 0, 0 }, { 0, 0, 0 }, SHAPE_FREQUENCY, 2 },
		{ 20, 40, { 0, 0, 0 }, { 0, 0, 0 }, SHAPE_UNDETERMINED, 0 },
		{ 400, 420, { 0, 0, 0 }, { 0, 0, 0 }, SHAPE_CYCLES, 1.05 },
		{ 0, 0, { 90, 100, 110 }, { 180, 200, 220 }, SHAPE_FREQUENCY, 2 },
		{ 0, 0, { 90, 100, 110 }, { 90, 100, 110 }, SHAPE_CYCLES, 1 },
		{ 0, 0, { 40, 100, 250 }, { 80, 200, 500 }, SHAPE_UNDETERMINED, 2 },
		/* The interval of one side is too wide for a value. */
		{ 0, 0, { 1, 100, 110 }, { 90, 100, 110 }, SHAPE_UNDETERMINED, 0 },
		/* What was measured outweighs the steady instructions. */
		{ 200, 400, { 90, 100, 110 }, { 90, 100, 110 }, SHAPE_CYCLES, 1 },
	};
	struct shape_insn insn[] = { INSN(300, 600, 0), INSN(500, 1000, 0),
				     INSN(200, 400, 0) };
	struct shape_input in = {
		.insn = insn, .nr = NR(insn), .size = 1, .time_size = 1
	};
	struct shape_verdict v;

	insn[0].steady_a = tests[_i].steady_a;
	insn[0].steady_b = tests[_i].steady_b;
	in.runs_a = tests[_i].a;
	in.runs_b = tests[_i].b;
	ck_assert_int_eq(shape_judge(&in, &v), 0);
	ck_assert_int_eq(v.kind, tests[_i].want);
	if (tests[_i].runs > 0)
		ck_assert_double_eq_tol(v.runs.likely, tests[_i].runs, 0.02);
	else
		ck_assert(isnan(v.runs.likely));
}
END_TEST

START_TEST(few_samples_tell_nothing)
{
	struct shape_insn insn[] = { INSN(3, 9, 0), INSN(2, 4, 0), INSN(0, 5, 1) };
	const struct shape_input in = {
		.insn = insn, .nr = NR(insn), .size = 1, .calls_a = 2, .calls_b = 4
	};
	const struct shape_input none = { .insn = insn, .size = 1 };
	struct shape_verdict v;

	ck_assert_int_eq(shape_judge(&in, &v), 0);
	ck_assert_int_eq(v.kind, SHAPE_UNDETERMINED);
	ck_assert_int_eq(shape_judge(&none, &v), 0);
	ck_assert_int_eq(v.kind, SHAPE_UNDETERMINED);
	ck_assert(isnan(v.calls));
}
END_TEST

START_TEST(verdicts_have_names)
{
	ck_assert_str_eq(shape_verdict_name(SHAPE_CYCLES, true), "slower");
	ck_assert_str_eq(shape_verdict_name(SHAPE_CYCLES, false), "faster");
	ck_assert_str_eq(shape_verdict_name(SHAPE_FREQUENCY, true), "more often");
	ck_assert_str_eq(shape_verdict_name(SHAPE_FREQUENCY, false), "less often");
	ck_assert_str_eq(shape_verdict_name(SHAPE_UNDETERMINED, true), "undetermined");
	ck_assert_str_eq(shape_verdict_text(SHAPE_UNDETERMINED, true),
			 "changed (cause unknown)");
	ck_assert_str_eq(shape_verdict_text(SHAPE_CYCLES, true), "slower");
}
END_TEST

static Suite *shape_suite(void)
{
	Suite *s = suite_create("shape");
	TCase *t = tcase_create("shape");

	tcase_add_loop_test(t, changes_are_told_apart, 0, NR(changes));
	tcase_add_test(t, added_code_makes_it_slower);
	tcase_add_test(t, added_code_is_not_all);
	tcase_add_loop_test(t, executions_decide, 0, 9);
	tcase_add_test(t, few_samples_tell_nothing);
	tcase_add_test(t, verdicts_have_names);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(shape_suite)
