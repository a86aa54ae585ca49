/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/select/select.h"
#include "t/unit/dbtest.h"

/* Opens all epochs of t's database. No cpid is asked to store. */
static void open_all(struct dbtest *t, enum select_how how, struct selection *sel)
{
	const struct select_request req = { .dbs = { .nr = 1, .item = { t->path } },
					    .as_stored = true };

	ck_assert_int_eq(select_open_epochs(&req, "all", how, sel), 0);
}

/* The samples in the rows of a report. */
static uint64_t rows(const struct selection *sel)
{
	struct profile *p = profile_new();
	uint64_t n;

	ck_assert_int_eq(query_profiles(sel->db, &sel->query, dbtest_sum, p, NULL), 0);
	n = profile_total(p);
	profile_free(p);
	return n;
}

static uint64_t wal_bytes(const struct db *db)
{
	uint64_t file, wal;

	ck_assert_int_eq(db_size(db, &file, &wal), 0);
	return wal;
}

static const enum select_how hows[] = { SELECT_APART, SELECT_TOGETHER, SELECT_SUMS };

START_TEST(the_rows_add_up_to_the_totals_while_a_writer_commits)
{
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	struct selection sel;

	ck_assert_int_eq(dbtest_flush(s, 1, 0x10, 3), 0);
	open_all(&t, hows[_i], &sel);
	ck_assert_int_eq(dbtest_flush(s, 2, 0x20, 4), 0);
	ck_assert_uint_eq(sel.streams.stream[0].stored, 3);
	ck_assert_uint_eq(rows(&sel), 3);
	ck_assert_int_eq(dbtest_flush(s, 3, 0x30, 5), 0);
	ck_assert_uint_eq(rows(&sel), 3);
	select_close(&sel);

	open_all(&t, hows[_i], &sel);
	ck_assert_uint_eq(sel.streams.stream[0].stored, 12);
	ck_assert_uint_eq(rows(&sel), 12);
	select_close(&sel);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_report_that_was_read_lets_the_wal_be_emptied)
{
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	struct selection sel;

	ck_assert_int_eq(dbtest_flush(s, 1, 0x10, 3), 0);
	open_all(&t, SELECT_TOGETHER, &sel);
	ck_assert_uint_eq(rows(&sel), 3);
	ck_assert_int_eq(dbtest_flush(s, 2, 0x20, 4), 0);
	ck_assert_uint_gt(wal_bytes(db), 0);
	select_end_read(&sel);
	ck_assert_int_eq(dbtest_flush(s, 3, 0x30, 5), 0);
	ck_assert_uint_eq(wal_bytes(db), 0);
	select_close(&sel);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("select");
	TCase *tc = tcase_create("select");

	tcase_add_loop_test(tc, the_rows_add_up_to_the_totals_while_a_writer_commits, 0,
			    NR(hows));
	tcase_add_test(tc, a_report_that_was_read_lets_the_wal_be_emptied);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
