/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "ship/contained.h"
#include "t/unit/unit.h"

#define NR_FLUSHES 8
#define MAX_NR     12
#define NR_ROUNDS  4000

/* Adds the flushes of a mask's bits, each alone or those that follow each other. */
static void add(struct shipments *list, uint64_t nr, uint64_t turn, unsigned int mask,
		bool alone)
{
	const struct shipment of = { .host = 1, .at = 2, .nr = nr, .turn = turn };

	for (unsigned int i = 0; i < NR_FLUSHES; i++) {
		struct flushes f = { i + 1, i + 1 };

		if (!(mask >> i & 1))
			continue;
		while (!alone && mask >> (i + 1) & 1)
			f.last = ++i + 1;
		ck_assert_int_eq(shipments_add(list, &of, &f), 0);
	}
}

struct set {
	unsigned int mask;
	uint64_t turn;
};

static int nr_bits(unsigned int mask)
{
	return __builtin_popcount(mask);
}

/* Whether k comes before i. */
static bool is_before(const struct set *set, size_t k, size_t i)
{
	if (set[k].turn != set[i].turn)
		return set[k].turn > set[i].turn;
	if (nr_bits(set[k].mask) != nr_bits(set[i].mask))
		return nr_bits(set[k].mask) > nr_bits(set[i].mask);
	return k < i;
}

/* What the sets before i have of it. */
static unsigned int had(const struct set *set, size_t nr, size_t i)
{
	unsigned int mask = 0;

	for (size_t k = 0; k < nr; k++)
		mask |= is_before(set, k, i) ? set[k].mask : 0;
	return mask & set[i].mask;
}

START_TEST(marks_are_those_of_sets)
{
	uint64_t seed = unit_seed();

	for (int round = 0; round < NR_ROUNDS; round++) {
		struct set set[MAX_NR];
		struct shipments list = { 0 };
		size_t nr;

		nr = 1 + unit_random(&seed) % MAX_NR;
		for (size_t i = 0; i < nr; i++) {
			set[i].mask = 1 + unit_random(&seed) % ((1u << NR_FLUSHES) - 1);
			set[i].turn = (unit_random(&seed) >> 33) % 3;
			add(&list, i, set[i].turn, set[i].mask,
			    unit_random(&seed) >> 63);
		}
		ck_assert_uint_eq(list.nr, nr);
		ck_assert_int_eq(shipments_mark(&list), 0);
		for (size_t i = 0; i < nr; i++) {
			const struct shipment *s = &list.shipment[i];
			const unsigned int mask = set[s->nr].mask;
			const unsigned int before = had(set, nr, s->nr);

			ck_assert_int_eq(s->contained, before == mask);
			ck_assert_int_eq(s->overlaps, before && before != mask);
		}
		shipments_fini(&list);
	}
}
END_TEST

START_TEST(equal_flushes_count_once)
{
	struct shipments list = { 0 };

	add(&list, 7, 0, 4, true);
	add(&list, 7, 0, 4, true);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_int_eq(shipments_mark(&list), 0);
	ck_assert(!list.shipment[0].contained);
	shipments_fini(&list);
}
END_TEST

START_TEST(none_are_refused)
{
	const struct flushes none = { 3, 2 }, last = { 1, UINT64_MAX };
	const struct shipment of = { .host = 1, .at = 1, .nr = 1 };
	struct shipments list = { 0 };

	ck_assert_int_eq(shipments_add(&list, &of, &none), -EINVAL);
	ck_assert_int_eq(shipments_add(&list, &of, &last), -EINVAL);
	ck_assert_int_eq(shipments_mark(&list), 0);
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
