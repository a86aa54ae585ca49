/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks that jump, stay wrong, or were off, and what retention believes of them. */
#include "config.h"

#include "db/retain/retain_clock.h"

#include <inttypes.h>

#include "db/core/sql.h"
#include "t/unit/retain_make.h"

#define MINUTE (60 * SEC)
#define NOW    (20100 * DAY)
#define YEAR   (365 * DAY)

/* At a time since boot the clock is at NOW + offset, and so much is believed. */
struct look {
	int64_t boot, real, believed; /* in minutes; the last two from NOW */
};

#define M_DAY  (24 * 60)
#define M_YEAR (365 * M_DAY)

/* The newest flush before is at NOW, if there is any. */
static const struct {
	const char *what;
	struct look look[5];
} stories[] = {
	{ "time goes by", { { 0, 0, 0 }, { 60, 60, 60 }, { 1440, 1440, 1440 } } },
	{ "a clock a little fast is followed", { { 0, 59, 59 }, { 60, 178, 178 } } },
	{ "100 days ahead for a moment",
	  { { 0, 0, 0 }, { 1, 100 * M_DAY + 1, 1 }, { 2, 2, 2 }, { 3, 3, 3 } } },
	{ "again and again, which is not lasting",
	  { { 0, 0, 0 },
	    { 1, 100 * M_DAY, 1 },
	    { 3000, 3000, 3000 },
	    { 3001, 100 * M_DAY, 3001 },
	    { 4400, 104 * M_DAY, 4400 } } },
	{ "100 days ahead for 3 days",
	  { { 0, 0, 0 },
	    { 1, 100 * M_DAY, 1 },
	    { 2 * M_DAY, 102 * M_DAY, 2 * M_DAY },
	    { 3 * M_DAY + 1, 103 * M_DAY, 103 * M_DAY } } },
	{ "a machine was off for 100 days",
	  { { 0, 100 * M_DAY, 0 },
	    { M_DAY, 101 * M_DAY, M_DAY },
	    { 3 * M_DAY, 103 * M_DAY, 103 * M_DAY } } },
	{ "it was off for a night",
	  { { 0, 600, 0 }, { 100, 700, 100 }, { 150, 750, 750 } } },
	{ "it was suspended for 100 days",
	  { { 0, 0, 0 }, { 100 * M_DAY, 100 * M_DAY, 100 * M_DAY } } },
	{ "years ahead at boot, until NTP sets it",
	  { { 0, 10 * M_YEAR, 0 }, { 10, 10 * M_YEAR + 10, 10 }, { 20, 20, 20 } } },
	{ "far back at boot, until NTP sets it",
	  { { 0, -20 * M_YEAR, -20 * M_YEAR },
	    { 10, -20 * M_YEAR + 10, -20 * M_YEAR + 10 },
	    { 20, 20, 20 },
	    { 21, 100 * M_DAY, 21 } } },
	{ "another jump begins another wait",
	  { { 0, 100 * M_DAY, 0 },
	    { 2 * M_DAY, 202 * M_DAY, 2 * M_DAY },
	    { 4 * M_DAY, 204 * M_DAY, 4 * M_DAY },
	    { 5 * M_DAY, 205 * M_DAY, 205 * M_DAY } } },
};

/* A run whose flushes cover these times, each a pair of minutes from NOW. */
static struct db *make_flushes(struct dbtest *t, const int64_t (*spans)[2], size_t nr)
{
	struct store *s;
	struct db *db = dbtest_make(t, &s);

	for (size_t i = 0; i < nr && spans[i][0] != spans[i][1]; i++) {
		const struct flush f = {
			.seq = i + 1,
			.from_ns = NOW + spans[i][0] * MINUTE,
			.to_ns = NOW + spans[i][1] * MINUTE,
			.duration_ns = (spans[i][1] - spans[i][0]) * MINUTE,
		};

		ck_assert_int_eq(store_flush(s, &f), 0);
	}
	store_free(s);
	return db;
}

