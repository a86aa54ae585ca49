/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "decode/rates.h"
#include "t/records/text.h"
#include "t/unit/random.h"

/* Exact: the chi-squared quantiles of Garwood 1936, from tables. */
static const struct {
	uint64_t k;
	double low, high;
} exact[] = {
	{ 0, 0, 3.689 },          { 1, 0.0253, 5.572 },  { 2, 0.242, 7.225 },
	{ 5, 1.623, 11.668 },     { 10, 4.795, 18.390 }, { 50, 37.111, 65.919 },
	{ 100, 81.364, 121.627 },
};

START_TEST(few_samples_have_wide_intervals)
{
	const struct interval i = interval_count(exact[_i].k, 1e9);

	ck_assert_double_eq_tol(i.value, exact[_i].k * 1e9, 1);
	ck_assert_double_eq_tol(i.low, exact[_i].low * 1e9,
				(0.02 + 0.01 * exact[_i].low) * 1e9);
	ck_assert_double_eq_tol(i.high, exact[_i].high * 1e9,
				0.01 * exact[_i].high * 1e9);
}
END_TEST

START_TEST(a_period_of_one_counts_exactly)
{
	const struct interval i = interval_count(42, 1);

	ck_assert_double_eq(i.low, 42);
	ck_assert_double_eq(i.high, 42);
}
END_TEST

/* Newcombe 1998, method 3. */
static const struct {
	uint64_t k, n;
	double low, high;
} shares[] = {
	{ 81, 263, 0.2553, 0.3662 }, { 15, 148, 0.0624, 0.1605 }, { 0, 20, 0, 0.1611 },
	{ 1, 29, 0.0061, 0.1718 },   { 20, 20, 0.8389, 1 },
};

START_TEST(shares_have_wilsons_intervals)
{
	const struct interval i = interval_share(shares[_i].k, shares[_i].n);

	ck_assert_double_eq_tol(i.low, shares[_i].low, 6e-5);
	ck_assert_double_eq_tol(i.high, shares[_i].high, 6e-5);
}
END_TEST

/* Of k in k + n, Clopper and Pearson's interval, as a ratio; Wilson's is near it. */
static const struct {
	uint64_t k, n;
	double low, high;
} ratios[] = {
	{ 100, 100, 0.752, 1.330 },
	{ 1000, 500, 1.793, 2.231 },
	{ 10, 40, 0.1112, 0.5108 },
};

START_TEST(ratios_of_counts_have_the_interval_of_the_share)
{
	const struct interval i = interval_ratio(ratios[_i].k, ratios[_i].n);

	ck_assert_double_eq_tol(i.value, (double)ratios[_i].k / (double)ratios[_i].n,
				1e-12);
	ck_assert_double_eq_tol(i.low, ratios[_i].low, 0.15 * ratios[_i].low);
	ck_assert_double_eq_tol(i.high, ratios[_i].high, 0.15 * ratios[_i].high);
}
END_TEST

START_TEST(a_ratio_to_nothing_has_no_upper_end)
{
	const struct interval none = interval_ratio(0, 0), some = interval_ratio(5, 0);

	ck_assert_double_nan(none.value);
	ck_assert(none.low == 0 && isinf(none.high));
	ck_assert(isinf(some.value) && some.low > 0 && isinf(some.high));
}
END_TEST

#define NR_INSNS 400

/*
 * Section 5.1 and Figure 3: instructions are fetched so and so often, each S-th of
 * all is sampled at random; estimates are to lie within 1/sqrt(k) of what is true in
 * two thirds of the cases, whatever k is, and in the interval in 95 of 100. All
 * bounds are passed by chance in less than 1e-4 of runs.
 */
static const double lengths[] = { 50, 200, 800 }; /* samples of an instruction */

START_TEST(estimates_converge_as_one_over_the_root)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	const double period = 1000, mean = lengths[_i];
	double nr = 0, in_envelope = 0, in_interval = 0, error = 0;

	for (int i = 0; i < 10 * NR_INSNS; i++) {
		const double fetched =
			floor(mean * period * (0.5 + random_uniform(&state)));
		const double share = 0.02 + 0.9 * random_uniform(&state);
		const double expected = fetched * share / period;
		const double k = random_poisson(&state, expected);
		const struct interval in = interval_count(k, period);
		const double off = fabs(in.value / (fetched * share) - 1);

		if (expected < 20)
			continue; /* the normal distribution is far */
		nr++;
		in_envelope += off <= 1 / sqrt(expected);
		in_interval += in.low <= fetched * share && fetched * share <= in.high;
		error += off * sqrt(expected);
	}
	ck_assert_msg(fabs(in_envelope / nr - 0.6827) < 4 * sqrt(0.25 / nr) + 0.01,
		      "seed %" PRIu64 ": %g of %g", seed, in_envelope, nr);
	ck_assert_msg(fabs(in_interval / nr - 0.95) < 4 * sqrt(0.05 / nr) + 0.01,
		      "seed %" PRIu64 ": %g of %g", seed, in_interval, nr);
	ck_assert_msg(fabs(error / nr - sqrt(2 / M_PI)) < 4 / sqrt(nr) + 0.01,
		      "seed %" PRIu64 ": %g", seed, error / nr);
}
END_TEST

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool near(double got, double want)
{
	return fabs(got - want) <= want / 32;
}

