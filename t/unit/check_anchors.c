/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table anchor: what a flush adds, what comes back, and what retention leaves. */
#include "config.h"

#include "db/anchors.h"

#include <errno.h>
#include <string.h>

#include "db/export.h"
#include "db/join.h"
#include "db/retain.h"
#include "db/sql.h"
#include "t/unit/dbtest.h"

#define DAY    (86400 * SEC)
#define HOUR   (3600 * SEC)
#define PLACES 4
#define COMMS  2
#define LOST   3 /* visits of each flush */

static const char *const comms[COMMS] = { "cc1", "ld" };

/* The oracle: what was flushed, by place and command. */
struct sums {
	struct anchor_sums of[PLACES][COMMS];
	uint64_t visits;
	int nr_found;
};

static struct anchor_sums random_visit(uint64_t *seed)
{
	/* Sums of whole numbers are the same in any order. */
	return (struct anchor_sums){ .visits = 1 + unit_random(seed) % 9,
				     .hits = unit_random(seed) % 99,
				     .enabled_ns = unit_random(seed) % 1000,
				     .running_ns = unit_random(seed) % 1000,
				     .hit_ns = unit_random(seed) % 1000,
				     .rate = (double)(unit_random(seed) % 1000),
				     .squares = (double)(unit_random(seed) % 1000) };
}

static int flush(struct store *s, uint64_t seq, uint64_t now, uint64_t *seed,
		 struct sums *want)
{
	struct flush_anchor anchor[3];
	const struct flush_anchor_loss loss[] = { { "idle", LOST }, { "gone", 0 } };
	struct flush_anchors a = { .visits = LOST,
				   .anchor = anchor,
				   .nr_anchors = NR(anchor),
				   .loss = loss,
				   .nr_losses = NR(loss) };
	const struct flush f = { .seq = seq,
				 .from_ns = now,
				 .to_ns = now + SEC,
				 .duration_ns = SEC,
				 .anchors = &a };

	for (size_t i = 0; i < NR(anchor); i++) {
		const int place = unit_random(seed) % PLACES;
		const int comm = unit_random(seed) % COMMS;

		anchor[i] = (struct flush_anchor){ &test_image, 16 * place, comms[comm],
						   random_visit(seed) };
		a.visits += anchor[i].sums.visits;
		anchor_sums_add(&want->of[place][comm], &anchor[i].sums);
		want->visits += anchor[i].sums.visits;
	}
	return store_flush(s, &f);
}

static int compare(void *ctx, const struct query_anchor *a)
{
	struct sums *want = ctx;
	const int comm = !strcmp(a->comm, comms[1]);
	const struct anchor_sums *w = &want->of[a->start / 16][comm];

	ck_assert_str_eq(a->comm, comms[comm]);
	ck_assert_uint_eq(w->visits, a->sums.visits);
	ck_assert_uint_eq(w->hits, a->sums.hits);
	ck_assert_uint_eq(w->enabled_ns, a->sums.enabled_ns);
	ck_assert_uint_eq(w->running_ns, a->sums.running_ns);
	ck_assert_uint_eq(w->hit_ns, a->sums.hit_ns);
	ck_assert_double_eq(w->rate, a->sums.rate);
	ck_assert_double_eq(w->squares, a->sums.squares);
	want->nr_found++;
	return 0;
}

static void check_stored(struct db *db, struct sums *want, uint64_t nr_flushes)
{
	struct query_epochs e;
	int64_t lost, visits;
	int nr = 0;

	ck_assert_int_eq(db_check(db), 0);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	want->nr_found = 0;
	ck_assert_int_eq(query_anchors(db, &e, compare, want), 0);
	for (int i = 0; i < PLACES * COMMS; i++)
		nr += want->of[i / COMMS][i % COMMS].visits > 0;
	ck_assert_int_eq(want->nr_found, nr);
	ck_assert_int_eq(
		sql_get(db_handle(db), &lost, "SELECT sum(n) FROM anchor_loss", ""), 0);
	ck_assert_int_eq(lost, LOST * nr_flushes);
	ck_assert_int_eq(sql_get(db_handle(db), &visits,
				 "SELECT sum(visits) FROM anchor_tally", ""),
			 0);
	ck_assert_int_eq(visits, want->visits + LOST * nr_flushes);
	query_epochs_fini(&e);
}

