/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/session/alert.h"

#include "base/times.h"
#include "t/unit/unit.h"

/* Reads whenever it is due, until the alert ends. Returns the number of readings. */
static int count_readings(struct alert *a, uint64_t now, bool has_notices, int *first,
			  int *longest)
{
	int nr = 0, ms;

	*longest = 0;
	while ((ms = alert_wait_ms(a, now)) >= 0) {
		if (!nr++)
			*first = ms;
		if (ms > *longest)
			*longest = ms;
		now += (uint64_t)ms * NSEC_PER_MSEC;
		ck_assert_int_eq(alert_is_due(a, now), now < a->until_ns);
		alert_note_reading(a, now, has_notices);
	}
	return nr;
}

START_TEST(without_notices_each_reading_waits_as_long)
{
	struct alert a = { 0 };
	int first, longest;

	alert_begin(&a, NSEC_PER_SEC);
	ck_assert_int_eq(count_readings(&a, NSEC_PER_SEC, false, &first, &longest),
			 ALERT_NS / NSEC_PER_MSEC / ALERT_MS);
	ck_assert_int_eq(first, ALERT_MS);
	ck_assert_int_eq(longest, ALERT_MS);
}
END_TEST

START_TEST(with_notices_the_waits_get_longer)
{
	struct alert a = { 0 };
	int first, longest;

	alert_begin(&a, NSEC_PER_SEC);
	ck_assert_int_le(count_readings(&a, NSEC_PER_SEC, true, &first, &longest),
			 4); /* after 10, 110, 1110, 2110 ms */
	ck_assert_int_eq(first, ALERT_MS);
	ck_assert_int_eq(longest, ALERT_MAX_MS);
	/* the next program that is new is followed as closely as the first */
	alert_begin(&a, 9 * NSEC_PER_SEC);
	ck_assert_int_eq(alert_wait_ms(&a, 9 * NSEC_PER_SEC), ALERT_MS);
}
END_TEST

START_TEST(readings_for_other_reasons_delay_nothing)
{
	struct alert a = { 0 };

	alert_begin(&a, NSEC_PER_SEC);
	for (int ms = 1; ms < ALERT_MS; ms++) {
		const uint64_t now = NSEC_PER_SEC + ms * NSEC_PER_MSEC;

		alert_note_reading(&a, now, true);
		ck_assert_int_eq(alert_wait_ms(&a, now), ALERT_MS - ms);
		ck_assert(!alert_is_due(&a, now));
	}
}
END_TEST

START_TEST(news_hasten_the_next_reading_and_never_delay_it)
{
	struct alert a = { 0 };
	uint64_t now = NSEC_PER_SEC;

	alert_note_news(&a, now, true);
	ck_assert_int_eq(alert_wait_ms(&a, now), ALERT_MAX_MS);
	alert_note_news(&a, now + NSEC_PER_MSEC, true);
	ck_assert_int_eq(alert_wait_ms(&a, now + NSEC_PER_MSEC), ALERT_MAX_MS - 1);
	alert_begin(&a, now);
	alert_note_news(&a, now, true);
	ck_assert_int_eq(alert_wait_ms(&a, now), ALERT_MS);
	while (a.wait_ms < ALERT_MAX_MS) {
		now += (uint64_t)alert_wait_ms(&a, now) * NSEC_PER_MSEC;
		alert_note_reading(&a, now, true);
	}
	alert_note_news(&a, now, true);
	ck_assert_int_eq(alert_wait_ms(&a, now), ALERT_MAX_MS);
	alert_note_news(&a, now, false);
	ck_assert_int_eq(alert_wait_ms(&a, now), ALERT_MS);
	ck_assert_int_eq(alert_wait_ms(&a, now + ALERT_NS), -1);
}
END_TEST

START_TEST(nothing_is_due_without_an_alert)
{
	struct alert a = { 0 };

	ck_assert_int_eq(alert_wait_ms(&a, NSEC_PER_SEC), -1);
	alert_note_reading(&a, NSEC_PER_SEC, true);
	ck_assert_int_eq(alert_wait_ms(&a, NSEC_PER_SEC), -1);
	alert_begin(&a, NSEC_PER_SEC);
	ck_assert_int_eq(alert_wait_ms(&a, NSEC_PER_SEC + ALERT_NS), -1);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("alert");
	TCase *tc = tcase_create("alert");

	tcase_add_test(tc, without_notices_each_reading_waits_as_long);
	tcase_add_test(tc, with_notices_the_waits_get_longer);
	tcase_add_test(tc, readings_for_other_reasons_delay_nothing);
	tcase_add_test(tc, news_hasten_the_next_reading_and_never_delay_it);
	tcase_add_test(tc, nothing_is_due_without_an_alert);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
