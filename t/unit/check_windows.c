/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/profile/windows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "t/unit/unit.h"

#define MAX_WINDOWS 400
#define MAX_JUMPS   6

struct made {
	struct window w;
	struct window_jump jump[MAX_JUMPS];
};

/* Few places, so that some windows are alike. */
static void make(struct made *m, uint64_t *state)
{
	static const uint64_t far[] = { 0x1000, 0x10, 0xfffffffffff0 };
	uint64_t at;

	m->w = (struct window){ .jump = m->jump, .n = 1 + unit_random(state) % 3 };
	m->w.nr_jumps = unit_random(state) % (MAX_JUMPS + 1);
	m->w.nr_insns = m->w.nr_jumps + 1 + unit_random(state) % 2;
	m->w.reason = unit_random(state) % 2;
	m->w.start = at = far[unit_random(state) % 3];
	for (uint32_t i = 0; i < m->w.nr_jumps; i++) {
		m->jump[i].from = at + unit_random(state) % 2;
		m->jump[i].to = at = far[unit_random(state) % 3];
		m->jump[i].image = unit_random(state) % 3;
	}
	m->w.end = at + unit_random(state) % 2;
}

static bool same(const struct window *a, const struct window *b)
{
	return a->start == b->start && a->nr_jumps == b->nr_jumps && a->end == b->end &&
	       a->nr_insns == b->nr_insns && a->reason == b->reason &&
	       !memcmp(a->jump, b->jump, a->nr_jumps * sizeof(*a->jump));
}

/* Each of the set is among all, as often as there, and none is missing. */
static void check_same(struct windows *set, const struct made *all, size_t nr,
		       uint64_t seed)
{
	uint64_t sum = 0, found = 0;
	size_t nr_kept;
	const struct window *w = windows_sorted(set, &nr_kept);

	for (size_t i = 0; i < nr; i++)
		sum += all[i].w.n;
	for (size_t i = 0; i < nr_kept; i++) {
		uint64_t n = 0;

		for (size_t k = 0; k < nr; k++)
			n += same(&w[i], &all[k].w) ? all[k].w.n : 0;
		ck_assert_msg(n == w[i].n, "seed %llu", (unsigned long long)seed);
		found += n;
	}
	ck_assert_msg(found == sum && windows_seen(set) == sum &&
			      windows_kept(set) == sum,
		      "seed %llu", (unsigned long long)seed);
}

START_TEST(sets_keep_what_fits_and_survive_a_blob)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1;
	static struct made all[MAX_WINDOWS];
	const size_t nr = unit_random(&state) % MAX_WINDOWS;
	struct windows *set = windows_new(WINDOWS_LIMIT, seed);
	struct windows *again = windows_new(WINDOWS_LIMIT, seed);
	struct windows *half = windows_new(WINDOWS_LIMIT, seed);
	struct buf blob = { 0 };

	for (size_t i = 0; i < nr; i++) {
		make(&all[i], &state);
		ck_assert_int_eq(windows_add(i % 2 ? set : half, &all[i].w), 0);
	}
	ck_assert_int_eq(windows_merge(set, half, NULL, 0), 0);
	check_same(set, all, nr, seed);
	ck_assert_int_eq(windows_encode(set, &blob), 0);
	ck_assert_int_eq(blob.len != 0, nr != 0);
	if (nr)
		ck_assert_int_eq(windows_decode(blob.data, blob.len, again), 0);
	check_same(again, all, nr, seed);
	buf_fini(&blob);
	windows_free(set);
	windows_free(again);
	windows_free(half);
}
END_TEST

static const struct {
	uint64_t limit, first, second; /* windows of two sets, which are merged */
} crowds[] = {
	{ 64, 50, 0 },    { 64, 500, 0 },  { 64, 60, 60 },
	{ 64, 1000, 40 }, { 64, 30, 700 }, { 256, 700, 1000 },
};

