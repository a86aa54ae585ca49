/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/spots.h"

#include <math.h>

#include "t/unit/unit.h"

#define MAX_AMOUNTS 1000

static int descending(const void *va, const void *vb)
{
	const double a = *(const double *)va, b = *(const double *)vb;

	return (a < b) - (a > b);
}

/* Of any amounts in any order, the greatest are kept, and no more. */
START_TEST(the_greatest_are_kept)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	const size_t limit = 1 + unit_random(&state) % 50;
	const size_t nr = unit_random(&state) % MAX_AMOUNTS;
	double amount[MAX_AMOUNTS];
	const struct spot *sorted;
	struct spots spots;
	struct spot *spot;
	size_t kept;

	spots_init(&spots, limit);
	for (size_t i = 0; i < nr; i++) {
		amount[i] = 1 + (double)(unit_random(&state) % 300);
		ck_assert_int_eq(spots_add(&spots, amount[i], &spot), 0);
		if (spot)
			spot->offset = i;
		ck_assert_uint_le(spots.spot.len, 2 * limit * sizeof(*spot));
	}
	qsort(amount, nr, sizeof(amount[0]), descending);
	sorted = spots_sorted(&spots, &kept);
	ck_assert_uint_eq(kept, nr < limit ? nr : limit);
	for (size_t i = 0; i < kept; i++)
		ck_assert_msg(sorted[i].amount == amount[i], "seed %llu, place %zu",
			      (unsigned long long)seed, i);
	spots_fini(&spots);
}
END_TEST

START_TEST(what_is_nothing_is_not_kept)
{
	static const double nothing[] = { 0, -1, (double)NAN };
	struct spots spots;
	struct spot *spot;
	size_t nr;

	spots_init(&spots, 0);
	for (size_t i = 0; i < NR(nothing); i++) {
		ck_assert_int_eq(spots_add(&spots, nothing[i], &spot), 0);
		ck_assert_ptr_null(spot);
	}
	spots_sorted(&spots, &nr);
	ck_assert_uint_eq(nr, 0);
	spots_fini(&spots);
}
END_TEST

static Suite *spots_suite(void)
{
	Suite *s = suite_create("spots");
	TCase *t = tcase_create("spots");

	tcase_add_loop_test(t, the_greatest_are_kept, 0, 100);
	tcase_add_test(t, what_is_nothing_is_not_kept);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(spots_suite)
