/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ticks and random samples of programs whose time, and whose bias, is known. */
#include "config.h"

#include "analysis/freq/combine.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "t/unit/unit.h"

#define TICK     4e6
#define RANDOM   10e6
#define MAX_ROWS 400

static double random_unit(uint64_t *seed)
{
	return ((double)(unit_random(seed) >> 11) + 0.5) / (double)(1ULL << 53);
}

/* How many of a Poisson process's events come before mean (Knuth). */
static uint64_t draw_poisson(uint64_t *seed, double mean)
{
	double t = -log(random_unit(seed));
	uint64_t n = 0;

	for (; t < mean; n++)
		t -= log(random_unit(seed));
	return n;
}

/* Both streams of a row that takes time; ticks meet it bias times as often. */
static struct combine_row draw_row(uint64_t *seed, double time_ns, double bias)
{
	return (struct combine_row){
		.ticks_ns = (double)draw_poisson(seed, time_ns * bias / TICK) * TICK,
		.random_ns = (double)draw_poisson(seed, time_ns / RANDOM) * RANDOM,
	};
}

/* Σ over all outcomes at least as far out, by Pascal's triangle. */
static double enumerate(unsigned int ticks, unsigned int random, double share)
{
	unsigned int n = ticks + random;
	double row[64] = { 1 }, low = 0, high = 0;

	for (unsigned int i = 1; i <= n; i++) {
		for (unsigned int k = i; k > 0; k--)
			row[k] = row[k] * (1 - share) + row[k - 1] * share;
		row[0] *= 1 - share;
	}
	for (unsigned int k = 0; k <= n; k++) {
		low += k <= ticks ? row[k] : 0;
		high += k >= ticks ? row[k] : 0;
	}
	low = ticks < n * share ? low : high;
	return low < 0.5 ? 2 * low : 1;
}

START_TEST(chance_is_that_of_all_outcomes_as_far_out)
{
	static const double shares[] = { 0.05, 0.3, 0.5, 0.714, 0.99 };
	double share = shares[_i];

	for (unsigned int n = 0; n < 60; n++) {
		for (unsigned int ticks = 0; ticks <= n; ticks++) {
			double want = enumerate(ticks, n - ticks, share);
			double got = combine_chance(ticks, n - ticks, share);

			ck_assert_msg(fabs(got - want) < 1e-9,
				      "%u of %u at %g: %g, wanted %g", ticks, n, share,
				      got, want);
		}
	}
}
END_TEST

START_TEST(chance_goes_on_where_it_is_no_longer_summed)
{
	/* 2000 are summed, 2010 are not: five steps out are the same on both sides. */
	for (double sigmas = 0; sigmas < 5; sigmas += 0.5) {
		double off = sigmas * sqrt(2000 * 0.7 * 0.3);
		uint64_t small = (uint64_t)(2000 * 0.7 - off);
		uint64_t large = (uint64_t)(2010 * 0.7 - off);
		double a = combine_chance(small, 2000 - small, 0.7);
		double b = combine_chance(large, 2010 - large, 0.7);

		ck_assert_msg(fabs(log(a / b)) < 0.3, "%g sigma: %g, %g", sigmas, a, b);
	}
	ck_assert(combine_chance(1000000000, 1, 0.7) < 1e-300);
	ck_assert(combine_chance(700000000, 300000000, 0.7) > 0.99);
}
END_TEST

START_TEST(pooled_time_is_the_count_over_both_rates)
{
	struct combine_row rows[] = {
		{ .ticks_ns = 25 * TICK, .random_ns = 10 * RANDOM },
		{ .ticks_ns = 50 * TICK, .random_ns = 20 * RANDOM },
		{ .ticks_ns = 0, .random_ns = 1 * RANDOM },
		{ .ticks_ns = 2 * TICK, .random_ns = 0 }
	};
	double scale, rate, sum = 0;

	ck_assert_int_eq(combine_rows(rows, NR(rows), TICK, RANDOM, &scale), 0);
	rate = 1 / (TICK * scale) + 1 / RANDOM;
	ck_assert(fabs(scale - 310.0 / 308) < 1e-9);
	for (size_t i = 0; i < NR(rows); i++) {
		double n = rows[i].ticks_ns / TICK + rows[i].random_ns / RANDOM;

		ck_assert(!rows[i].departs);
		ck_assert(fabs(rows[i].time_ns - n / rate) < 1);
		ck_assert(fabs(rows[i].sigma_ns - sqrt(n) / rate) < 1);
		sum += rows[i].time_ns;
	}
	ck_assert(fabs(sum - 31 * RANDOM) < 1); /* the random samples' time */
}
END_TEST