/* Windows of one kind each, numbered by their start. */
static void add_crowd(struct windows *set, uint64_t first, uint64_t nr)
{
	for (uint64_t i = first; i < first + nr; i++) {
		const struct window w = {
			.start = i, .nr_insns = 1, .end = i + 1, .n = 1
		};

		ck_assert_int_eq(windows_add(set, &w), 0);
	}
}

/* Each is kept with the same probability: Σ over ROUNDS is binomial, within 6 sigma. */
START_TEST(all_windows_are_kept_alike)
{
	enum { ROUNDS = 60 };
	const uint64_t limit = crowds[_i].limit, first = crowds[_i].first,
		       all = first + crowds[_i].second;
	double of_first = 0, of_all = 0, squares = 0, expected;
	size_t nr;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct windows *set = windows_new(limit, round);
		struct windows *more = windows_new(limit, ~round);
		const struct window *w;

		add_crowd(set, 0, first);
		add_crowd(more, first, crowds[_i].second);
		ck_assert_int_eq(windows_merge(set, more, NULL, 0), 0);
		ck_assert_uint_eq(windows_seen(set), all);
		ck_assert_uint_le(windows_kept(set), limit);
		ck_assert_uint_gt(windows_kept(set), all < limit ? all - 1 : limit / 2);
		w = windows_sorted(set, &nr);
		of_all += (double)nr;
		for (size_t i = 0; i < nr; i++)
			of_first += w[i].start < first;
		squares += (double)nr;
		windows_free(set);
		windows_free(more);
	}
	expected = of_all * (double)first / (double)all;
	ck_assert_msg(fabs(of_first - expected) <= 6 * sqrt(squares) / 2 + 1e-9,
		      "%g of the first, %g expected", of_first, expected);
}
END_TEST

static const struct {
	struct window w;
	struct window_jump jump;
	int err;
} wrong[] = {
	{ { .start = 8, .nr_insns = 1, .end = 12, .n = 1 }, { 0 }, 0 },
	{ { .start = 8, .nr_insns = 1, .end = 7, .n = 1 }, { 0 }, -EINVAL },
	{ { .start = 8, .nr_insns = 1, .end = 25, .n = 1 }, { 0 }, -EINVAL },
	{ { .start = 8, .nr_insns = 0, .end = 8, .n = 1 }, { 0 }, -EINVAL },
	{ { .start = 8, .nr_insns = 1025, .end = 8, .n = 1 }, { 0 }, -EINVAL },
	{ { .start = 8, .nr_insns = 1, .end = 8, .n = 0 }, { 0 }, -EINVAL },
	{ { .start = 8, .nr_insns = 1, .end = 8, .n = 1, .reason = 64 },
	  { 0 },
	  -EINVAL },
	{ { .start = 8, .nr_jumps = 1, .nr_insns = 1, .end = 2, .n = 1 },
	  { 8, 2, 0 },
	  0 },
	{ { .start = 8, .nr_jumps = 1, .nr_insns = 1, .end = 2, .n = 1 },
	  { 7, 2, 0 },
	  -EINVAL },
	{ { .start = 8, .nr_jumps = 1, .nr_insns = 1, .end = 1, .n = 1 },
	  { 8, 2, 0 },
	  -EINVAL },
	{ { .start = 8, .nr_insns = 1, .end = 8, .n = 1ull << 63 }, { 0 }, -EOVERFLOW },
};

START_TEST(what_no_window_can_be_is_refused)
{
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window w = wrong[_i].w;

	w.jump = &wrong[_i].jump;
	ck_assert_int_eq(windows_add(set, &w), wrong[_i].err);
	ck_assert_uint_eq(windows_seen(set), !wrong[_i].err);
	windows_free(set);
}
END_TEST

