/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_vfs.c - files that others put beside a database
 */
#include "config.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "t/unit/dbtest.h"

#define SECTOR 512
#define PAGE   1024

static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

static void put_u32(struct buf *b, uint32_t n)
{
	n = htonl(n);
	buf_put(b, &n, sizeof(n));
}

/*
 * Writes the journal of a transaction that has changed nothing yet in the database and
 * that is a part of the one of super, as SQLite's pager.c describes it.
 */
static void write_journal(const char *journal, const char *db, const char *super)
{
	uint32_t sum = 0;
	struct buf b = { 0 };
	struct stat st;
	int fd;

	ck_assert_int_eq(stat(db, &st), 0);

	buf_put(&b, magic, 8);
	put_u32(&b, 0); /* pages */
	put_u32(&b, 1);
	put_u32(&b, (uint32_t)(st.st_size / PAGE));
	put_u32(&b, SECTOR);
	put_u32(&b, PAGE);
	while (b.len < SECTOR)
		buf_putc(&b, '\0');
	for (const char *c = super; *c; c++)
		sum += (uint8_t)*c;
	put_u32(&b, 0x40000000 / PAGE + 1);
	buf_puts(&b, super);
	put_u32(&b, (uint32_t)strlen(super));
	put_u32(&b, sum);
	buf_put(&b, magic, 8);
	fd = open(journal, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, b.data, b.len), 0);
	close(fd);
	buf_fini(&b);
}

struct beside {
	struct dbtest t;
	char journal[100], other[100];
};

/* A database of one file. */
static void make(struct beside *b)
{
	struct store *s;
	struct db *db = dbtest_make(&b->t, &s);

	ck_assert_int_eq(dbtest_flush(s, 1, 4, 1), 0);
	store_free(s);
	db_close_whole(db);
	snprintf(b->journal, sizeof(b->journal), "%s-journal", b->t.path);
	snprintf(b->other, sizeof(b->other), "%s/other", b->t.dir);
}

static const enum db_mode modes[] = { DB_READ, DB_READ_CHECKED, DB_WRITE, DB_COLLECT };

START_TEST(a_journal_deletes_no_other_file)
{
	struct beside b;
	struct db *db = NULL;

	make(&b);
	ck_assert_int_eq(file_create(b.other, 0600), 0);
	ck_assert_int_eq(truncate(b.other, 1), 0); /* SQLite sees no empty one */
	write_journal(b.journal, b.t.path, b.other);
	for (int i = 0; i < 2; i++) { /* the second time the journal is played back */
		db_open(b.t.path, modes[_i], &db);
		db_close(db);
		db = NULL;
		ck_assert_int_eq(access(b.other, F_OK), 0);
	}
	dbtest_fini(&b.t);
}
END_TEST

START_TEST(a_journal_that_is_a_fifo_is_not_waited_for)
{
	struct beside b;
	struct db *db = NULL;

	make(&b);
	ck_assert_int_eq(mkfifo(b.journal, 0600), 0);
	db_open(b.t.path, modes[_i], &db);
	db_close(db);
	dbtest_fini(&b.t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("vfs");
	TCase *tc = tcase_create("vfs");

	tcase_add_loop_test(tc, a_journal_deletes_no_other_file, 0, NR(modes));
	tcase_add_loop_test(tc, a_journal_that_is_a_fifo_is_not_waited_for, 0,
			    NR(modes));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
