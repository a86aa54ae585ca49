/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/select/default_db.h"
#include "t/unit/unit.h"

/* Seconds after which a file was written; 0: it is not there. */
static const struct {
	int local, local_wal, daemons, daemons_wal;
	const char *want;
} cases[] = {
	{ 0, 0, 0, 0, "daemons" }, { 0, 0, 1, 0, "daemons" },
	{ 1, 0, 0, 0, "local" },   { 2, 0, 1, 0, "local" },
	{ 2, 0, 2, 0, "local" },   { 1, 0, 2, 0, "daemons" },
	{ 2, 0, 1, 3, "daemons" }, { 2, 4, 1, 3, "local" },
	{ 0, 4, 1, 0, "daemons" }, /* a WAL alone is no database */
};

static void make(const char *name, int at_s)
{
	const struct timespec times[2] = { { .tv_sec = 1000 + at_s },
					   { .tv_sec = 1000 + at_s } };

	if (!at_s)
		return;
	close(open(name, O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(utimensat(AT_FDCWD, name, times, 0), 0);
}

START_TEST(the_database_that_was_written_last_is_chosen)
{
	static const char *const names[] = { "local", "local-wal", "daemons",
					     "daemons-wal" };
	char dir[] = "/tmp/cpi-default-db.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	make("local", cases[_i].local);
	make("local-wal", cases[_i].local_wal);
	make("daemons", cases[_i].daemons);
	make("daemons-wal", cases[_i].daemons_wal);
	ck_assert_str_eq(select_newer_db("local", "daemons"), cases[_i].want);
	for (size_t i = 0; i < NR(names); i++)
		unlink(names[i]);
	rmdir(dir);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("default_db");
	TCase *tc = tcase_create("default_db");

	tcase_add_loop_test(tc, the_database_that_was_written_last_is_chosen, 0,
			    NR(cases));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
