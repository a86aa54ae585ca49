/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "db/profile/profile.h"
#include "t/unit/unit.h"

#define SPACE 512 /* offsets in the oracle */

static const struct {
	struct count add[3];
	struct count want; /* at want.offset, after all three */
	int err;           /* of the third */
} adds[] = {
	{ { { 4, 1, 0, 0 }, { 8, 2, 0, 0 }, { 9, 3, 0, 0 } }, { 4, 1, 0, 0 }, 0 },
	{ { { 4, 1, 0, 0 }, { 4, 2, 1, 0 }, { 4, 3, 0, 2 } }, { 4, 6, 1, 2 }, 0 },
	{ { { 0, 1, 0, 0 }, { ~0ULL, 2, 0, 0 }, { 0, 0, 0, 0 } },
	  { ~0ULL, 2, 0, 0 },
	  0 },
	{ { { 4, ~0ULL - 1, 0, 0 }, { 4, 1, 0, 0 }, { 4, 1, 0, 0 } },
	  { 4, ~0ULL, 0, 0 },
	  -EOVERFLOW },
	/* The total overflows before any offset does. */
	{ { { 4, ~0ULL, 0, 0 }, { 4, 0, 7, 0 }, { 8, 1, 0, 0 } },
	  { 8, 0, 0, 0 },
	  -EOVERFLOW },
	{ { { 4, 1, ~0ULL, 0 }, { 8, 1, 0, ~0ULL }, { 4, 1, 0, 1 } },
	  { 4, 1, ~0ULL, 0 },
	  -EOVERFLOW },
};

static void assert_same(struct count got, struct count want)
{
	ck_assert_uint_eq(got.offset, want.offset);
	ck_assert_uint_eq(got.n, want.n);
	ck_assert_uint_eq(got.taken, want.taken);
	ck_assert_uint_eq(got.not_taken, want.not_taken);
}

START_TEST(add_sums_per_offset)
{
	struct profile *p = profile_new();
	int err = 0;

	ck_assert_ptr_nonnull(p);
	for (int i = 0; i < 3; i++)
		err = profile_add(p, &adds[_i].add[i]);
	ck_assert_int_eq(err, adds[_i].err);
	assert_same(profile_at(p, adds[_i].want.offset), adds[_i].want);
	profile_free(p);
}
END_TEST

/* The oracle: an array of counts; spread makes offsets collide or lie far apart. */
START_TEST(agrees_with_an_array_of_counts)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 100; round++) {
		static struct count want[SPACE];
		uint64_t spread = 1 + unit_random(&state) % (1ULL << 50);
		struct profile *p = profile_new();
		const struct count *sorted;
		uint64_t total = 0;
		size_t nr = 0, nr_sorted;

		for (uint64_t i = 0; i < SPACE; i++)
			want[i] = (struct count){ .offset = i * spread };
		for (uint64_t i = unit_random(&state) % 2000; i; i--) {
			struct count *w = &want[unit_random(&state) % SPACE];
			struct count c = { w->offset, unit_random(&state) % 5, 0, 0 };

			c.taken = unit_random(&state) % (c.n + 1);
			c.not_taken = unit_random(&state) % (c.n - c.taken + 1);
			ck_assert_int_eq(profile_add(p, &c), 0);
			w->n += c.n;
			w->taken += c.taken;
			w->not_taken += c.not_taken;
			total += c.n;
			if (i % 100 == 0)
				profile_sorted(p, &nr_sorted);
		}
		sorted = profile_sorted(p, &nr_sorted);
		for (int i = 0; i < SPACE; i++) {
			struct count got = profile_at(p, want[i].offset);

			ck_assert_msg(!memcmp(&got, &want[i], sizeof(got)),
				      "seed %llu: at %d", (unsigned long long)seed, i);
			if (!want[i].n)
				continue;
			ck_assert_msg(nr < nr_sorted, "seed %llu",
				      (unsigned long long)seed);
			assert_same(sorted[nr++], want[i]);
		}
		ck_assert_msg(nr == nr_sorted && nr == profile_nr(p) &&
				      total == profile_total(p),
			      "seed %llu", (unsigned long long)seed);
		profile_free(p);
	}
}
END_TEST

START_TEST(a_merge_adds_all_of_the_other)
{
	struct profile *a = profile_new(), *b = profile_new();

	profile_add(a, &(struct count){ 4, 10, 3, 2 });
	profile_add(b, &(struct count){ 4, 5, 0, 5 });
	profile_add(b, &(struct count){ 8, 1, 1, 0 });
	ck_assert_int_eq(profile_merge(a, b), 0);
	assert_same(profile_at(a, 4), (struct count){ 4, 15, 3, 7 });
	assert_same(profile_at(a, 8), (struct count){ 8, 1, 1, 0 });
	ck_assert_uint_eq(profile_total(a), 16);
	ck_assert_uint_eq(profile_total(b), 6);
	profile_add(b, &(struct count){ 12, ~0ULL - 6, 0, 0 });
	ck_assert_int_eq(profile_merge(a, b), -EOVERFLOW);
	profile_free(a);
	profile_free(b);
}
END_TEST

START_TEST(memory_stays_below_64_bytes_an_offset)
{
	struct profile *p = profile_new();
	size_t small = profile_memory(p);

	for (uint64_t i = 0; i < 100000; i++)
		ck_assert_int_eq(profile_add(p, &(struct count){ i * 4, 1, 0, 0 }), 0);
	ck_assert_uint_lt(small, 256);
	ck_assert_uint_ge(profile_memory(p), 100000 * sizeof(struct count));
	ck_assert_uint_lt(profile_memory(p), 100000 * 64);
	profile_free(p);
}
END_TEST

START_TEST(an_empty_profile_has_nothing)
{
	struct profile *p = profile_new();
	size_t nr = 1;

	ck_assert_ptr_null(profile_sorted(p, &nr));
	ck_assert_uint_eq(nr, 0);
	ck_assert_int_eq(profile_add(p, &(struct count){ .offset = 4 }), 0);
	ck_assert_uint_eq(profile_nr(p), 0);
	assert_same(profile_at(p, 4), (struct count){ .offset = 4 });
	profile_free(p);
	profile_free(NULL);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("profile");
	TCase *tc = tcase_create("profile");

	tcase_add_loop_test(tc, add_sums_per_offset, 0, NR(adds));
	tcase_add_test(tc, agrees_with_an_array_of_counts);
	tcase_add_test(tc, a_merge_adds_all_of_the_other);
	tcase_add_test(tc, memory_stays_below_64_bytes_an_offset);
	tcase_add_test(tc, an_empty_profile_has_nothing);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