START_TEST(quantiles_are_those_of_the_sorted_latencies)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1, v[999];

	for (int round = 0; round < 200; round++) {
		const uint64_t n = 1 + unit_random(&state) % NR(v);
		struct profile *p = profile_new();
		struct rates_latency got;
		struct records_row row;

		for (uint64_t i = 0; i < n; i++) {
			struct hw_record hw = { 0 };

			v[i] = unit_random(&state) >> (44 + unit_random(&state) % 20);
			hw_set(&hw, HW_MEMORY, v[i]);
			ck_assert_int_eq(rates_add(p, 8, &hw), 0);
		}
		qsort(v, n, sizeof(*v), by_value);
		row = records_at(profile_records(p), 8);
		ck_assert(!rates_latency(&row, RECORD_TIME_FETCH, &got));
		ck_assert(rates_latency(&row, RECORD_TIME_MEMORY, &got));
		ck_assert_uint_eq(got.n, n);
		ck_assert_msg(near(got.min, v[0]) && near(got.max, v[n - 1]) &&
				      near(got.median, v[(n - 1) / 2]) &&
				      near(got.p99, v[n - 1 - n / 100]),
			      "seed %" PRIu64, seed);
		profile_free(p);
	}
}
END_TEST

START_TEST(every_fact_of_a_record_is_kept_under_its_name)
{
	for (int i = 0; i < HW_NR_FLAGS + HW_NR_VALUES - HW_FIRST_LATENCY; i++) {
		struct hw_record hw = { 0 };
		struct record one;

		if (i < HW_NR_FLAGS) {
			hw_tell(&hw, i, true);
			rates_record(&hw, &one);
			ck_assert_uint_eq(one.seen, one.known & ~1u);
			ck_assert_str_eq(record_event_str(__builtin_ctz(one.seen)),
					 hw_flag_str(i));
			ck_assert_uint_eq(one.timed, 0);
			continue;
		}
		hw_set(&hw, i - HW_NR_FLAGS + HW_FIRST_LATENCY, 7);
		rates_record(&hw, &one);
		ck_assert_uint_eq(one.known, 1);
		ck_assert_str_eq(record_latency_str(__builtin_ctz(one.timed)),
				 hw_value_str(i - HW_NR_FLAGS + HW_FIRST_LATENCY));
		ck_assert_uint_eq(one.cycles[__builtin_ctz(one.timed)], 7);
	}
}
END_TEST

START_TEST(what_is_not_told_is_neither_seen_nor_not)
{
	struct profile *p = profile_new();
	struct hw_record hw = { 0 };
	struct rates_event e;
	struct records_row row;

	hw_tell(&hw, HW_L1D_MISS, false);
	rates_add(p, 4, &hw);
	hw = (struct hw_record){ 0 };
	rates_add(p, 4, &hw);
	row = records_at(profile_records(p), 4);
	ck_assert(rates_event(&row, RECORD_L1D_MISS, 10, &e));
	ck_assert_uint_eq(e.known, 1);
	ck_assert_uint_eq(e.seen, 0);
	ck_assert(!rates_event(&row, RECORD_DTLB_MISS, 10, &e));
	ck_assert(rates_event(&row, RECORD_ANY, 10, &e));
	ck_assert_uint_eq(e.known, 2);
	profile_free(p);
}
END_TEST

START_TEST(hot_addresses_come_first_with_their_bounds)
{
	struct rates_address list[RECORDS_ADDRESSES];
	struct profile *p = profile_new();
	struct records_row row;
	int nr;

	for (uint64_t i = 0; i < 3000; i++) {
		struct hw_record hw = { 0 };

		hw_set(&hw, HW_DATA_ADDRESS,
		       i % 3 == 0   ? 0xabc0
		       : i % 3 == 1 ? 0x1000 + 8 * (i % 2)
				    : i << 20);
		rates_add(p, 4, &hw);
	}
	row = records_at(profile_records(p), 4);
	nr = rates_addresses(&row, list);
	ck_assert_int_ge(nr, 3);
	ck_assert_uint_eq(list[0].address, 0xabc0);
	for (int i = 0; i < 3; i++) {
		const uint64_t truth = i ? 500 : 1000;

		ck_assert_uint_le(list[i].least, truth);
		ck_assert_uint_ge(list[i].most, truth);
		ck_assert_uint_le(list[i].most - list[i].least, 3000 / 17);
	}
	profile_free(p);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("rates");
	TCase *tc = tcase_create("rates");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, few_samples_have_wide_intervals, 0, NR(exact));
	tcase_add_test(tc, a_period_of_one_counts_exactly);
	tcase_add_loop_test(tc, shares_have_wilsons_intervals, 0, NR(shares));
	tcase_add_loop_test(tc, ratios_of_counts_have_the_interval_of_the_share, 0,
			    NR(ratios));
	tcase_add_test(tc, a_ratio_to_nothing_has_no_upper_end);
	tcase_add_loop_test(tc, estimates_converge_as_one_over_the_root, 0,
			    NR(lengths));
	tcase_add_test(tc, quantiles_are_those_of_the_sorted_latencies);
	tcase_add_test(tc, every_fact_of_a_record_is_kept_under_its_name);
	tcase_add_test(tc, what_is_not_told_is_neither_seen_nor_not);
	tcase_add_test(tc, hot_addresses_come_first_with_their_bounds);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
