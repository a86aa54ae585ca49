/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/core/sql.h"
#include "db/query/spread.h"
#include "t/unit/dbtest.h"

#define MAX_STATEMENTS 64

/* The statements that queries ran, as SQLite reports them. */
struct statements {
	char *sql[MAX_STATEMENTS];
	size_t nr;
};

static int note_statement(unsigned int what, void *ctx, void *st, void *text)
{
	struct statements *s = ctx;

	if (what == SQLITE_TRACE_STMT && strncmp(text, "--", 2) != 0 &&
	    strncmp(text, "BEGIN", 5) != 0 && strncmp(text, "ROLLBACK", 8) != 0) {
		ck_assert_uint_lt(s->nr, MAX_STATEMENTS);
		s->sql[s->nr++] = strdup(sqlite3_sql(st));
	}
	return 0;
}

static int ignore_profile(void *ctx, const struct query_profile *row)
{
	return 0;
}

static int ignore_interval(void *ctx, const struct query_interval *row)
{
	return 0;
}

static int ignore_part(void *ctx, const struct query_part *row)
{
	return 0;
}

static int ignore_spread(void *ctx, const struct query_spread *row)
{
	return 0;
}

/* What reports ask, of some epochs. */
static void ask_everything(struct db *db)
{
	static const char *const specs[] = { "last", "all", "-1..last", "1..2",
					     "1970-01-01" };
	struct query_streams streams;
	struct query_losses losses;
	struct query_gaps gaps;
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };

	for (size_t i = 0; i < NR(specs); i++) {
		ck_assert_int_eq(query_epochs(db, specs[i], &e), 0);
		if (i + 1 < NR(specs))
			query_epochs_fini(&e);
	}
	ck_assert_int_eq(query_profiles(db, &sel, ignore_profile, NULL, NULL), 0);
	sel.image = "test";
	sel.event = "cpu-clock";
	ck_assert_int_eq(query_profiles(db, &sel, ignore_profile, NULL, NULL), 0);
	ck_assert_int_eq(query_streams(db, &e, NULL, &streams), 0);
	ck_assert_int_eq(query_losses(db, &e, &losses), 0);
	ck_assert_int_eq(query_gaps(db, 0, UINT64_MAX, &gaps), 0);
	ck_assert_int_eq(query_intervals(db, &e, ignore_interval, NULL), 0);
	ck_assert_int_eq(query_parts(db, &e, "cpu-clock", ignore_part, NULL), 0);
	ck_assert_int_eq(query_spreads(db, &e, "cpu-clock", ignore_spread, NULL), 0);
	query_streams_fini(&streams);
	query_losses_fini(&losses);
	query_gaps_fini(&gaps);
	query_epochs_fini(&e);
}

static bool is_large(const char *name, size_t len)
{
	static const char *const large[] = { "profile", "p",     "tally", "t",
					     "loss",    "l",     "comm",  "flush",
					     "rolled",  "spread" };

	for (size_t i = 0; i < NR(large); i++) {
		if (strlen(large[i]) == len && !memcmp(large[i], name, len))
			return true;
	}
	return false;
}

/* No table that grows with every epoch is read but by its key. */
static int check_step(sqlite3_stmt *st, void *ctx)
{
	const char *sql = ctx, *detail = sql_text(st, 3);
	const char *scan = strncmp(detail, "SCAN ", 5) ? NULL : detail + 5;

	if (scan && is_large(scan, strcspn(scan, " ")) && !strstr(sql, "platform p"))
		ck_abort_msg("%s\n%s", detail, sql);
	/* Images of a few epochs are sorted; they do not grow with epochs. */
	if (strstr(detail, "TEMP B-TREE") && strstr(sql, "FROM profile") &&
	    !strstr(sql, "FROM image i WHERE i.id IN"))
		ck_abort_msg("%s\n%s", detail, sql);
	return 0;
}

START_TEST(reports_search_by_key_what_grows)
{
	struct statements s = { .nr = 0 };
	struct dbtest t;
	struct db *db;
	struct store *store;
	bool profiles = false;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store = dbtest_begin(db);
	ck_assert_int_eq(dbtest_flush(store, 1, 4, 10), 0);
	ck_assert_int_eq(store_epoch(store, 1010 * SEC, 2, NULL), 0);
	ck_assert_int_eq(dbtest_flush(store, 10, 4, 5), 0);
	sqlite3_trace_v2(db_handle(db), SQLITE_TRACE_STMT, note_statement, &s);
	ask_everything(db);
	sqlite3_trace_v2(db_handle(db), 0, NULL, NULL);
	ck_assert_uint_gt(s.nr, 10);
	for (size_t i = 0; i < s.nr; i++) {
		char *explain;

		profiles |= strstr(s.sql[i], "FROM profile") != NULL;
		ck_assert_int_gt(asprintf(&explain, "EXPLAIN QUERY PLAN %s", s.sql[i]),
				 0);
		ck_assert_int_eq(
			sql_each(db_handle(db), check_step, s.sql[i], explain, ""), 0);
		free(explain);
		free(s.sql[i]);
	}
	ck_assert(profiles);
	store_free(store);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("plans");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, reports_search_by_key_what_grows);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
