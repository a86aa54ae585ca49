/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "db/core/captures.h"
#include "db/retain/removal.h"
#include "t/unit/retain_make.h"

START_TEST(the_oldest_go_until_the_file_is_small_enough)
{
	struct retain_policy policy = { .bytes = 100 << 10 };
	uint64_t seed = 1, file, wal, before;
	int64_t newest, labelled;
	struct retain_stats stats;
	struct query_epochs e;
	struct dbtest t;
	struct db *db, *other;
	struct store *s;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 2);
	ck_assert_int_eq(db_size(db, &before, &wal), 0);
	ck_assert_uint_gt(before, 2 * policy.bytes);
	newest = number(db, "SELECT max(id) FROM epoch WHERE ?1", 1);
	labelled = number(db, "SELECT count(*) FROM epoch WHERE label != '' AND ?1", 1);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &policy, START + 9 * DAY, &stats);
	ck_assert_int_eq(db_size(db, &file, &wal), 0);
	ck_assert(stats.too_small || file + wal <= policy.bytes);
	ck_assert_uint_lt(file, before);
	ck_assert_uint_gt(stats.nr_removed, 0);
	ck_assert_uint_gt(stats.nr_pages, 0);
	ck_assert_int_eq(db_check(db), 0);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(e.epoch[e.nr - 1].id, newest);
	ck_assert_int_eq(
		number(db, "SELECT count(*) FROM epoch WHERE label != '' AND ?1", 1),
		labelled);

	/* As small as it gets: what is open, and what has a label. */
	policy.bytes = 1;
	run_steps(other, &policy, START + 9 * DAY, &stats);
	ck_assert(stats.too_small);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch WHERE ?1", 1),
			 labelled + 1);
	ck_assert_int_eq(db_check(db), 0);
	random_flush(s, &seed, 1000, START + 9 * DAY, HOUR / 2);
	ck_assert_int_eq(db_check(db), 0);
	query_epochs_fini(&e);
	store_free(s);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_was_collected_while_the_clock_was_back_is_not_old)
{
	const struct retain_policy policy = { .daily_ns = 30 * DAY };
	struct retain_stats stats;
	struct dbtest t;
	struct db *db, *other;
	struct store *s;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, START, &s), 0);
	ck_assert_int_eq(store_epoch(s, START, 1, NULL), 0);
	ck_assert_int_eq(store_epoch(s, START + DAY, 1, NULL), 0);
	ck_assert_int_eq(store_epoch(s, START - 90 * DAY, 1, NULL), 0);
	ck_assert_int_eq(store_epoch(s, START - 89 * DAY, 1, NULL), 0);
	ck_assert_int_eq(store_epoch(s, START + 2 * DAY, 1, NULL), 0);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &policy, START + 3 * DAY, &stats);
	ck_assert_uint_eq(stats.nr_removed, 0);
	run_steps(other, &policy, START + 33 * DAY, &stats);
	ck_assert_uint_eq(stats.nr_removed, 4);
	store_free(s);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(marks_go_with_the_epochs_before_them)
{
	struct retain_policy policy = { .hourly_ns = DAY, .daily_ns = 30 * DAY };
	struct dbtest t;
	struct db *db, *other;
	struct store *s;
	uint64_t seed = 1;
	int64_t first_ns;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 1);
	ck_assert_int_eq(store_end(s, START + 3 * DAY), 0);
	s = NULL;
	first_ns = number(db, "SELECT min(from_ns) FROM epoch WHERE ?1", 1);
	ck_assert_int_eq(store_mark_newest(db, first_ns, "early", "none"), 0);
	ck_assert_int_eq(store_mark_newest(db, START + 50 * DAY, "late", "none"), 0);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO container VALUES ('a', 'early', 1),"
				  " ('b', 'late', 9000000000000000000)"),
			 0);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &policy, START + 6 * DAY, NULL); /* days */
	ck_assert_int_eq(number(db, "SELECT count(*) FROM mark WHERE ?1", 1), 2);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE epoch SET label = ''"), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, START + 49 * DAY, &s), 0);
	ck_assert_int_eq(store_epoch(s, START + 49 * DAY, 2, NULL), 0);
	run_steps(other, &policy, START + 51 * DAY, NULL);
	first_ns = number(db, "SELECT min(from_ns) FROM epoch WHERE ?1", 1);
	ck_assert_int_eq(first_ns, START + 49 * DAY);
	ck_assert_int_eq(number(db, "SELECT min(at_ns) FROM mark WHERE ?1", 1),
			 START + 50 * DAY);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM container WHERE ?1", 1), 1);
	ck_assert_int_eq(
		number(db, "SELECT count(*) FROM container WHERE id = 'b' AND ?1", 1),
		1);
	store_free(s);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_nothing_refers_to_any_more_goes)
{
	struct retain_policy policy = { .daily_ns = DAY };
	struct dbtest t;
	struct db *db, *other;
	struct store *s;
	uint64_t seed = 1;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 1);
	ck_assert_int_eq(store_end(s, START + 3 * DAY), 0);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "UPDATE epoch SET label = '';"
				  "INSERT INTO gap VALUES (1, 5, 9, 'old', '')"),
			 0);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &policy, START + 90 * DAY, NULL);
	for (size_t i = 0; i < 9; i++) {
		static const char *const tables[] = { "epoch",    "flush", "profile",
						      "tally",    "comm",  "symbol",
						      "platform", "run",   "edge" };
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE ?1",
			 tables[i]);
		ck_assert_int_eq(number(db, sql, 1), 0);
	}
	ck_assert_int_eq(number(db, "SELECT count(*) FROM image WHERE ?1", 1), 1);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM context WHERE ?1", 1), 1);
	ck_assert_int_eq(db_check(db), 0);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_profile_that_is_damaged_stays_where_it_is)
{
	const uint64_t now = START + 6 * DAY;
	struct dbtest t;
	struct db *db, *other;
	struct store *s;
	uint64_t seed = 1;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 1);
	ck_assert_int_eq(store_end(s, now), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE epoch SET label = '';"
						 "UPDATE profile SET counts = x'ff'"
						 " WHERE epoch = 7 AND image = 3"),
			 0);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &hours_only, now, NULL);
	ck_assert_int_gt(number(db, "SELECT count(*) FROM profile WHERE epoch = ?1", 7),
			 0);
	ck_assert_int_eq(number(db,
				"SELECT count(*) FROM profile WHERE epoch = ?1"
				" AND image != 3",
				7),
			 0);
	ck_assert_int_eq(
		number(db,
		       "SELECT count(*) FROM tally WHERE ?1 AND received !="
		       " stored + coalesce((SELECT sum(n) FROM loss l WHERE"
		       " l.epoch = tally.epoch AND l.stream = tally.stream), 0)",
		       1),
		0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM roll WHERE ?1", 1), 0);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* n of one edge, as a row has them; 0: as none can have them. */
static void encode_edge(uint64_t n, struct buf *blob)
{
	const struct edge e = { .from = 4, .to = 8, .n = n };
	struct edges *set = edges_new();

	if (n) {
		ck_assert_int_eq(edges_add(set, &e), 0);
		ck_assert_int_eq(edges_encode(set, blob), 0);
	} else {
		buf_putc(blob, '\xff');
	}
	edges_free(set);
}

/* Makes the first row that an epoch has. */
static void put_edge(struct db *db, int64_t epoch, uint64_t n)
{
	static const char put[] =
		"INSERT INTO edge (epoch, image, target, stream, context, kind, total,"
		" edges) VALUES (?1, 0, 0, 1, 0, 0, ?2, ?3)";
	struct buf blob = { 0 };

	encode_edge(n, &blob);
	ck_assert_int_eq(sql_do(db_handle(db), put, "iib", epoch, n,
				(const void *)blob.data, blob.len),
			 0);
	buf_fini(&blob);
}

static const struct {
	const char *what;
	uint64_t there, here; /* n of epochs 5, which is rolled up into, and 7 and 8 */
} bad_edges[] = {
	{ "what is to move is damaged", 1, 0 },
	{ "what it is added to is damaged", 0, 1 },
	{ "both are too much for one row", INT64_MAX, 1 },
};

START_TEST(edges_that_cannot_be_rolled_up_stay_and_retention_goes_on)
{
	static const char sum[] = "SELECT sum(total) FROM edge WHERE image != 0 AND ?1";
	static const char rest[] = "SELECT count(*) FROM edge WHERE epoch = ?1";
	static const char total[] = "SELECT total FROM edge WHERE epoch = ?1";
	static const char one[] = "SELECT count(*) FROM epoch WHERE id = ?1";
	const struct retain_policy nothing = { .bytes = 1 };
	const uint64_t now = START + 6 * DAY;
	struct dbtest t;
	struct db *db, *other;
	struct store *s;
	uint64_t seed = 1;
	int64_t before;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	s = random_database(db, &seed, 1);
	ck_assert_int_eq(store_end(s, now), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE epoch SET label = ''"), 0);
	before = number(db, sum, 1);
	put_edge(db, 5, bad_edges[_i].there);
	put_edge(db, 7, bad_edges[_i].here);
	put_edge(db, 8, bad_edges[_i].here);
	other = dbtest_open(&t, DB_WRITE);
	run_steps(other, &hours_only, now, NULL);
	for (int64_t epoch = 7; epoch < 9; epoch++) {
		ck_assert_msg(number(db, rest, epoch) == 1, "%s", bad_edges[_i].what);
		ck_assert_int_eq(number(db, total, epoch), bad_edges[_i].here);
		ck_assert_int_eq(number(db, one, epoch), 1);
	}
	ck_assert_int_eq(number(db, rest, 6) + number(db, one, 6), 0);
	ck_assert_int_eq(number(db, sum, 1), before);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM roll WHERE ?1", 1), 0);

	run_steps(other, &nothing, now, NULL);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch WHERE ?1", 1), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM edge WHERE ?1", 1), 0);
	ck_assert_int_eq(db_check(db), 0);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *text;
	int err;
	struct retain_policy policy;
	const char *why; /* a part of it */
} policies[] = {
	{ RETAIN_DEFAULT, 0, { 7 * DAY, 90 * DAY, 2ULL << 30, 6 * HOUR }, "" },
	{ "all", 0, { 0 }, "" },
	{ "size:200M", 0, { 0, 0, 200 << 20, 0 }, "" },
	{ "daily:30d,hourly:36h", 0, { 36 * HOUR, 30 * DAY, 0, 6 * HOUR }, "" },
	{ "hourly:2h", 0, { 2 * HOUR, 0, 0, 2 * HOUR }, "" },
	{ "minutely:1d", 0, { 0, 0, 0, DAY }, "" },
	{ "minutely:1d,hourly:1d", 0, { DAY, 0, 0, DAY }, "" },
	{ "minutely:2d,hourly:1d", -EINVAL, { 0 }, "shorter" },
	{ "minutely:2d,daily:1d", -EINVAL, { 0 }, "shorter" },
	{ "", -EINVAL, { 0 }, "none of" },
	{ "hourly", -EINVAL, { 0 }, "hourly:7d" },
	{ "hourly:", -EINVAL, { 0 }, "hourly:7d" },
	{ "hourly:0", -EINVAL, { 0 }, "hourly:7d" },
	{ "hourly:7x", -EINVAL, { 0 }, "hourly:7d" },
	{ "size:2T", -EINVAL, { 0 }, "size:2G" },
	{ "size:1000", -EINVAL, { 0 }, "1M" },
	{ "weekly:7d", -EINVAL, { 0 }, "weekly" },
	{ "daily:7d,daily:8d", -EINVAL, { 0 }, "twice" },
	{ "daily:7d,", -EINVAL, { 0 }, "none of" },
	{ "hourly:7d,daily:1d", -EINVAL, { 0 }, "shorter" },
	{ "all,size:2G", -EINVAL, { 0 }, "none of" },
};

