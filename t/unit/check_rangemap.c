/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/rangemap.h"
#include "t/unit/unit.h"

#define SPACE 64 /* addresses in the oracle */

struct tally {
	int ranges[256];   /* by value, as on_cut reports changes */
	uint64_t cut_away; /* addresses */
};

static void on_cut(void *ctx, const struct range *piece, int nr_change)
{
	struct tally *t = ctx;

	t->ranges[(uintptr_t)piece->value] += nr_change;
	t->cut_away += piece->end - piece->start;
}

/* The oracle: an array with a value per address. */
START_TEST(agrees_with_an_array_of_addresses)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 300; round++) {
		uintptr_t value[SPACE] = { 0 };
		struct rangemap m = { 0 };
		struct tally tally = { 0 };
		uint64_t overwritten = 0;

		for (uintptr_t v = 1; v < 30; v++) {
			struct range r = { .start = unit_random(&state) % SPACE,
					   .bias = v,
					   .value = (void *)v };

			bool removes = unit_random(&state) % 4 == 0;

			r.end = r.start + 1 + unit_random(&state) % (SPACE - r.start);
			if (removes)
				ck_assert_int_eq(rangemap_remove(&m, r.start, r.end,
								 on_cut, &tally),
						 0);
			else
				ck_assert_int_eq(
					rangemap_insert(&m, &r, on_cut, &tally), 0);
			tally.ranges[v] += !removes;
			for (uint64_t a = r.start; a < r.end; a++) {
				overwritten += value[a] != 0;
				value[a] = removes ? 0 : v;
			}
			ck_assert_uint_eq(tally.cut_away, overwritten);
		}
		for (uint64_t a = 0; a < SPACE; a++) {
			const struct range *r = rangemap_find(&m, a);

			ck_assert_msg((r ? (uintptr_t)r->value : 0) == value[a],
				      "seed %llu, address %llu",
				      (unsigned long long)seed, (unsigned long long)a);
		}
		for (size_t i = 0; i < m.nr; i++)
			tally.ranges[(uintptr_t)m.range[i].value]--;
		for (int v = 0; v < 256; v++)
			ck_assert_msg(!tally.ranges[v],
				      "seed %llu: value %d miscounted",
				      (unsigned long long)seed, v);
		rangemap_fini(&m);
	}
}
END_TEST

START_TEST(an_empty_range_is_refused)
{
	struct rangemap m = { 0 };
	struct range r = { .start = 5, .end = 5 };

	ck_assert_int_eq(rangemap_insert(&m, &r, NULL, NULL), -EINVAL);
	ck_assert_int_eq(rangemap_remove(&m, 5, 5, NULL, NULL), -EINVAL);
	ck_assert_ptr_null(rangemap_find(&m, 5));
}
END_TEST

START_TEST(a_copy_is_independent)
{
	struct rangemap m = { 0 }, copy = { 0 };
	struct range r = { .start = 10, .end = 20, .value = (void *)1 };

	ck_assert_int_eq(rangemap_insert(&m, &r, NULL, NULL), 0);
	ck_assert_int_eq(rangemap_copy(&copy, &m), 0);
	r.value = (void *)2;
	ck_assert_int_eq(rangemap_insert(&m, &r, NULL, NULL), 0);
	ck_assert_ptr_eq(rangemap_find(&copy, 15)->value, (void *)1);
	ck_assert_ptr_eq(rangemap_find(&m, 15)->value, (void *)2);
	rangemap_fini(&m);
	rangemap_fini(&copy);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("rangemap");
	TCase *tc = tcase_create("rangemap");

	tcase_add_test(tc, agrees_with_an_array_of_addresses);
	tcase_add_test(tc, an_empty_range_is_refused);
	tcase_add_test(tc, a_copy_is_independent);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
