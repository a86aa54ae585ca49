/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/profile/edges.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "t/unit/unit.h"

#define PLACES 12

/* Sums by from and to, in the simplest way. */
struct sums {
	struct edge at[PLACES][PLACES];
};

static uint64_t place(int i)
{
	static const uint64_t far[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63 };

	return i < 5 ? far[i] : 100 * (uint64_t)i;
}

static void add_random(struct edges *set, struct sums *sums, uint64_t *state)
{
	int from = unit_random(state) % PLACES, to = unit_random(state) % PLACES;
	struct edge *sum = &sums->at[from][to];
	struct edge e = { .from = place(from),
			  .to = place(to),
			  .n = 1 + unit_random(state) % 5 };

	e.nr_timed = unit_random(state) % (e.n + 1);
	e.cycles = e.nr_timed ? unit_random(state) % 1000 : 0;
	e.mispredicted = unit_random(state) % (e.n + 1);
	ck_assert_int_eq(edges_add(set, &e), 0);
	sum->n += e.n;
	sum->cycles += e.cycles;
	sum->nr_timed += e.nr_timed;
	sum->mispredicted += e.mispredicted;
}

static void check_sums(struct edges *set, const struct sums *sums, uint64_t seed)
{
	size_t nr, found = 0;
	const struct edge *e = edges_sorted(set, &nr);

	for (int i = 0; i < PLACES; i++) {
		for (int k = 0; k < PLACES; k++)
			found += sums->at[i][k].n != 0;
	}
	ck_assert_msg(nr == found, "seed %llu", (unsigned long long)seed);
	for (size_t n = 0; n < nr; n++) {
		const struct edge *sum = NULL;

		for (int i = 0; i < PLACES; i++) {
			for (int k = 0; k < PLACES; k++) {
				if (place(i) == e[n].from && place(k) == e[n].to)
					sum = &sums->at[i][k];
			}
		}
		ck_assert_ptr_nonnull(sum);
		ck_assert_msg(sum->n == e[n].n && sum->cycles == e[n].cycles &&
				      sum->nr_timed == e[n].nr_timed &&
				      sum->mispredicted == e[n].mispredicted,
			      "seed %llu", (unsigned long long)seed);
	}
}

START_TEST(sets_sum_up_and_survive_a_blob)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1;
	struct edges *set = edges_new(), *again = edges_new();
	struct sums sums = { 0 };
	struct buf blob = { 0 };

	for (int n = unit_random(&state) % 1000; n > 0; n--) {
		add_random(set, &sums, &state);
		if (!(unit_random(&state) % 100))
			check_sums(set, &sums, seed);
	}
	check_sums(set, &sums, seed);
	ck_assert_int_eq(edges_encode(set, &blob), 0);
	if (blob.len)
		ck_assert_int_eq(edges_decode(blob.data, blob.len, again), 0);
	check_sums(again, &sums, seed);
	ck_assert_uint_eq(edges_total(again), edges_total(set));
	buf_fini(&blob);
	edges_free(set);
	edges_free(again);
}
END_TEST

/* Each byte that is wrong is refused, or means something that is right. */
START_TEST(a_damaged_blob_changes_nothing)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct edges *set = edges_new();
	struct sums sums = { 0 };
	struct buf blob = { 0 };

	for (int n = 0; n < 8; n++)
		add_random(set, &sums, &state);
	ck_assert_int_eq(edges_encode(set, &blob), 0);
	for (size_t i = 0; i < blob.len; i++) {
		struct edges *other = edges_new();
		int err;

		blob.data[i] ^= 1 << unit_random(&state) % 8;
		err = edges_decode(blob.data, blob.len, other);
		ck_assert_msg(!err || !edges_total(other), "seed %llu",
			      (unsigned long long)seed);
		edges_free(other);
		other = edges_new();
		ck_assert_int_ne(edges_decode(blob.data, i, other), 0);
		ck_assert_uint_eq(edges_total(other), 0);
		edges_free(other);
	}
	buf_fini(&blob);
	edges_free(set);
}
END_TEST

START_TEST(the_golden_blob_is_read_and_written)
{
	static const struct edge golden[] = {
		{ 0x10, 0x8, 100, 1234, 90, 3 },
		{ 0x10, 0x20, 1, 0, 0, 0 },
		{ 0xfffffffff0, 0, 7, 70, 7, 7 },
	};
	const char *srcdir = getenv("srcdir");
	struct edges *set = edges_new();
	struct buf want = { 0 }, got = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/fixtures/edges/edges.blob",
		 srcdir ? srcdir : ".");
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 4096, &want), 0);
	for (size_t i = 0; i < NR(golden); i++)
		ck_assert_int_eq(edges_add(set, &golden[NR(golden) - 1 - i]), 0);
	ck_assert_int_eq(edges_encode(set, &got), 0);
	ck_assert_uint_eq(got.len, want.len);
	ck_assert_mem_eq(got.data, want.data, want.len);
	edges_free(set);
	set = edges_new();
	ck_assert_int_eq(edges_decode(want.data, want.len, set), 0);
	ck_assert_uint_eq(edges_total(set), 108);
	edges_free(set);
	buf_fini(&want);
	buf_fini(&got);
}
END_TEST

START_TEST(more_than_64_bits_are_refused)
{
	const struct edge e = { .n = INT64_MAX }, one = { .n = 1 };
	struct edges *set = edges_new();

	ck_assert_int_eq(edges_add(set, &e), 0);
	ck_assert_int_eq(edges_add(set, &one), -EOVERFLOW);
	ck_assert_uint_eq(edges_total(set), INT64_MAX);
	edges_free(set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("edges");
	TCase *t = tcase_create("edges");

	tcase_add_loop_test(t, sets_sum_up_and_survive_a_blob, 0, 50);
	tcase_add_test(t, a_damaged_blob_changes_nothing);
	tcase_add_test(t, the_golden_blob_is_read_and_written);
	tcase_add_test(t, more_than_64_bits_are_refused);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
