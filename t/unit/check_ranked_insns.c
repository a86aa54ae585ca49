/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/explain/ranked_insns.h"

#include <math.h>

#include "base/err.h"
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

/* In parts, as bytes, and in another order: the list is the same. */
START_TEST(bytes_and_order_change_nothing)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	struct ranked_insns one, part[3], all;
	const struct ranked_insn *a, *b;
	struct buf bytes = { 0 };
	uint64_t state = seed | 1;
	size_t nr, nr_all;

	ranked_insns_init(&one, 20);
	ranked_insns_init(&all, 20);
	for (int i = 0; i < 3; i++)
		ranked_insns_init(&part[i], 20);
	for (int i = 0; i < 300; i++) {
		const double amount = 1 + (double)(unit_random(&state) % 30);
		const char *file = unit_random(&state) % 2 ? "\1" : NULL;
		char image[16];

		snprintf(image, sizeof(image), "%d", i);
		add(&one, amount, image, file);
		add(&part[unit_random(&state) % 3], amount, image, file);
	}
	for (int i = 2; i >= 0; i--) {
		buf_reset(&bytes);
		ck_assert_int_eq(ranked_insns_put(&part[i], &bytes), 0);
		ck_assert_int_eq(
			ranked_insns_get(&all, (uint8_t *)bytes.data, bytes.len), 0);
		ranked_insns_fini(&part[i]);
	}
	a = ranked_insns_sorted(&one, &nr);
	b = ranked_insns_sorted(&all, &nr_all);
	ck_assert_uint_eq(nr, nr_all);
	for (size_t i = 0; i < nr; i++) {
		ck_assert(a[i].amount == b[i].amount);
		ck_assert_str_eq(a[i].image, b[i].image);
		ck_assert_int_eq(!a[i].file, !b[i].file);
	}
	ranked_insns_fini(&one);
	ranked_insns_fini(&all);
	buf_fini(&bytes);
}
END_TEST

START_TEST(bytes_that_are_cut_are_refused)
{
	struct ranked_insns s;
	struct buf bytes = { 0 };

	ranked_insns_init(&s, 20);
	add(&s, 3, "image", "file");
	ck_assert_int_eq(ranked_insns_put(&s, &bytes), 0);
	for (size_t size = 1; size < bytes.len; size++) {
		uint8_t *cut = malloc(size);

		memcpy(cut, bytes.data, size);
		ck_assert_int_eq(ranked_insns_get(&s, cut, size), -CPI_ECORRUPT);
		free(cut);
	}
	ranked_insns_fini(&s);
	buf_fini(&bytes);
}
END_TEST

static Suite *ranked_insns_suite(void)
{
	Suite *s = suite_create("ranked_insns");
	TCase *t = tcase_create("ranked_insns");

	tcase_add_loop_test(t, the_greatest_are_kept, 0, 100);
	tcase_add_test(t, what_is_nothing_is_not_kept);
	tcase_add_loop_test(t, bytes_and_order_change_nothing, 0, 20);
	tcase_add_test(t, bytes_that_are_cut_are_refused);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(ranked_insns_suite)
