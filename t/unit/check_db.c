/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "db/core/schema.h"
#include "db/core/sql.h"
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
			    "PRAGMA user_version = 5");
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

/* Each has SQLite's approval, and none that of a reader. */
#define ALTERED(name, sql)                        \
	static void make_##name(const char *path) \
	{                                         \
		make_ours(path);                  \
		make_with_sql(path, sql);         \
	}
#define REWRITE(table, from, to)                                    \
	"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql" \
	" = replace(sql, '" from "', '" to "') WHERE name = '" table "'"

ALTERED(trigger, "CREATE TRIGGER t AFTER INSERT ON epoch BEGIN DELETE FROM gap; END")
ALTERED(view, "ALTER TABLE profile RENAME TO p; CREATE VIEW profile AS SELECT * FROM p")
ALTERED(more_tables, "CREATE TABLE more (x)")
ALTERED(more_columns, "ALTER TABLE epoch ADD COLUMN x INTEGER")
ALTERED(generated, REWRITE("epoch", "label TEXT NOT NULL",
			   "label TEXT AS (hex(zeroblob(50000000)))"))
ALTERED(foreign_index, "CREATE INDEX i ON image (hex(name))")
ALTERED(virtual_table, "CREATE VIRTUAL TABLE v USING rtree (id, a, b)")
ALTERED(no_index, "DROP INDEX image_identity")
ALTERED(no_table, "DROP TABLE spread")
ALTERED(nullable, REWRITE("tally", "received INTEGER NOT NULL", "received INTEGER"))
ALTERED(lax, REWRITE("stream", ") STRICT", ")"))
ALTERED(commented, REWRITE("epoch", "label TEXT", "label /* any */	TEXT"))
ALTERED(analyzed, "ANALYZE")

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
	{ "a text", make_text, -CPI_EFORMAT, -CPI_EFORMAT, "not an SQLite database" },
	{ "another's tables", make_foreign, -CPI_EFORMAT, -CPI_EFORMAT,
	  "of another program" },
	{ "another's id", make_foreign_with_id, -CPI_EFORMAT, -CPI_EFORMAT,
	  "of another program" },
	{ "a newer version", make_newer, -CPI_EVERSION, -CPI_EVERSION,
	  "use a newer CPI" },
	{ "a version below zero", make_negative_version, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "no valid version" },
	{ "a version without its tables", make_without_tables, -CPI_ECORRUPT,
	  -CPI_ECORRUPT, "is missing" },
	{ "a cut file", make_truncated, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "restore a copy" },
	{ "a header alone", make_header_only, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "restore a copy" },
	{ "one of ours", make_ours, 0, 0, NULL },
	{ "a trigger", make_trigger, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the trigger t is not one that CPI makes" },
	{ "a view", make_view, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table p is not one that CPI makes" },
	{ "a table more", make_more_tables, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table more is not one that CPI makes" },
	{ "a column more", make_more_columns, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table epoch is not as CPI makes it" },
	{ "a column that is computed", make_generated, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table epoch is not as CPI makes it" },
	{ "an index of an expression", make_foreign_index, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the index i is not one that CPI makes" },
	{ "a virtual table", make_virtual_table, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table v is not one that CPI makes" },
	{ "an index less", make_no_index, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the index image_identity is missing" },
	{ "a table less", make_no_table, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table spread is missing" },
	{ "a column that may be NULL", make_nullable, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table tally is not as CPI makes it" },
	{ "a table of any types", make_lax, -CPI_ECORRUPT, -CPI_ECORRUPT,
	  "the table stream is not as CPI makes it" },
	{ "one with other comments", make_commented, 0, 0, NULL },
	{ "one that ANALYZE has seen", make_analyzed, 0, 0, NULL },
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
	snprintf(pid, sizeof(pid), "process %ld (", (long)getpid());
	expect_log(&t, pid);
	ck_assert_ptr_null(other);
	db_close(dbtest_open(&t, DB_WRITE));
	db_close(db);
	db_close(dbtest_open(&t, DB_COLLECT));
	dbtest_fini(&t);
}
END_TEST

/* A process that has opened the database, until its pipe is closed. */
static pid_t start_holder(const struct dbtest *t, int (*hold)(const struct dbtest *),
			  int *end)
{
	int ready[2], done[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(done), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(done[1]);
		if (hold(t) || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(done[0], &c, 1) < 0);
	}
	close(ready[1]);
	close(done[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*end = done[1];
	return child;
}

static void end_holder(pid_t child, int end)
{
	int status;

	close(end);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

static int collect(const struct dbtest *t)
{
	struct db *db;

	return db_open(t->path, DB_COLLECT, &db);
}

START_TEST(a_hard_link_gets_no_second_collector)
{
	char link_path[100], pid[64];
	struct db *db = NULL;
	struct dbtest t;
	pid_t child;
	int end;

	dbtest_init(&t);
	child = start_holder(&t, collect, &end);
	snprintf(link_path, sizeof(link_path), "%s-link", t.path);
	ck_assert_int_eq(link(t.path, link_path), 0);
	ck_assert_int_eq(db_open(link_path, DB_COLLECT, &db), -CPI_EINUSE);
	ck_assert_ptr_null(db);
	snprintf(pid, sizeof(pid), "process %ld (", (long)child);
	expect_log(&t, pid);
	expect_log(&t, "by another name");
	end_holder(child, end);
	ck_assert_int_eq(db_open(link_path, DB_COLLECT, &db), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* A shared lock on all of the database, as a reader can have it. */
static int lock_shared(const struct dbtest *t)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd = open(t->path, O_RDONLY | O_CLOEXEC);

	lock.l_start = 0x40001000;
	return fd < 0 ? -errno : fcntl(fd, F_SETLK, &lock);
}

static int nr_searches;
static bool finds_nobody;

pid_t __real_lockholder_find(const struct lockholder_query *q);
pid_t __wrap_lockholder_find(const struct lockholder_query *q);
const char *__real_lockholder_name(pid_t pid, char name[LOCKHOLDER_NAME_SIZE]);
const char *__wrap_lockholder_name(pid_t pid, char name[LOCKHOLDER_NAME_SIZE]);

pid_t __wrap_lockholder_find(const struct lockholder_query *q)
{
	nr_searches++;
	return finds_nobody ? 0 : __real_lockholder_find(q);
}

const char *__wrap_lockholder_name(pid_t pid, char name[LOCKHOLDER_NAME_SIZE])
{
	nr_searches++;
	return __real_lockholder_name(pid, name);
}

/* While it is collected, to look who has it could take long. */
START_TEST(a_second_file_that_is_claimed_is_refused_without_a_search)
{
	static const char *const files[] = { "", "-wal", "-shm", "-lock" };
	struct db *db, *other = NULL;
	struct dbtest t;
	char name[100];
	pid_t child;
	int end;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	for (size_t i = 0; i < NR(files); i++) {
		snprintf(name, sizeof(name), "%s%s", t.path, files[i]);
		ck_assert_int_eq(unlink(name), 0);
	}
	child = start_holder(&t, collect, &end);
	ck_assert_int_eq(db_reopen(db, &other), -CPI_EINUSE);
	ck_assert_int_eq(nr_searches, 0);
	expect_log(&t, "another process has claimed it already");
	end_holder(child, end);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_reader_cannot_keep_a_collector_from_starting)
{
	struct dbtest t;
	struct stat st;
	char name[100];
	pid_t child;
	int end;

	dbtest_init(&t);
	db_close(dbtest_open(&t, DB_COLLECT));
	snprintf(name, sizeof(name), "%s-lock", t.path);
	ck_assert_int_eq(chmod(name, 0640), 0); /* as older versions made it */
	db_close(dbtest_open(&t, DB_COLLECT));
	ck_assert_int_eq(stat(name, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600); /* no reader opens it */
	child = start_holder(&t, lock_shared, &end);
	db_close(dbtest_open(&t, DB_COLLECT));
	snprintf(name, sizeof(name), "process %ld holds", (long)child);
	expect_log(&t, name);
	finds_nobody = true;
	db_close(dbtest_open(&t, DB_COLLECT));
	expect_log(&t, "another process holds a shared lock");
	end_holder(child, end);
	dbtest_fini(&t);
}
END_TEST

/* Which of the database's files are there, a letter for each. */
static const char *files_there(const struct dbtest *t)
{
	static const char *const end[] = { "", "-wal", "-shm", "-lock" };
	static char there[NR(end) + 1];
	size_t nr = 0;
	char name[100];

	for (size_t i = 0; i < NR(end); i++) {
		snprintf(name, sizeof(name), "%s%s", t->path, end[i]);
		if (!access(name, F_OK))
			there[nr++] = "dwsl"[i];
	}
	there[nr] = '\0';
	return there;
}

START_TEST(a_database_that_is_closed_whole_is_one_file)
{
	struct db *db;
	struct dbtest t;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	ck_assert_str_eq(files_there(&t), "dwsl");
	db_close_whole(db);
	ck_assert_str_eq(files_there(&t), "d");
	db_close(dbtest_open(&t, DB_READ));
	ck_assert_str_eq(files_there(&t), "d");
	db_close_whole(dbtest_open(&t, DB_WRITE));
	ck_assert_str_eq(files_there(&t), "d");
	db_close(dbtest_open(&t, DB_COLLECT));
	ck_assert_str_eq(files_there(&t), "dwsl");
	db_close_whole(NULL);
	dbtest_fini(&t);
}
END_TEST

/* A database in WAL mode, beside which nobody but its owner can make files. */
static void make_closed_folder(struct dbtest *t, bool with_wal)
{
	char name[100];

	dbtest_init(t);
	make_ours(t->path);
	for (size_t i = with_wal; i < 2; i++) {
		snprintf(name, sizeof(name), "%s%s", t->path, i ? "-shm" : "-wal");
		ck_assert_int_eq(unlink(name), 0);
	}
	if (with_wal) {
		snprintf(name, sizeof(name), "%s-wal", t->path);
		write_file(name, "x", 1);
	}
	ck_assert_int_eq(chmod(t->path, 0644), 0);
	ck_assert_int_eq(chmod(t->dir, 0555), 0);
}

/* Opens it as a user who may only read. */
static int open_as_other(const struct dbtest *t, enum db_mode mode, struct db **out)
{
	const uid_t user = geteuid();
	int err;

	ck_assert_int_eq(seteuid(user ? user : 65534), 0);
	err = db_open(t->path, mode, out);
	ck_assert_int_eq(seteuid(user), 0);
	return err;
}

static int64_t count_runs(struct db *db)
{
	int64_t n;

	ck_assert_int_eq(sql_get(db_handle(db), &n, "SELECT count(*) FROM run", ""), 0);
	return n;
}

START_TEST(a_reader_notices_a_writer_without_locks)
{
	struct db *db, *writer;
	struct dbtest t;

	make_closed_folder(&t, false);
	ck_assert_int_eq(open_as_other(&t, DB_READ, &db), -EACCES);
	ck_assert_int_eq(open_as_other(&t, DB_READ_CHECKED, &db), 0);
	ck_assert_int_eq(count_runs(db), 1);
	ck_assert_int_eq(db_read_check(db), 0);
	ck_assert_int_eq(chmod(t.dir, 0755), 0);
	writer = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(db_read_check(db), -EAGAIN); /* it may write the file */
	store_free(dbtest_begin(writer));
	db_close_whole(writer);
	ck_assert_str_eq(files_there(&t), "d");
	ck_assert_int_eq(db_read_check(db), -EAGAIN); /* it has written the file */
	db_close(db);
	ck_assert_int_eq(open_as_other(&t, DB_READ_CHECKED, &db), 0);
	ck_assert_int_eq(count_runs(db), 2);
	ck_assert_int_eq(db_read_check(db), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* A writer comes after the file's times were noted, and before it is read. */
static void (*write_meanwhile)(const char *path);

int __real_unlocked_note(const char *path, struct stat *noted);
int __wrap_unlocked_note(const char *path, struct stat *noted);

int __wrap_unlocked_note(const char *path, struct stat *noted)
{
	int err = __real_unlocked_note(path, noted);

	if (!err && write_meanwhile)
		write_meanwhile(path);
	return err;
}

/* The beginning of the file: half of a page is new. */
static void write_half(const char *path)
{
	FILE *f = fopen(path, "r+");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, 100, SEEK_SET), 0);
	for (int i = 0; i < 400; i++)
		ck_assert_int_ne(fputc(0xa5, f), EOF);
	ck_assert_int_eq(fclose(f), 0);
}

/* No page is torn, but the tables are no longer ours; by the file's owner. */
static void write_tables(const char *path)
{
	const uid_t user = geteuid();
	sqlite3 *h;
	char *dir = strdup(path);

	*strrchr(dir, '/') = '\0';
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(sqlite3_open(path, &h), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(h, "CREATE TABLE later (n)", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(h); /* and the files beside it are gone */
	ck_assert_int_eq(chmod(dir, 0555), 0);
	ck_assert_int_eq(seteuid(user), 0);
	free(dir);
}

static void (*const writers[])(const char *path) = { write_half, write_tables };

START_TEST(a_database_that_is_written_while_it_is_opened_is_not_called_damaged)
{
	struct dbtest t;
	struct db *db;

	make_closed_folder(&t, false);
	ck_assert_int_eq(chmod(t.path, 0666), 0);
	write_meanwhile = writers[_i];
	ck_assert_int_eq(open_as_other(&t, DB_READ_CHECKED, &db), -EAGAIN);
	ck_assert(!log_has_error());
	write_meanwhile = NULL; /* now it is damaged */
	ck_assert_int_eq(open_as_other(&t, DB_READ_CHECKED, &db), -CPI_ECORRUPT);
	ck_assert_int_eq(chmod(t.dir, 0755), 0);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_database_with_a_wal_is_not_read_without_locks)
{
	struct dbtest t;
	struct db *db;

	make_closed_folder(&t, true);
	ck_assert_int_eq(open_as_other(&t, DB_READ_CHECKED, &db), -EACCES);
	ck_assert_int_eq(chmod(t.dir, 0755), 0);
	dbtest_fini(&t);
}
END_TEST

static int read_it(const struct dbtest *t)
{
	struct db *db;

	return db_open(t->path, DB_READ, &db);
}

START_TEST(closing_an_unused_database_deletes_only_what_it_created)
{
	struct dbtest t;

	dbtest_init(&t);
	db_close_unused(dbtest_open(&t, DB_COLLECT));
	ck_assert_str_eq(files_there(&t), "");
	db_close_whole(dbtest_open(&t, DB_COLLECT));
	db_close_unused(dbtest_open(&t, DB_COLLECT));
	ck_assert_str_eq(files_there(&t), "dwsl");
	db_close_unused(NULL);
	dbtest_fini(&t);
}
END_TEST

static int write_it(const struct dbtest *t)
{
	struct db *db;

	return db_open(t->path, DB_WRITE, &db);
}

static int mark_it(const struct dbtest *t)
{
	struct db *db;
	int err = db_open(t->path, DB_WRITE, &db);

	if (!err)
		err = sql_exec(db_handle(db), "INSERT INTO mark VALUES ('h', 1, 'x')");
	if (!err)
		db_close(db);
	return err;
}

/*
 * Another process does this to a database that this one has made and does not use. It
 * is forked before, because SQLite's locks do not survive a fork.
 */
static void keep_what_is_used(int (*use)(const struct dbtest *))
{
	int ready[2], go[2], status;
	struct dbtest t;
	struct db *db;
	pid_t child;
	char c;

	dbtest_init(&t);
	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(go), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1 || use(&t) || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(go[0], &c, 1) < 0);
	}
	close(ready[1]);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	db_close_unused(db);
	ck_assert_ptr_nonnull(strchr(files_there(&t), 'd'));
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	dbtest_fini(&t);
}

START_TEST(an_unused_database_that_another_process_has_open_stays)
{
	keep_what_is_used(write_it);
}
END_TEST

START_TEST(an_unused_database_in_which_another_process_has_stored_stays)
{
	keep_what_is_used(mark_it);
}
END_TEST

START_TEST(an_unused_database_that_was_replaced_stays)
{
	struct dbtest t;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(unlink(t.path), 0);
	write_file(t.path, "other", 5);
	db_close_unused(db);
	ck_assert_ptr_nonnull(strchr(files_there(&t), 'd'));
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_database_that_is_read_keeps_its_wal)
{
	struct db *db;
	struct dbtest t;
	pid_t child;
	int end;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	db_close(db);
	child = start_holder(&t, read_it, &end);
	db_close_whole(dbtest_open(&t, DB_COLLECT));
	ck_assert_str_eq(files_there(&t), "dws");
	end_holder(child, end);
	db_close_whole(dbtest_open(&t, DB_COLLECT));
	ck_assert_str_eq(files_there(&t), "d");
	dbtest_fini(&t);
}
END_TEST

/* A process keeps the lock of one that has gone: flock(1) leaves it to its command. */
static int leave_lock(const struct dbtest *t)
{
	char name[100];
	int fd;

	snprintf(name, sizeof(name), "%s-lock", t->path);
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0 || write(fd, "1\n", 2) != 2)
		return -errno;
	if (!vfork()) {
		flock(fd, LOCK_EX);
		_exit(0);
	}
	wait(NULL);
	return 0;
}

START_TEST(who_keeps_the_lock_of_one_that_has_gone_is_named)
{
	char pid[64];
	struct db *db;
	struct dbtest t;
	pid_t child;
	int end;

	dbtest_init(&t);
	db_close(dbtest_open(&t, DB_COLLECT));
	child = start_holder(&t, leave_lock, &end);
	ck_assert_int_eq(db_open(t.path, DB_COLLECT, &db), -CPI_EINUSE);
	snprintf(pid, sizeof(pid), "process %ld (", (long)child);
	expect_log(&t, pid);
	end_holder(child, end);
	dbtest_fini(&t);
}
END_TEST

/* What keeps a writer from its lock, and takes no right but to read. */
static int lock_writers_out(const struct dbtest *t)
{
	struct flock lock = { .l_type = F_RDLCK, .l_start = 120, .l_len = 1 };
	char name[100];
	int fd;

	snprintf(name, sizeof(name), "%s-shm", t->path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fcntl(fd, F_SETLK, &lock);
}

static uint64_t slept_us;

/* In place of SQLite's: the time is counted, and does not pass. */
static int count_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	slept_us += us;
	return us;
}

START_TEST(a_writer_in_a_hurry_waits_for_no_lock_for_long)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	int (*const sleep)(sqlite3_vfs *, int) = vfs->xSleep;
	struct lockholder_query writer;
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	pid_t child;
	int end;

	ck_assert_int_eq(dbtest_flush(s, 1, 4, 1), 0);
	child = start_holder(&t, lock_writers_out, &end);
	vfs->xSleep = count_sleep;
	ck_assert_int_eq(dbtest_flush(s, 2, 4, 1), -EBUSY);
	ck_assert_uint_eq(slept_us, SQL_BUSY_TIMEOUT_MS * 1000);
	slept_us = 0;
	store_set_patience(s, true);
	ck_assert_int_eq(dbtest_flush(s, 2, 4, 1), -EBUSY);
	ck_assert_uint_eq(slept_us, SQL_SHORT_PATIENCE_MS * 1000);
	vfs->xSleep = sleep;
	writer = db_writer_query(db);
	ck_assert_int_eq(lockholder_find(&writer), child);
	end_holder(child, end);
	ck_assert_int_eq(dbtest_flush(s, 2, 4, 1), 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What the last reader takes as it closes the file: nobody else may read meanwhile. */
static int lock_readers_out(const struct dbtest *t)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 0x40000002, .l_len = 510 };
	int fd = open(t->path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fcntl(fd, F_SETLK, &lock);
}

/* How often the first thread of this process has gone to sleep. */
static long count_sleeps(void)
{
	static const char field[] = "\nvoluntary_ctxt_switches:";
	char path[40], text[4096];
	const char *at;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, field);
	return at ? strtol(at + sizeof(field) - 1, NULL, 10) : LONG_MAX;
}

/* Ends the holder when the first thread has tried to get the lock several times. */
static void *release(void *end)
{
	const long before = count_sleeps();

	while (count_sleeps() < before + 10)
		sched_yield();
	return write(*(int *)end, "x", 1) == 1 ? NULL : end;
}

START_TEST(a_reader_waits_for_a_moment_in_which_nobody_may_read)
{
	void *failed = NULL;
	pthread_t releaser;
	struct dbtest t;
	struct db *db;
	pid_t child;
	int end;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	db_close(db);
	child = start_holder(&t, lock_readers_out, &end);
	ck_assert_int_eq(pthread_create(&releaser, NULL, release, &end), 0);
	ck_assert_int_eq(db_open(t.path, DB_READ, &db), 0);
	ck_assert_int_eq(pthread_join(releaser, &failed), 0);
	ck_assert_ptr_null(failed);
	db_close(db);
	end_holder(child, end);
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

#define MAX_STEPS 64

/* The current steps, and one or two more. Returns how many that is. */
static int add_steps(const char **steps, const char *more, const char *last)
{
	int nr = schema_current.version;

	ck_assert_int_le(nr + 2, MAX_STEPS);
	memcpy(steps, schema_current.step, nr * sizeof(*steps));
	steps[nr++] = more;
	if (last)
		steps[nr++] = last;
	return nr;
}

START_TEST(an_older_database_is_migrated_once)
{
	const char *steps[MAX_STEPS];
	const struct schema next = { steps, add_steps(steps, next_step, NULL) };
	struct dbtest t;
	struct db *db;
	int version = 0;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	ck_assert_int_eq(schema_version(db_handle(db), "main", &next, &version), 0);
	ck_assert_int_eq(version, schema_current.version);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(schema_migrate(db_handle(db), &next), 0);
	ck_assert_int_eq(schema_version(db_handle(db), "main", &next, &version), 0);
	ck_assert_int_eq(version, next.version);
	ck_assert_int_eq(sql_exec(db_handle(db), "SELECT run FROM gap"), 0);
	ck_assert_int_eq(schema_migrate(db_handle(db), &schema_current), -CPI_EVERSION);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_migration_that_fails_changes_nothing)
{
	const char *steps[MAX_STEPS];
	const struct schema broken = { steps, add_steps(steps, next_step, "no SQL") };
	struct dbtest t;
	struct db *db;
	int version = 0;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_lt(schema_migrate(db_handle(db), &broken), 0);
	ck_assert_int_eq(schema_version(db_handle(db), "main", &broken, &version), 0);
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

/* What is not negative, and no more than was received, is believed. */
static const struct {
	const char *sql;
	int err;
} accounts[] = {
	{ "UPDATE tally SET received = received + 3; INSERT INTO loss VALUES"
	  " (1, 0, 1, 1, 'lost', 3)",
	  0 },
	{ "UPDATE tally SET received = received + 3", -CPI_ECORRUPT },
	{ "UPDATE tally SET received = received - 3; INSERT INTO loss VALUES"
	  " (1, 0, 1, 1, 'lost', -3)",
	  -CPI_ECORRUPT },
	{ "INSERT INTO loss VALUES (1, 0, 1, 1, 'a', 3), (1, 0, 1, 1, 'b', -3)",
	  -CPI_ECORRUPT },
	{ "UPDATE tally SET received = -9223372036854775807 - 1;"
	  " INSERT INTO loss SELECT 1, 0, 1, 1, 'lost',"
	  " 9223372036854775807 - stored + 1 FROM tally",
	  -CPI_ECORRUPT },
};

START_TEST(an_account_of_negative_terms_does_not_add_up)
{
	struct query_streams streams;
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	ck_assert_int_eq(dbtest_flush(s, 1, 4, 10), 0);
	ck_assert_int_eq(query_epochs(db, "last", &e), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), accounts[_i].sql), 0);
	ck_assert_int_eq(db_check(db), accounts[_i].err);
	ck_assert_int_eq(query_streams(db, &e, NULL, &streams), accounts[_i].err);
	if (!accounts[_i].err)
		query_streams_fini(&streams);
	query_epochs_fini(&e);
	ck_assert_int_eq(store_end(s, 2000 * SEC), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("db");
	TCase *tc = tcase_create("db");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, each_kind_of_file_has_its_answer, 0, NR(opens));
	tcase_add_test(tc, a_new_database_is_small_and_its_group_reads_it);
	tcase_add_test(tc, a_second_collector_is_told_who_was_first);
	tcase_add_test(tc, a_hard_link_gets_no_second_collector);
	tcase_add_test(tc, a_second_file_that_is_claimed_is_refused_without_a_search);
	tcase_add_test(tc, a_database_that_is_closed_whole_is_one_file);
	tcase_add_test(tc, a_reader_notices_a_writer_without_locks);
	tcase_add_loop_test(
		tc, a_database_that_is_written_while_it_is_opened_is_not_called_damaged,
		0, NR(writers));
	tcase_add_test(tc, a_database_with_a_wal_is_not_read_without_locks);
	tcase_add_test(tc, closing_an_unused_database_deletes_only_what_it_created);
	tcase_add_test(tc, an_unused_database_that_another_process_has_open_stays);
	tcase_add_test(tc,
		       an_unused_database_in_which_another_process_has_stored_stays);
	tcase_add_test(tc, an_unused_database_that_was_replaced_stays);
	tcase_add_test(tc, a_database_that_is_read_keeps_its_wal);
	tcase_add_test(tc, a_reader_cannot_keep_a_collector_from_starting);
	tcase_add_test(tc, who_keeps_the_lock_of_one_that_has_gone_is_named);
	tcase_add_test(tc, a_writer_in_a_hurry_waits_for_no_lock_for_long);
	tcase_add_test(tc, a_reader_waits_for_a_moment_in_which_nobody_may_read);
	tcase_add_test(tc, a_failed_open_leaves_the_locks_of_others_alone);
	tcase_add_test(tc, a_reader_beside_the_writer_sees_each_flush);
	tcase_add_test(tc, a_reader_who_stays_does_not_stop_the_writer);
	tcase_add_loop_test(tc, a_path_is_taken_literally, 0, NR(odd_names));
	tcase_add_test(tc, an_older_database_is_migrated_once);
	tcase_add_test(tc, a_migration_that_fails_changes_nothing);
	tcase_add_test(tc, a_damaged_database_is_refused_or_read);
	tcase_add_loop_test(tc, an_account_of_negative_terms_does_not_add_up, 0,
			    NR(accounts));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