START_TEST(one_stream_alone_is_refused)
{
	struct combine_row row = { .ticks_ns = _i ? 4 * TICK : 0,
				   .random_ns = _i ? 0 : 4 * RANDOM };
	struct combine_row before = row;
	double scale = 7;

	ck_assert_int_eq(combine_rows(&row, 1, TICK, RANDOM, &scale), -ENODATA);
	ck_assert_int_eq(combine_rows(&row, 0, TICK, RANDOM, &scale), -ENODATA);
	ck_assert_mem_eq(&row, &before, sizeof(row));
	ck_assert(scale == 7);
}
END_TEST

/* Of each ten rows one is timer-locked: never met, met half as often, or four times. */
static const struct {
	double bias, overall; /* of the locked rows; of all of them */
} planted[] = {
	{ 0, 1 }, { 0.25, 1 }, { 4, 1 }, { 0, 0.9 }, { 4, 1.25 },
};

START_TEST(planted_bias_is_found_and_left_out)
{
	uint64_t seed = unit_seed(), first = seed;
	struct combine_row rows[MAX_ROWS];
	double truth[MAX_ROWS], scale, pooled = 0, random = 0, locked = 0, naive = 0;
	size_t false_marks = 0;

	for (size_t i = 0; i < MAX_ROWS; i++) {
		double bias = i % 10 ? 1 : planted[_i].bias;

		truth[i] = exp(random_unit(&seed) * 2) * 1e9;
		rows[i] = draw_row(&seed, truth[i], bias * planted[_i].overall);
	}
	ck_assert_int_eq(combine_rows(rows, MAX_ROWS, TICK, RANDOM, &scale), 0);
	for (size_t i = 0; i < MAX_ROWS; i++) {
		double off = rows[i].time_ns - truth[i];

		if (i % 10 == 0) {
			ck_assert_msg(rows[i].departs, "seed %llu: row %zu",
				      (unsigned long long)first, i);
			ck_assert(rows[i].time_ns == rows[i].random_ns);
			locked += fabs(off);
			naive += fabs(rows[i].ticks_ns - truth[i]);
			continue;
		}
		false_marks += rows[i].departs;
		pooled += off * off;
		random +=
			(rows[i].random_ns - truth[i]) * (rows[i].random_ns - truth[i]);
	}
	/* 360 rows, of which one in a hundred is expected to be marked: 5 sigma. */
	ck_assert_msg(false_marks < 3.6 + 5 * sqrt(3.6), "seed %llu: %zu marks",
		      (unsigned long long)first, false_marks);
	/* The variance is 2/7 of that of random samples alone, and what marks cost. */
	ck_assert_msg(pooled < random * 0.7, "seed %llu: %g of %g",
		      (unsigned long long)first, pooled, random);
	ck_assert_msg(locked < naive / 2, "seed %llu: %g, %g",
		      (unsigned long long)first, locked, naive);
	ck_assert_msg(fabs(scale * planted[_i].overall - 1) < 0.05, "seed %llu: %g",
		      (unsigned long long)first, scale);
}
END_TEST

START_TEST(most_rows_may_be_locked_while_most_of_the_time_is_not)
{
	uint64_t seed = unit_seed(), first = seed;
	struct combine_row rows[10];
	double scale;

	for (size_t i = 0; i < NR(rows); i++)
		rows[i] = draw_row(&seed, i < 4 ? 40e9 : 10e9, i < 4 ? 1 : 0);
	ck_assert_int_eq(combine_rows(rows, NR(rows), TICK, RANDOM, &scale), 0);
	for (size_t i = 4; i < NR(rows); i++)
		ck_assert_msg(rows[i].departs, "seed %llu: row %zu",
			      (unsigned long long)first, i);
	ck_assert_msg(fabs(scale - 1) < 0.05, "seed %llu: %g",
		      (unsigned long long)first, scale);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("combine");
	TCase *tc = tcase_create("combine");

	tcase_add_loop_test(tc, chance_is_that_of_all_outcomes_as_far_out, 0, 5);
	tcase_add_test(tc, chance_goes_on_where_it_is_no_longer_summed);
	tcase_add_test(tc, pooled_time_is_the_count_over_both_rates);
	tcase_add_loop_test(tc, one_stream_alone_is_refused, 0, 2);
	tcase_add_loop_test(tc, planted_bias_is_found_and_left_out, 0, NR(planted));
	tcase_add_test(tc, most_rows_may_be_locked_while_most_of_the_time_is_not);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
