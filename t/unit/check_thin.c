/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <math.h>

#include "ship/thin.h"
#include "t/unit/unit.h"

#define P        0.2
#define NR_DRAWS 20000
#define MOST     12
#define FAR      4.5 /* standard deviations: once in 150,000 looks */

/* How often k of n are kept, against the binomial distribution. */
START_TEST(draws_are_binomial)
{
	uint64_t state = unit_seed();

	for (unsigned int n = 0; n <= MOST; n++) {
		double seen[MOST + 1] = { 0 }, chance = pow(1 - P, n);

		for (int i = 0; i < NR_DRAWS; i++) {
			const uint64_t kept = thin_draw(&state, n);

			ck_assert_uint_le(kept, n);
			seen[kept]++;
		}
		for (unsigned int k = 0; k <= n; k++) {
			const double mean = NR_DRAWS * chance;

			ck_assert_double_le(fabs(seen[k] - mean),
					    FAR * sqrt(mean * (1 - chance)) + 2);
			chance *= (n - k) * P / ((k + 1) * (1 - P));
		}
	}
}
END_TEST

static const uint64_t many[] = { 1000, 65535, 65536, 1u << 30, UINT64_MAX };

/* Mean and variance, on both sides of the bound. */
START_TEST(many_samples_have_the_same_moments)
{
	const int nr = many[_i] < 100000 ? 1000 : 20000;
	const double n = (double)many[_i], sd = sqrt(n * P * (1 - P));
	uint64_t state = unit_seed();
	double sum = 0, squares = 0;

	for (int i = 0; i < nr; i++) {
		const double z = ((double)thin_draw(&state, many[_i]) - n * P) / sd;

		sum += z;
		squares += z * z;
	}
	ck_assert_double_le(fabs(sum) / sqrt(nr), FAR);
	ck_assert_double_le(fabs(squares / nr - 1) * sqrt(nr / 2.0), FAR);
}
END_TEST

START_TEST(seeds_differ)
{
	ck_assert_uint_ne(thin_seed(), thin_seed());
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("thin");
	TCase *tc = tcase_create("draws");

	tcase_add_test(tc, draws_are_binomial);
	tcase_add_loop_test(tc, many_samples_have_the_same_moments, 0,
			    sizeof(many) / sizeof(many[0]));
	tcase_add_test(tc, seeds_differ);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
