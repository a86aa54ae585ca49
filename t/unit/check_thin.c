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
					    FAR * sqrt(mean * fabs(1 - chance)) + 2);
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

/* Of 25 samples one. */
START_TEST(one_of_any_number_is_kept)
{
	const double n = 1000, p = 1 / 25.0, sd = sqrt(n * p * (1 - p));
	uint64_t state = unit_seed();
	double sum = 0;

	ck_assert_uint_eq(thin_draw_of(&state, 12345, 1), 12345);
	for (int i = 0; i < 1000; i++)
		sum += ((double)thin_draw_of(&state, 1000, 25) - n * p) / sd;
	ck_assert_double_le(fabs(sum) / sqrt(1000), FAR);
}
END_TEST

static double choose(unsigned int n, unsigned int k)
{
	double ways = 1;

	for (unsigned int i = 0; i < k; i++)
		ways *= (double)(n - i) / (i + 1);
	return k > n ? 0 : ways;
}

/* How many of n of 15 things are among the kept ones. */
START_TEST(draws_among_kept_ones_are_hypergeometric)
{
	const unsigned int all = 15;
	uint64_t state = unit_seed();

	for (unsigned int n = 0; n <= all; n += 3) {
		for (unsigned int kept = 0; kept <= all; kept += 5) {
			double seen[16] = { 0 };

			for (int i = 0; i < NR_DRAWS; i++)
				seen[thin_draw_among(&state, n, all, kept)]++;
			for (unsigned int k = 0; k <= all; k++) {
				const double chance =
					k > kept || k > n
						? 0
						: choose(n, k) *
							  choose(all - n, kept - k) /
							  choose(all, kept);
				const double mean = NR_DRAWS * chance;

				ck_assert_double_le(fabs(seen[k] - mean),
						    FAR * sqrt(mean *
							       fabs(1 - chance)) +
							    2 * (chance > 0));
			}
		}
	}
}
END_TEST

/* Drawn one after the other, all kept ones are given out, and none twice. */
START_TEST(parts_add_up)
{
	static const uint64_t parts[] = { 3, 100000, 0, 7, 65536, 1, UINT32_MAX };
	uint64_t state = unit_seed();

	for (int i = 0; i < 200; i++) {
		uint64_t all = 0, kept;

		for (size_t k = 0; k < 7; k++)
			all += parts[k];
		kept = i % 2 ? (uint64_t)i : all - (uint64_t)i * 1000;
		for (size_t k = 0; k < 7; k++) {
			const uint64_t n = thin_draw_among(&state, parts[k], all, kept);

			ck_assert_uint_le(n, parts[k]);
			ck_assert_uint_le(n, kept);
			all -= parts[k];
			kept -= n;
		}
		ck_assert_uint_eq(kept, 0);
	}
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
	tcase_add_test(tc, one_of_any_number_is_kept);
	tcase_add_test(tc, draws_among_kept_ones_are_hypergeometric);
	tcase_add_test(tc, parts_add_up);
	tcase_add_test(tc, seeds_differ);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
