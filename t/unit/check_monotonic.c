/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/collect/monotonic.h"

#include "t/unit/unit.h"

#define PERIOD 1000

/* 7 were handed out, 2 more are in the kernel. */
static const struct collector_counts now = {
	.received = 7,
	.pending = 2,
	.event_count = 9 * PERIOD,
	.running_ns = 1,
};

START_TEST(before_a_sweep_what_waits_is_pending)
{
	struct monotonic s = { 0 };

	monotonic_put(&s, 1, &now, PERIOD);
	ck_assert_uint_eq(s.counts[1].received, 9);
	ck_assert_uint_eq(s.counts[1].pending, 2);
	ck_assert_uint_eq(s.counts[1].event_count, 9 * PERIOD);
	ck_assert_uint_eq(s.counts[1].running_ns, 1);
}
END_TEST

START_TEST(after_a_sweep_what_waits_is_the_next_one_s)
{
	struct monotonic s = { 0 };

	monotonic_end_sweep(&s);
	monotonic_put(&s, 1, &now, PERIOD);
	ck_assert_uint_eq(s.counts[1].received, 7);
	ck_assert_uint_eq(s.counts[1].pending, 0);
	ck_assert_uint_eq(s.counts[1].event_count, 7 * PERIOD);
	monotonic_begin_cycle(&s);
	monotonic_put(&s, 1, &now, PERIOD);
	ck_assert_uint_eq(s.counts[1].received, 9);
}
END_TEST

START_TEST(an_event_s_count_does_not_fall_below_zero)
{
	struct monotonic s = { 0 };

	monotonic_end_sweep(&s);
	monotonic_put(&s, 0, &now, 10 * PERIOD);
	ck_assert_uint_eq(s.counts[0].event_count, 9 * PERIOD);
}
END_TEST

static void (*const news[])(struct monotonic *s) = {
	monotonic_begin_cycle,
	monotonic_note_taken,
	monotonic_end_sweep,
};

START_TEST(counts_are_known_per_event_until_there_is_news)
{
	struct monotonic s = { 0 };

	ck_assert(!monotonic_knows(&s, CPI_MAX_EVENTS - 1));
	monotonic_put(&s, CPI_MAX_EVENTS - 1, &now, PERIOD);
	ck_assert(monotonic_knows(&s, CPI_MAX_EVENTS - 1));
	ck_assert(!monotonic_knows(&s, 0));
	news[_i](&s);
	ck_assert(!monotonic_knows(&s, CPI_MAX_EVENTS - 1));
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("swept");
	TCase *tc = tcase_create("swept");

	tcase_add_test(tc, before_a_sweep_what_waits_is_pending);
	tcase_add_test(tc, after_a_sweep_what_waits_is_the_next_one_s);
	tcase_add_test(tc, an_event_s_count_does_not_fall_below_zero);
	tcase_add_loop_test(tc, counts_are_known_per_event_until_there_is_news, 0,
			    NR(news));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
