/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPE's bytes in pieces, whose the records are, and when they were. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/collect/spefeed.h"
#include "daemon/collect/threads.h"
#include "t/unit/unit.h"

#define STREAM_MAX (64u << 10)

/* A PC, an operation and a timestamp. */
static size_t put_record(uint8_t *out, uint64_t pc, uint64_t ticks)
{
	const uint8_t operation[] = { 0x48, 0 };

	out[0] = 0xb0;
	memcpy(out + 1, &pc, 8);
	memcpy(out + 9, operation, 2);
	out[11] = 0x71;
	memcpy(out + 12, &ticks, 8);
	return 20;
}

struct got {
	uint64_t nr, sum; /* of PCs, by their order */
	uint64_t last;
};

static int take(void *ctx, const struct hw_record *hw)
{
	struct got *g = ctx;

	g->nr++;
	g->last = hw->value[HW_PC];
	g->sum = g->sum * 31 + hw->value[HW_PC] + hw->value[HW_TIMESTAMP];
	return 0;
}

/* Records, padding of any length, and bytes that are nothing. */
static size_t make_stream(uint8_t *out, uint64_t *state, bool damage)
{
	size_t at = 0;

	for (uint64_t i = 0; at + 8192 < STREAM_MAX; i++) {
		const uint64_t kind = unit_random(state) % 20;

		at += put_record(out + at, 0x1000 + i, i);
		if (kind < 4) {
			size_t padding = kind ? unit_random(state) % 40 : 5000;

			memset(out + at, 0, padding);
			at += padding;
		} else if (damage && kind < 6) {
			size_t garbage = kind == 4 ? 1 : unit_random(state) % 6000;

			memset(out + at, 0xff, garbage);
			at += garbage;
		}
	}
	return at;
}

/* However it is cut: the records of the whole, and what was damaged is as much. */
START_TEST(pieces_have_the_records_of_the_whole)
{
	static uint8_t stream[STREAM_MAX];
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 200; round++) {
		const size_t size = make_stream(stream, &state, round % 2);
		struct spefeed whole = { .nr_rest = 0 }, pieces = { .nr_rest = 0 };
		struct got want = { 0 }, got = { 0 };
		const size_t longest =
			1 + unit_random(&state) % (round % 3 ? 64 : 9000);

		spefeed_take(&whole, stream, size, 0, take, &want);
		spefeed_end(&whole);
		for (size_t at = 0, n; at < size; at += n) {
			n = 1 + unit_random(&state) % longest;
			n = n < size - at ? n : size - at;
			spefeed_take(&pieces, stream + at, n, at, take, &got);
		}
		spefeed_end(&pieces);
		ck_assert_msg(want.nr > 10 && got.nr == want.nr && got.sum == want.sum,
			      "seed %#" PRIx64 ", round %d: %" PRIu64 " of %" PRIu64,
			      seed, round, got.nr, want.nr);
		ck_assert_msg(pieces.nr_damaged == whole.nr_damaged, "seed %#" PRIx64,
			      seed);
		ck_assert_int_eq(whole.nr_damaged != 0, round % 2);
	}
}
END_TEST

START_TEST(what_a_gap_cuts_off_is_damaged)
{
	struct spefeed f = { .nr_rest = 0 };
	struct got got = { 0 };
	uint8_t stream[40];

	put_record(stream, 1, 1);
	put_record(stream + 20, 2, 2);
	ck_assert_int_eq(spefeed_take(&f, stream, 30, 0, take, &got), 0);
	ck_assert_uint_eq(got.nr, 1);
	ck_assert_int_eq(spefeed_take(&f, stream + 20, 20, 100, take, &got), 0);
	ck_assert_uint_eq(got.nr, 2);
	ck_assert_uint_eq(got.last, 2);
	ck_assert_uint_eq(f.nr_damaged, 1);
}
END_TEST

static int stop(void *ctx, const struct hw_record *hw)
{
	take(ctx, hw);
	return -EIO;
}

