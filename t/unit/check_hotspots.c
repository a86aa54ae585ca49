/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/explain/hotspots.h"

#include "t/unit/unit.h"

#define NR_ROWS 1000
#define AROUND  5

static bool is_near(const double *weight, size_t i, double least)
{
	for (size_t k = i > AROUND ? i - AROUND : 0; k <= i + AROUND && k < NR_ROWS;
	     k++) {
		if (weight[k] >= least)
			return true;
	}
	return false;
}

/* Shown is what is near a row as heavy as the lightest one that is needed. */
START_TEST(rows_near_the_heaviest_are_shown)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1;
	double weight[NR_ROWS], all = 0, covered = 0, least = 0;
	bool used[NR_ROWS] = { false };
	struct hotspots h;

	for (size_t i = 0; i < NR_ROWS; i++) {
		weight[i] = unit_random(&state) % 20
				    ? 0
				    : 1 + i / 1e6 + unit_random(&state) % 100;
		all += weight[i];
	}
	for (int n = 0; n < 40 && covered < 0.9 * all; n++) {
		size_t best = 0;

		for (size_t i = 0; i < NR_ROWS; i++) {
			if (!used[i] && (used[best] || weight[i] > weight[best]))
				best = i;
		}
		used[best] = true;
		covered += least = weight[best];
	}
	ck_assert_int_eq(hotspots_find(weight, NR_ROWS, &h), 0);
	for (size_t i = 0; i < NR_ROWS; i++)
		ck_assert_msg(hotspots_shows(&h, i) == is_near(weight, i, least),
			      "seed %llu, row %zu", (unsigned long long)seed, i);
	hotspots_fini(&h);
}
END_TEST

START_TEST(short_and_cold_listings_are_whole)
{
	double weight[NR_ROWS] = { 0 };
	struct hotspots h;

	ck_assert_int_eq(hotspots_find(weight, NR_ROWS, &h), 0);
	ck_assert(hotspots_shows(&h, NR_ROWS / 2));
	ck_assert_uint_eq(hotspots_next(&h, 5), 6);
	hotspots_fini(&h);
	weight[0] = 1;
	ck_assert_int_eq(hotspots_find(weight, 60, &h), 0);
	ck_assert(hotspots_shows(&h, 59));
	hotspots_fini(&h);
	ck_assert_int_eq(hotspots_find(weight, 61, &h), 0);
	ck_assert(!hotspots_shows(&h, 59));
	ck_assert_uint_eq(hotspots_next(&h, 6), 61);
	hotspots_fini(&h);
}
END_TEST

static Suite *hotspots_suite(void)
{
	Suite *s = suite_create("hotspots");
	TCase *t = tcase_create("hotspots");

	tcase_add_loop_test(t, rows_near_the_heaviest_are_shown, 0, 100);
	tcase_add_test(t, short_and_cold_listings_are_whole);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(hotspots_suite)
