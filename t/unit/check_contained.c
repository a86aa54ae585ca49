/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "ship/contained.h"
#include "t/unit/unit.h"

#define NR_FLUSHES 8
#define MAX_NR     12
#define NR_ROUNDS  4000

/* Adds the flushes of a mask's bits, each alone or those that follow each other. */
static void add(struct shipments *list, uint64_t nr, unsigned int mask, bool alone)
{
	for (unsigned int i = 0; i < NR_FLUSHES; i++) {
		struct flushes f = { i + 1, i + 1 };

		if (!(mask >> i & 1))
			continue;
		while (!alone && mask >> (i + 1) & 1)
			f.last = ++i + 1;
		ck_assert_int_eq(shipments_add(list, 1, 2, nr, &f), 0);
	}
}

static bool is_contained(const unsigned int *mask, size_t nr, size_t i)
{
	for (size_t k = 0; k < nr; k++) {
		if (k != i && !(mask[i] & ~mask[k]) && (mask[i] != mask[k] || k < i))
			return true;
	}
	return false;
}

START_TEST(marks_are_those_of_sets)
{
	uint64_t seed = unit_seed();

	for (int round = 0; round < NR_ROUNDS; round++) {
		unsigned int mask[MAX_NR];
		struct shipments list = { 0 };
		size_t nr;

		nr = 1 + unit_random(&seed) % MAX_NR;
		for (size_t i = 0; i < nr; i++) {
			mask[i] = 1 + unit_random(&seed) % ((1u << NR_FLUSHES) - 1);
			add(&list, i, mask[i], unit_random(&seed) >> 63);
		}
		ck_assert_uint_eq(list.nr, nr);
		shipments_mark(&list);
		for (size_t i = 0; i < nr; i++)
			ck_assert_int_eq(list.shipment[i].contained,
					 is_contained(mask, nr, list.shipment[i].nr));
		shipments_fini(&list);
	}
}
END_TEST

START_TEST(equal_flushes_count_once)
{
	struct shipments list = { 0 };

	add(&list, 7, 4, true);
	add(&list, 7, 4, true);
	ck_assert_uint_eq(list.nr, 1);
	shipments_mark(&list);
	ck_assert(!list.shipment[0].contained);
	shipments_fini(&list);
}
END_TEST

START_TEST(none_are_refused)
{
	const struct flushes none = { 3, 2 }, last = { 1, UINT64_MAX };
	struct shipments list = { 0 };

	ck_assert_int_eq(shipments_add(&list, 1, 1, 1, &none), -EINVAL);
	ck_assert_int_eq(shipments_add(&list, 1, 1, 1, &last), -EINVAL);
	shipments_mark(&list);
	ck_assert_uint_eq(list.nr, 0);
	shipments_fini(&list);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("contained");
	TCase *tc = tcase_create("shipments");

	tcase_add_test(tc, marks_are_those_of_sets);
	tcase_add_test(tc, equal_flushes_count_once);
	tcase_add_test(tc, none_are_refused);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