/* Epochs of an hour, of two flushes each. */
static void add_hours(struct store *s, int nr, uint64_t seed, struct sums *want)
{
	for (int i = 0; i < 2 * nr; i++) {
		const uint64_t now = DAY + i * HOUR / 2;

		if (i % 2 == 0)
			ck_assert_int_eq(store_epoch(s, now, 1, NULL), 0);
		ck_assert_int_eq(flush(s, i + 1, now, &seed, want), 0);
	}
}

START_TEST(anchors_come_back_and_count_once)
{
	struct sums want = { .visits = 0 }, again = { .visits = 0 };
	uint64_t seed = unit_seed();
	struct dbtest t;
	struct store *s;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	add_hours(s, 3, seed, &want);
	check_stored(db, &want, 6);
	ck_assert_int_eq(flush(s, 6, DAY, &seed, &again), 0);
	check_stored(db, &want, 6);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct flush_anchors wrong[] = {
	{ .visits = 1 },
	{ .visits = (uint64_t)INT64_MAX + 1 },
	{ .loss = (const struct flush_anchor_loss[]){ { "idle", 1 } }, .nr_losses = 1 },
};

START_TEST(what_does_not_add_up_is_refused)
{
	const struct flush f = {
		.seq = 1, .from_ns = SEC, .to_ns = 2 * SEC, .anchors = &wrong[_i]
	};
	struct dbtest t;
	struct store *s;
	struct db *db;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(store_flush(s, &f), -EINVAL);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_day_has_the_anchors_of_its_hours)
{
	const struct retain_policy hours = { .hourly_ns = DAY },
				   days = { .daily_ns = DAY };
	struct sums want = { .visits = 0 };
	struct dbtest t;
	struct store *s;
	struct db *db;
	int64_t left;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, DAY, &s), 0);
	add_hours(s, 5, unit_seed(), &want);
	ck_assert_int_eq(store_end(s, DAY + 5 * HOUR), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, 9 * DAY, &s), 0);
	ck_assert_int_eq(store_epoch(s, 9 * DAY, 1, NULL), 0);
	dbtest_retain(db, &hours, 9 * DAY);
	check_stored(db, &want, 10);
	dbtest_retain(db, &days, 9 * DAY);
	ck_assert_int_eq(sql_get(db_handle(db), &left,
				 "SELECT (SELECT count(*) FROM anchor)"
				 " + (SELECT count(*) FROM anchor_loss)"
				 " + (SELECT count(*) FROM anchor_tally)"
				 " + (SELECT count(*) FROM image WHERE id != 0)",
				 ""),
			 0);
	ck_assert_int_eq(left, 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_copy_has_them_too)
{
	struct sums want = { .visits = 0 };
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	struct db *db, *copy;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	add_hours(s, 2, unit_seed(), &want);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(join_open("join", &(struct join_part){ t.path, &e }, 1, &copy),
			 0);
	check_stored(copy, &want, 4);
	query_epochs_fini(&e);
	db_close(copy);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("anchors");
	TCase *tcase = tcase_create("anchors");

	tcase_add_test(tcase, anchors_come_back_and_count_once);
	tcase_add_loop_test(tcase, what_does_not_add_up_is_refused, 0, NR(wrong));
	tcase_add_test(tcase, a_day_has_the_anchors_of_its_hours);
	tcase_add_test(tcase, a_copy_has_them_too);
	suite_add_tcase(suite, tcase);
	return suite;
}

UNIT_MAIN(make_suite)
