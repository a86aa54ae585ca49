/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/explain/ranked_insns.h"

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
	const struct ranked_insn *sorted;
	struct ranked_insns insns;
	struct ranked_insn *ranked;
	size_t kept;

	ranked_insns_init(&insns, limit);
	for (size_t i = 0; i < nr; i++) {
		amount[i] = 1 + (double)(unit_random(&state) % 300);
		ck_assert_int_eq(ranked_insns_add(&insns, amount[i], &ranked), 0);
		if (ranked)
			ranked->offset = i;
		ck_assert_uint_le(insns.ranked.len, 2 * limit * sizeof(*ranked));
	}
	qsort(amount, nr, sizeof(amount[0]), descending);
	sorted = ranked_insns_sorted(&insns, &kept);
	ck_assert_uint_eq(kept, nr < limit ? nr : limit);
	for (size_t i = 0; i < kept; i++)
		ck_assert_msg(sorted[i].amount == amount[i], "seed %llu, place %zu",
			      (unsigned long long)seed, i);
	ranked_insns_fini(&insns);
}
END_TEST

START_TEST(what_is_nothing_is_not_kept)
{
	static const double nothing[] = { 0, -1, (double)NAN };
	struct ranked_insns insns;
	struct ranked_insn *ranked;
	size_t nr;

	ranked_insns_init(&insns, 0);
	for (size_t i = 0; i < NR(nothing); i++) {
		ck_assert_int_eq(ranked_insns_add(&insns, nothing[i], &ranked), 0);
		ck_assert_ptr_null(ranked);
	}
	ranked_insns_sorted(&insns, &nr);
	ck_assert_uint_eq(nr, 0);
	ranked_insns_fini(&insns);
}
END_TEST

static void add(struct ranked_insns *s, double amount, const char *image,
		const char *file)
{
	struct ranked_insn *ranked;

	ck_assert_int_eq(ranked_insns_add(s, amount, &ranked), 0);
	if (!ranked)
		return;
	ranked->offset = (uint64_t)amount % 7;
	ranked->image = strdup(image);
	ranked->file = file ? strdup(file) : NULL;
}

/* Ties are decided by the instructions themselves. */
START_TEST(order_changes_nothing)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	struct ranked_insns one, other;
	const struct ranked_insn *a, *b;
	double amount[300];
	uint64_t state = seed | 1;
	char image[16];
	size_t nr, nr_other;

	ranked_insns_init(&one, 20);
	ranked_insns_init(&other, 20);
	for (int i = 0; i < 300; i++) {
		amount[i] = 1 + (double)(unit_random(&state) % 30);
		snprintf(image, sizeof(image), "%d", i);
		add(&one, amount[i], image, NULL);
	}
	for (int i = 299; i >= 0; i--) {
		snprintf(image, sizeof(image), "%d", i);
		add(&other, amount[i], image, NULL);
		if (i % 7 == 0)
			ranked_insns_sorted(&other, &nr);
	}
	a = ranked_insns_sorted(&one, &nr);
	b = ranked_insns_sorted(&other, &nr_other);
	ck_assert_uint_eq(nr, nr_other);
	for (size_t i = 0; i < nr; i++) {
		ck_assert(a[i].amount == b[i].amount);
		ck_assert_str_eq(a[i].image, b[i].image);
	}
	ranked_insns_fini(&one);
	ranked_insns_fini(&other);
}
END_TEST

static Suite *ranked_insns_suite(void)
{
	Suite *s = suite_create("ranked_insns");
	TCase *t = tcase_create("ranked_insns");

	tcase_add_loop_test(t, the_greatest_are_kept, 0, 100);
	tcase_add_test(t, what_is_nothing_is_not_kept);
	tcase_add_loop_test(t, order_changes_nothing, 0, 20);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(ranked_insns_suite)