START_TEST(a_policy_is_read_or_refused_with_the_reason)
{
	struct retain_policy policy = { 1, 2, 3, 4 };
	struct buf why = { 0 };

	ck_assert_int_eq(retain_parse(policies[_i].text, &policy, &why),
			 policies[_i].err);
	ck_assert_ptr_nonnull(strstr(buf_str(&why), policies[_i].why));
	if (policies[_i].err)
		ck_assert_uint_eq(policy.daily_ns, 2);
	else
		ck_assert_int_eq(memcmp(&policy, &policies[_i].policy, sizeof(policy)),
				 0);
	buf_fini(&why);
}
END_TEST

START_TEST(an_epoch_is_removed_unless_it_is_open_or_labelled)
{
	struct slice slice = { 0 };
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 10), 0);
	ck_assert_int_eq(store_epoch(s, 1010 * SEC, 2, "kept"), 0);
	ck_assert_int_eq(dbtest_flush(s, 10, 4, 5), 0);
	ck_assert_int_eq(store_epoch(s, 1020 * SEC, 2, NULL), 0);
	slice.h = db_handle(db);
	ck_assert_int_eq(removal_begin(&slice, 1), 0);
	ck_assert_int_eq(removal_begin(&slice, 1), -EBUSY);
	ck_assert_int_eq(removal_begin(&slice, 2), -EPERM);
	ck_assert_int_eq(removal_begin(&slice, 3), -EBUSY);
	ck_assert_int_eq(removal_begin(&slice, 4), -ENOENT);
	while (removal_step(&slice) == 1)
		;
	ck_assert_int_eq(number(db, "SELECT sum(total) FROM profile WHERE ?1", 1), 5);
	ck_assert_int_eq(db_check(db), 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* A capture is stored as soon as its image has samples; their flush comes later. */
START_TEST(an_image_that_was_captured_waits_for_its_flush)
{
	const struct capture_part part = { "c", 1, "d", 1 };
	struct image_desc image = test_image;
	struct slice slice = { 0 };
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	slice.h = db_handle(db);
	image.name = "/usr/bin/new";
	ck_assert_int_eq(captures_add(db, &image, &part), 0);
	ck_assert_int_eq(removal_sweep(&slice), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM capture WHERE ?1", 1), 1);
	ck_assert_int_eq(db_check(db), 0);

	/* Without a flush it goes with the epoch. */
	ck_assert_int_eq(store_epoch(s, 1010 * SEC, 2, NULL), 0);
	ck_assert_int_eq(removal_begin(&slice, 1), 0);
	while (removal_step(&slice) == 1)
		;
	ck_assert_int_eq(removal_sweep(&slice), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM capture WHERE ?1", 1), 0);
	ck_assert_int_eq(db_check(db), 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("retain");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, the_oldest_go_until_the_file_is_small_enough);
	tcase_add_test(tc, what_was_collected_while_the_clock_was_back_is_not_old);
	tcase_add_test(tc, marks_go_with_the_epochs_before_them);
	tcase_add_test(tc, what_nothing_refers_to_any_more_goes);
	tcase_add_test(tc, a_profile_that_is_damaged_stays_where_it_is);
	tcase_add_loop_test(tc,
			    edges_that_cannot_be_rolled_up_stay_and_retention_goes_on,
			    0, NR(bad_edges));
	tcase_add_loop_test(tc, a_policy_is_read_or_refused_with_the_reason, 0,
			    NR(policies));
	tcase_add_test(tc, an_epoch_is_removed_unless_it_is_open_or_labelled);
	tcase_add_test(tc, an_image_that_was_captured_waits_for_its_flush);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