START_TEST(an_error_of_the_taker_ends_it)
{
	struct spefeed f = { .nr_rest = 0 };
	struct got got = { 0 };
	uint8_t stream[40];

	put_record(stream, 1, 1);
	put_record(stream + 20, 2, 2);
	ck_assert_int_eq(spefeed_take(&f, stream, 40, 0, stop, &got), -EIO);
	ck_assert_uint_eq(got.nr, 1);
}
END_TEST

static const struct {
	struct spe_clock clock;
	uint64_t ticks, ns;
} times[] = {
	{ { true, false, 0, 40, 1000, 0, 0 }, 25, 2000 },
	{ { true, false, 3, 320, 5000, 0, 0 }, 9, 5360 },
	/* more than 64 bits in one step */
	{ { true, false, 31, 3221225472u, 7, 0, 0 },
	  1ULL << 62,
	  6917529027641081863ULL },
	/* 8 bits that went round once since the moment that is known */
	{ { true, true, 0, 1, 0, 0x3f0, 0xff }, 0x05, 0x405 },
};

START_TEST(ticks_become_perfs_time)
{
	ck_assert_uint_eq(spe_clock_ns(&times[_i].clock, times[_i].ticks),
			  times[_i].ns);
}
END_TEST

START_TEST(a_thread_is_whose_it_was_then)
{
	struct threads t = { 0 };

	ck_assert_uint_eq(threads_tgid(&t, 11, 5), THREADS_UNKNOWN);
	ck_assert_int_eq(threads_note(&t, 11, 10, 100), 0);
	ck_assert_int_eq(threads_note(&t, 11, 10, 150), 0);
	ck_assert_int_eq(threads_note(&t, 11, 20, 200), 0);
	ck_assert_uint_eq(threads_tgid(&t, 11, 5), 10);
	ck_assert_uint_eq(threads_tgid(&t, 11, 199), 10);
	ck_assert_uint_eq(threads_tgid(&t, 11, 200), 20);
	ck_assert_int_eq(threads_note(&t, UINT32_MAX, 1, 0), 0);
	ck_assert_uint_eq(threads_tgid(&t, UINT32_MAX, 0), THREADS_UNKNOWN);
	threads_fini(&t);
}
END_TEST

/* Against a search through all switches; of too many the old ones are forgotten. */
START_TEST(a_cpu_ran_what_it_switched_to_last)
{
	enum { NR = 100000, REMEMBERED = 32768 };
	static uint64_t when[NR];
	uint64_t seed = unit_seed(), state = seed | 1, now = 0;
	struct threads t = { 0 };

	for (uint32_t i = 0; i < NR; i++) {
		when[i] = now += unit_random(&state) % 3;
		ck_assert_int_eq(threads_switch(&t, 3, i, now), 0);
	}
	ck_assert_int_eq(threads_switch(&t, UINT32_MAX, 1, 0), 0);
	ck_assert_uint_eq(threads_running(&t, UINT32_MAX, 1), THREADS_UNKNOWN);
	ck_assert_uint_eq(threads_running(&t, 2, now), THREADS_UNKNOWN);
	for (int round = 0; round < 1000; round++) {
		const uint64_t at = unit_random(&state) % (now + 2);
		uint32_t want = THREADS_UNKNOWN;

		for (uint32_t i = NR - REMEMBERED; i < NR && when[i] <= at; i++)
			want = i;
		ck_assert_msg(threads_running(&t, 3, at) == want, "seed %#" PRIx64,
			      seed);
	}
	threads_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("spefeed");
	TCase *tc = tcase_create("pieces");

	tcase_add_test(tc, pieces_have_the_records_of_the_whole);
	tcase_add_test(tc, what_a_gap_cuts_off_is_damaged);
	tcase_add_test(tc, an_error_of_the_taker_ends_it);
	tcase_add_loop_test(tc, ticks_become_perfs_time, 0, NR(times));
	tcase_add_test(tc, a_thread_is_whose_it_was_then);
	tcase_add_test(tc, a_cpu_ran_what_it_switched_to_last);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
