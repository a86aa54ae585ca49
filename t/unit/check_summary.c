/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/explain/calc.h"
#include "report/explain/summary.h"

#include "t/unit/unit.h"

static const struct {
	double tallied, error, few, busiest, kernel, want;
} needs[] = {
	{ 1000, 200, 0, 0, 0, 0 }, /* 20 % is enough */
	{ 1000, -200, 0, 0, 0, 0 },
	{ 70, 69.58, 0, 0, 0, 2000 },    /* 99.4 %: 70 × 4.97² = 1729 */
	{ 467, -382.94, 0, 0, 0, 8000 }, /* 82 %: 467 × 4.1² = 7850 */
	{ 100, 40, 300, 45, 0, 2000 },   /* of all 400, × 2² = 1600 */
	{ 0, 0, 300, 30, 0, 500 },       /* the busiest is to have 50 */
	{ 0, 0, 0, 0, 300, 0 },          /* more samples do not help the kernel */
};

START_TEST(samples_that_it_takes_follow_from_the_error)
{
	struct summary s = { .busiest = needs[_i].busiest };

	s.blame.samples = s.blame.tallied = needs[_i].tallied;
	s.blame.error = needs[_i].error;
	s.left[EXPLAIN_FEW_SAMPLES] = needs[_i].few;
	s.left[EXPLAIN_DEFERRED] = needs[_i].kernel;
	ck_assert_double_eq_tol(summary_needed(&s), needs[_i].want, 1e-6);
}
END_TEST

/* What is known, and below the best case by more than text shows. */
static const struct {
	double best;
	struct freq_interval actual;
	bool below;
} fast[] = {
	{ 0.67, { 0.50, 0.56, 0.70 }, true },
	{ 0.67, { 0.60, 0.667, 0.70 }, false }, /* both are shown as 0.67 */
	{ 0.67, { 0.60, 0.80, 0.90 }, false },
	{ 0.67, { 0.01, 0.56, 9.00 }, false }, /* shown as unknown */
	{ 0.67, { 0, 0, 0 }, false },          /* no samples */
	{ 0.67, { NAN, NAN, NAN }, false },
};

START_TEST(faster_than_best_is_told)
{
	ck_assert_int_eq(calc_is_below_best(fast[_i].best, &fast[_i].actual),
			 fast[_i].below);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("summary");
	TCase *tc = tcase_create("summary");

	tcase_add_loop_test(tc, faster_than_best_is_told, 0, NR(fast));
	tcase_add_loop_test(tc, samples_that_it_takes_follow_from_the_error, 0,
			    NR(needs));
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
