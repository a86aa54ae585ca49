/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "db/schema.h"
#include "db/sql.h"
#include "t/unit/dbtest.h"

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, data, size), 0);
	close(fd);
}

static void make_nothing(const char *path)
{
}

static void make_empty(const char *path)
{
	write_file(path, "", 0);
}

static void make_directory(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_fifo(const char *path)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void make_text(const char *path)
{
	char text[5000];

	memset(text, 'x', sizeof(text));
	write_file(path, text, sizeof(text));
}

static void make_with_sql(const char *path, const char *sql)
{
	sqlite3 *h;

	ck_assert_int_eq(sqlite3_open(path, &h), SQLITE_OK);
	ck_assert_int_eq(sql_exec(h, sql), 0);
	sqlite3_close(h);
}

static void make_foreign(const char *path)
{
	make_with_sql(path, "CREATE TABLE theirs (x)");
}

static void make_foreign_with_id(const char *path)
{
	make_with_sql(path, "PRAGMA application_id = 7; PRAGMA user_version = 1");
}

static void make_ours(const char *path)
{
	struct db *db;

	ck_assert_int_eq(db_open(path, DB_COLLECT, &db), 0);
	store_free(dbtest_begin(db));
	db_close(db);
}

static void make_newer(const char *path)
{
	make_ours(path);
	make_with_sql(path, "PRAGMA user_version = 99");
}

static void make_negative_version(const char *path)
{
	make_ours(path);
	make_with_sql(path, "PRAGMA user_version = -1");
}

static void make_without_tables(const char *path)
{
	make_with_sql(path, "PRAGMA application_id = 1129335089;"
			    "PRAGMA user_version = 3");
}

static void make_truncated(const char *path)
{
	make_ours(path);
	ck_assert_int_eq(truncate(path, 5000), 0);
}

static void make_header_only(const char *path)
{
	make_ours(path);
	ck_assert_int_eq(truncate(path, 100), 0);
}

static const struct {
	const char *what;
	void (*make)(const char *path);
	int read, collect; /* what db_open() returns */
	const char *says;  /* the first mode that fails */
} opens[] = {
	{ "nothing", make_nothing, -ENOENT, 0, "start cpid" },
	{ "an empty file", make_empty, -CPI_EFORMAT, 0, "it is empty" },
	{ "a directory", make_directory, -EISDIR, -EISDIR, "name the file inside" },
	{ "a FIFO", make_fifo, -ENODEV, -ENODEV, "a regular file" },
	{ "a text", make_text, -CPI_EFORMAT, -CPI_EFORMAT, "no SQLite database" },
	{ "another's tables", make_foreign, -CPI_EFORMAT, -CPI_EFORMAT,
	  "of another program" },
	{ "another's id", make_foreign_with_id, -CPI_EFORMAT, -CPI_EFORMAT,
	  "of another program" },
	{ "a newer version", make_newer, -CPI_EVERSION, -CPI_EVERSION,
	  "use a newer CPI" },
	{ "a version below zero", make_negative_version, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "no valid version" },
	{ "a cut file", make_truncated, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "restore a copy" },
	{ "a header alone", make_header_only, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "restore a copy" },
	{ "one of ours", make_ours, 0, 0, NULL },
};

static void expect_log(struct dbtest *t, const char *text)
{
	struct buf b = { 0 };

	ck_assert_int_eq(file_read_all(AT_FDCWD, t->log, 1 << 20, &b), 0);
	ck_assert_msg(strstr(buf_str(&b), text) && strstr(buf_str(&b), t->path),
		      "'%s' and '%s' are not in: %s", text, t->path, buf_str(&b));
	buf_fini(&b);
}

START_TEST(each_kind_of_file_has_its_answer)
{
	static const enum db_mode modes[] = { DB_READ, DB_WRITE, DB_COLLECT };
	struct buf before = { 0 }, after = { 0 };
	struct dbtest t;

	dbtest_init(&t);
	opens[_i].make(t.path);
	file_read_all(AT_FDCWD, t.path, 1 << 20, &before);
	for (size_t i = 0; i < NR(modes); i++) {
		int want = modes[i] == DB_COLLECT ? opens[_i].collect : opens[_i].read;
		struct db *db = NULL;

		ck_assert_msg(db_open(t.path, modes[i], &db) == want, "%s in mode %zu",
			      opens[_i].what, i);
		ck_assert(!db == (want != 0));
		if (want) {
			expect_log(&t, opens[_i].says);
			buf_reset(&after);
			file_read_all(AT_FDCWD, t.path, 1 << 20, &after);
			ck_assert_uint_eq(before.len, after.len);
			ck_assert(!before.len ||
				  !memcmp(before.data, after.data, before.len));
		}
		db_close(db);
	}
	buf_fini(&before);
	buf_fini(&after);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_schema_that_is_not_there_is_corrupt)
{
	struct query_epochs e;
	struct dbtest t;
	struct db *db;

	dbtest_init(&t);
	make_without_tables(t.path);
	db = dbtest_open(&t, DB_READ);
	ck_assert_int_eq(query_epochs(db, "all", &e), -CPI_ECORRUPT);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_new_database_is_small_and_its_group_reads_it)
{
	uint64_t file, wal;
	mode_t old = umask(077);
	struct stat st;
	struct dbtest t;
	struct db *db;
	char name[100];
	int64_t value;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_end(dbtest_begin(db), 1001 * SEC);
	ck_assert_int_eq(db_size(db, &file, &wal), 0);
	ck_assert_uint_gt(file, 0);
	ck_assert_uint_le(file, 100 << 10);
	ck_assert_uint_eq(wal, 0);
	for (const char *const *suffix =
		     (const char *const[]){ "", "-wal", "-shm", NULL };
	     *suffix; suffix++) {
		snprintf(name, sizeof(name), "%s%s", t.path, *suffix);
		ck_assert_int_eq(stat(name, &st), 0);
		ck_assert_int_eq(st.st_mode & 07777, 0640);
	}
	sql_get(db_handle(db), &value, "PRAGMA auto_vacuum", "");
	ck_assert_int_eq(value, 2);
	sql_get(db_handle(db), &value, "PRAGMA page_size", "");
	ck_assert_int_eq(value, 1024);
	sql_get(db_handle(db), &value, "PRAGMA synchronous", "");
	ck_assert_int_eq(value, 2);
	ck_assert_int_eq(db_check(db), 0);
	db_close(db);
	umask(old);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_second_collector_is_told_who_was_first)
{
	char link[100], pid[64];
	struct db *db, *other = NULL;
	struct dbtest t;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	snprintf(link, sizeof(link), "%s/link", t.dir);
	ck_assert_int_eq(symlink("cpi.db", link), 0);
	ck_assert_int_eq(db_open(t.path, DB_COLLECT, &other), -CPI_EINUSE);
	ck_assert_int_eq(db_open(link, DB_COLLECT, &other), -CPI_EINUSE);
	snprintf(pid, sizeof(pid), "process %ld collects", (long)getpid());
	expect_log(&t, pid);
	ck_assert_ptr_null(other);
	db_close(dbtest_open(&t, DB_WRITE));
	db_close(db);
	db_close(dbtest_open(&t, DB_COLLECT));
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_failed_open_leaves_the_locks_of_others_alone)
{
	struct db *db, *other;
	struct dbtest t;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(sql_exec(db_handle(db), "BEGIN IMMEDIATE"), 0);
	ck_assert_int_eq(db_open(t.path, DB_COLLECT, &other), -CPI_EINUSE);
	other = dbtest_open(&t, DB_WRITE);
	sqlite3_busy_timeout(db_handle(other), 0);
	ck_assert_int_eq(store_label_epoch(other, 1, "x"), -EBUSY);
	sql_rollback(db_handle(db));
	ck_assert_int_eq(store_label_epoch(other, 1, "x"), -ENOENT);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_reader_beside_the_writer_sees_each_flush)
{
	struct db *db, *reader;
	uint64_t file, wal;
	struct profile *p;
	struct dbtest t;
	struct store *s;

	db = dbtest_make(&t, &s);
	reader = dbtest_open(&t, DB_READ);
	for (uint64_t seq = 1; seq <= 50; seq++) {
		ck_assert_int_eq(dbtest_flush(s, seq, 4, 1), 0);
		p = dbtest_all(reader);
		ck_assert_uint_eq(profile_total(p), seq);
		profile_free(p);
		ck_assert_int_eq(db_size(db, &file, &wal), 0);
		ck_assert_uint_eq(wal, 0); /* nobody reads now */
	}
	ck_assert_int_lt(sql_exec(db_handle(reader), "DELETE FROM flush"), 0);
	ck_assert_int_eq(store_end(s, 2000 * SEC), 0);
	db_close(db);
	p = dbtest_all(reader);
	ck_assert_uint_eq(profile_total(p), 50);
	profile_free(p);
	db_close(reader);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_reader_who_stays_does_not_stop_the_writer)
{
	struct db *db, *reader;
	sqlite3_stmt *st = NULL;
	struct dbtest t;
	struct store *s;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 1), 0);
	reader = dbtest_open(&t, DB_READ);
	ck_assert_int_eq(sql_prepare(db_handle(reader), "SELECT * FROM flush", &st), 0);
	ck_assert_int_eq(sql_step(st), 1);
	for (uint64_t seq = 2; seq <= 5; seq++)
		ck_assert_int_eq(dbtest_flush(s, seq, 4, 1), 0);
	ck_assert_int_eq(sql_step(st), 0); /* still the database of then */
	sqlite3_finalize(st);
	db_close(reader);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const char *const odd_names[] = { "a?b",        "a#b",
					 "100%41",     "file:x?mode=rw",
					 "with space", "'quote\"" };