START_TEST(images_are_translated_or_refused)
{
	static const uint32_t map[] = { 7, 9 };
	const struct window_jump jump = { 4, 2, 1 };
	const struct window w = { .start = 4,
				  .jump = &jump,
				  .nr_jumps = 1,
				  .nr_insns = 1,
				  .end = 2,
				  .n = 1 };
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct windows *from = windows_new(WINDOWS_LIMIT, 2);
	size_t nr;

	ck_assert_int_eq(windows_add(from, &w), 0);
	ck_assert_int_eq(windows_merge(set, from, map, 1), -CPI_ECORRUPT);
	ck_assert_uint_eq(windows_seen(set), 0);
	ck_assert_int_eq(windows_merge(set, from, map, 2), 0);
	ck_assert_uint_eq(windows_sorted(set, &nr)->jump->image, 9);
	windows_free(set);
	windows_free(from);
}
END_TEST

static void add_golden(struct windows *set)
{
	static const struct window_jump jump[] = { { 0x18, 0x8, 0 },
						   { 0xffffffff0, 0x10, 3 } };
	static const struct window golden[] = {
		{ 0x10, NULL, 0, 2, 1, 0x18, 3 },
		{ 0x10, &jump[0], 1, 100, 0, 0x400, 1 },
		{ 0xfffffffe0, &jump[1], 1, 5, 2, 0x10, 2 },
	};

	for (size_t i = 0; i < NR(golden); i++)
		ck_assert_int_eq(windows_add(set, &golden[NR(golden) - 1 - i]), 0);
	windows_stand_for(set, 1000);
}

START_TEST(the_golden_blob_is_read_and_written)
{
	const char *srcdir = getenv("srcdir");
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct buf want = { 0 }, got = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/fixtures/windows/windows.blob",
		 srcdir ? srcdir : ".");
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 4096, &want), 0);
	add_golden(set);
	ck_assert_int_eq(windows_encode(set, &got), 0);
	ck_assert_uint_eq(got.len, want.len);
	ck_assert_mem_eq(got.data, want.data, want.len);
	windows_free(set);
	set = windows_new(WINDOWS_LIMIT, 1);
	ck_assert_int_eq(windows_decode(want.data, want.len, set), 0);
	ck_assert_uint_eq(windows_seen(set), 1000);
	ck_assert_uint_eq(windows_kept(set), 6);
	windows_free(set);
	buf_fini(&want);
	buf_fini(&got);
}
END_TEST

/* Each byte that is wrong is refused, or means something that is right. */
START_TEST(a_damaged_blob_changes_nothing)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct windows *set = windows_new(WINDOWS_LIMIT, seed);
	struct buf blob = { 0 };

	add_golden(set);
	ck_assert_int_eq(windows_encode(set, &blob), 0);
	for (size_t i = 0; i < blob.len; i++) {
		struct windows *other = windows_new(WINDOWS_LIMIT, seed);
		int err;

		blob.data[i] ^= 1 << unit_random(&state) % 8;
		err = windows_decode(blob.data, blob.len, other);
		ck_assert_msg(!err || !windows_seen(other), "seed %llu",
			      (unsigned long long)seed);
		windows_free(other);
		other = windows_new(WINDOWS_LIMIT, seed);
		ck_assert_int_ne(windows_decode(blob.data, i, other), 0);
		ck_assert_uint_eq(windows_seen(other), 0);
		windows_free(other);
	}
	buf_fini(&blob);
	windows_free(set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windows");
	TCase *t = tcase_create("windows");

	tcase_add_loop_test(t, sets_keep_what_fits_and_survive_a_blob, 0, 30);
	tcase_add_loop_test(t, all_windows_are_kept_alike, 0, NR(crowds));
	tcase_add_loop_test(t, what_no_window_can_be_is_refused, 0, NR(wrong));
	tcase_add_test(t, images_are_translated_or_refused);
	tcase_add_test(t, the_golden_blob_is_read_and_written);
	tcase_add_test(t, a_damaged_blob_changes_nothing);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