START_TEST(a_jump_is_believed_once_it_has_lasted)
{
	static const int64_t before[][2] = { { -200 * M_DAY, 0 } };
	const struct look *l = stories[_i].look;
	struct retain_clock c;
	struct dbtest t;
	struct db *db = make_flushes(&t, before, 1);

	ck_assert_int_eq(retain_clock_read(&c, db, 5 * MINUTE), 0);
	for (size_t i = 0; i < NR(stories[_i].look); i++) {
		uint64_t now;

		if (i && !l[i].boot)
			break;
		now = retain_clock_now(&c, NOW + l[i].real * MINUTE,
				       (l[i].boot + 5) * MINUTE);
		ck_assert_msg(now == NOW + l[i].believed * MINUTE,
			      "%s, at minute %" PRId64 ": %" PRId64
			      " is believed, not %" PRId64,
			      stories[_i].what, l[i].boot,
			      (int64_t)(now - NOW) / (int64_t)MINUTE, l[i].believed);
	}
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What flushes tell, then what the clock says at the start, and what is believed. */
static const struct {
	const char *what;
	int64_t spans[5][2];
	int64_t real, believed;
} restarts[] = {
	{ "a database without flushes", { { 0 } }, 7, 7 },
	{ "the clock was ahead for a moment, and is right",
	  { { -M_DAY, 0 }, { 100 * M_DAY, 100 * M_DAY + 5 }, { 5, 10 } },
	  12,
	  12 },
	{ "it was ahead for a moment, and is still",
	  { { -M_DAY, 0 }, { 100 * M_DAY, 100 * M_DAY + 5 } },
	  100 * M_DAY + 6,
	  5 },
	{ "it has been ahead for 3 days",
	  { { -M_DAY, 0 }, { 100 * M_DAY, 103 * M_DAY } },
	  103 * M_DAY + 6,
	  103 * M_DAY + 6 },
	{ "two jumps, neither of which lasted",
	  { { -M_DAY, 0 },
	    { 100 * M_DAY, 100 * M_DAY + 5 },
	    { 200 * M_DAY, 200 * M_DAY + 5 } },
	  200 * M_DAY + 6,
	  10 },
	{ "the flushes after a night's pause are a quarter of it",
	  { { -M_DAY, 0 }, { 600, 760 } },
	  761,
	  761 },
};

START_TEST(a_restart_neither_shortens_nor_lengthens_the_wait)
{
	struct retain_clock c;
	struct dbtest t;
	struct db *db = make_flushes(&t, restarts[_i].spans, NR(restarts[_i].spans));
	uint64_t now;

	ck_assert_int_eq(retain_clock_read(&c, db, 5 * MINUTE), 0);
	now = retain_clock_now(&c, NOW + restarts[_i].real * MINUTE, 5 * MINUTE);
	ck_assert_msg(now == NOW + restarts[_i].believed * MINUTE,
		      "%s: %" PRId64 " is believed", restarts[_i].what,
		      (int64_t)(now - NOW) / (int64_t)MINUTE);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_was_waited_before_a_restart_counts)
{
	static const int64_t spans[][2] = { { -M_DAY, 0 },
					    { 100 * M_DAY, 102 * M_DAY } };
	struct retain_clock c;
	struct dbtest t;
	struct db *db = make_flushes(&t, spans, NR(spans));
	const uint64_t real = NOW + 102 * DAY + HOUR;

	ck_assert_int_eq(retain_clock_read(&c, db, 0), 0);
	ck_assert_uint_eq(retain_clock_now(&c, real, 0), NOW + 2 * DAY);
	ck_assert_uint_eq(c.wait_ns, DAY);
	ck_assert_uint_eq(retain_clock_now(&c, real + DAY, DAY), real + DAY);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("retain_clock");
	TCase *tc = tcase_create("core");

	tcase_add_loop_test(tc, a_jump_is_believed_once_it_has_lasted, 0, NR(stories));
	tcase_add_loop_test(tc, a_restart_neither_shortens_nor_lengthens_the_wait, 0,
			    NR(restarts));
	tcase_add_test(tc, what_was_waited_before_a_restart_counts);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