START_TEST(a_path_is_taken_literally)
{
	struct db *db;
	struct dbtest t;

	dbtest_init(&t);
	snprintf(t.path, sizeof(t.path), "%s/%s", t.dir, odd_names[_i]);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	db_close(db);
	ck_assert_int_eq(access(t.path, F_OK), 0);
	db_close(dbtest_open(&t, DB_READ));
	dbtest_fini(&t);
}
END_TEST

static const char next_step[] = "ALTER TABLE gap ADD COLUMN run INTEGER";

START_TEST(an_older_database_is_migrated_once)
{
	const char *steps[] = { schema_current.step[0], schema_current.step[1],
				schema_current.step[2], next_step };
	const struct schema next = { steps, NR(steps) };
	struct dbtest t;
	struct db *db;
	int version = 0;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	ck_assert_int_eq(schema_version(db_handle(db), &next, &version), 0);
	ck_assert_int_eq(version, schema_current.version);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(schema_migrate(db_handle(db), &next), 0);
	ck_assert_int_eq(schema_version(db_handle(db), &next, &version), 0);
	ck_assert_int_eq(version, next.version);
	ck_assert_int_eq(sql_exec(db_handle(db), "SELECT run FROM gap"), 0);
	ck_assert_int_eq(schema_migrate(db_handle(db), &schema_current), -CPI_EVERSION);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_migration_that_fails_changes_nothing)
{
	const char *steps[] = { schema_current.step[0], schema_current.step[1],
				schema_current.step[2], next_step, "no SQL" };
	const struct schema broken = { steps, NR(steps) };
	struct dbtest t;
	struct db *db;
	int version = 0;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_lt(schema_migrate(db_handle(db), &broken), 0);
	ck_assert_int_eq(schema_version(db_handle(db), &broken, &version), 0);
	ck_assert_int_eq(version, schema_current.version);
	ck_assert_int_lt(sql_exec(db_handle(db), "SELECT run FROM gap"), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Any byte of any page: refused, or read, but never a crash or a hang. */
START_TEST(a_damaged_database_is_refused_or_read)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct buf good = { 0 };
	struct dbtest t;
	struct store *s;
	struct db *db;

	db = dbtest_make(&t, &s);
	for (uint64_t seq = 1; seq <= 20; seq++)
		ck_assert_int_eq(dbtest_flush(s, seq, seq * 4, seq), 0);
	ck_assert_int_eq(store_end(s, 2000 * SEC), 0);
	db_close(db);
	ck_assert_int_eq(file_read_all(AT_FDCWD, t.path, 1 << 20, &good), 0);
	for (int round = 0; round < 200; round++) {
		char *bad = malloc(good.len);

		memcpy(bad, good.data, good.len);
		for (int i = unit_random(&state) % 8; i >= 0; i--)
			bad[unit_random(&state) % good.len] = unit_random(&state);
		write_file(t.path, bad, good.len);
		free(bad);
		db = NULL;
		if (!db_open(t.path, DB_READ, &db)) {
			struct query_epochs e;
			struct profile *p = profile_new();

			db_check(db);
			if (!query_epochs(db, "all", &e)) {
				struct query_selection sel = { .epochs = &e };

				query_profiles(db, &sel, dbtest_sum, p, NULL);
				query_epochs_fini(&e);
			}
			profile_free(p);
		}
		db_close(db);
	}
	write_file(t.path, good.data, good.len);
	db = dbtest_open(&t, DB_READ);
	ck_assert_int_eq(db_check(db), 0);
	db_close(db);
	buf_fini(&good);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("db");
	TCase *tc = tcase_create("db");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, each_kind_of_file_has_its_answer, 0, NR(opens));
	tcase_add_test(tc, a_schema_that_is_not_there_is_corrupt);
	tcase_add_test(tc, a_new_database_is_small_and_its_group_reads_it);
	tcase_add_test(tc, a_second_collector_is_told_who_was_first);
	tcase_add_test(tc, a_failed_open_leaves_the_locks_of_others_alone);
	tcase_add_test(tc, a_reader_beside_the_writer_sees_each_flush);
	tcase_add_test(tc, a_reader_who_stays_does_not_stop_the_writer);
	tcase_add_loop_test(tc, a_path_is_taken_literally, 0, NR(odd_names));
	tcase_add_test(tc, an_older_database_is_migrated_once);
	tcase_add_test(tc, a_migration_that_fails_changes_nothing);
	tcase_add_test(tc, a_damaged_database_is_refused_or_read);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
