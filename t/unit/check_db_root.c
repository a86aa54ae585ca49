/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_db_root.c - what takes root to try: a full disk, and being another user
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "t/unit/dbtest.h"

#define READERS 12345 /* a group and a user that own nothing else */

/* A disk of that size for the rest of the test, mounted where only it can see. */
static void mount_small_disk(struct dbtest *t, const char *options)
{
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("check_db", t->dir, "tmpfs", 0, options), 0);
}

/* Writes until nothing fits any more. */
static void fill(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	while (!file_write(fd, zeros, sizeof(zeros)))
		;
	close(fd);
}

START_TEST(a_full_disk_keeps_what_is_stored_and_the_flush_comes_later)
{
	struct flush_stream stream = test_stream;
	struct flush_profile fp = { &test_image, 0, "", profile_new() };
	struct flush f = { .seq = 2,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = &fp,
			   .nr_profiles = 1 };
	uint64_t state = 1;
	struct profile *p;
	struct dbtest t;
	struct store *s;
	struct db *db;
	char ballast[100];

	dbtest_init(&t);
	log_open(NULL);
	mount_small_disk(&t, "size=2m");
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 1), 0);
	for (int i = 0; i < 20000; i++)
		profile_add(fp.profile,
			    &(struct count){ unit_random(&state) >> 20, 1, 0, 0 });
	stream.received = profile_total(fp.profile);
	snprintf(ballast, sizeof(ballast), "%s/ballast", t.dir);
	fill(ballast);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(store_flush(s, &f), -ENOSPC);
	p = dbtest_all(db);
	ck_assert_uint_eq(profile_total(p), 1);
	profile_free(p);
	ck_assert_int_eq(unlink(ballast), 0);
	ck_assert_int_eq(store_flush(s, &f), 0);
	p = dbtest_all(db);
	ck_assert_uint_eq(profile_total(p), 1 + stream.received);
	profile_free(p);
	ck_assert_int_eq(db_check(db), 0);
	ck_assert_int_eq(store_end(s, 2000 * SEC), 0);
	db_close(db);
	profile_free(fp.profile);
	ck_assert_int_eq(umount(t.dir), 0);
	dbtest_fini(&t);
}
END_TEST

/* Reads t's database in a process of the group alone: the total, or -1. */
static long read_as_group(struct dbtest *t, gid_t group)
{
	int fds[2], status;
	long total = -1;
	pid_t child;

	ck_assert_int_eq(pipe(fds), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		struct db *db;
		struct profile *p;

		if (setgroups(1, &group) ||
		    setresgid(READERS + 1, READERS + 1, READERS + 1) ||
		    setresuid(READERS, READERS, READERS))
			_exit(1);
		if (db_open(t->path, DB_READ, &db))
			_exit(2);
		p = dbtest_all(db);
		total = profile_total(p);
		profile_free(p);
		db_close(db);
		_exit(write(fds[1], &total, sizeof(total)) != sizeof(total));
	}
	close(fds[1]);
	if (read(fds[0], &total, sizeof(total)) != sizeof(total))
		total = -1;
	close(fds[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 1);
	return total;
}

enum writer { LIVES, ENDED, KILLED };

static const struct {
	enum writer writer;
	gid_t group;
	long want;
} readers[] = {
	{ LIVES, READERS, 3 },
	{ ENDED, READERS, 3 },
	{ KILLED, READERS, 3 },
	{ LIVES, READERS + 2, -1 }, /* no member: no access */
};

/* Writes three flushes, then says so and waits for its end. */
static void write_in_child(struct dbtest *t, enum writer writer, int ready, int end)
{
	struct db *db = dbtest_open(t, DB_COLLECT);
	struct store *s = dbtest_begin(db);
	char c;

	for (uint64_t seq = 1; seq <= 3; seq++)
		ck_assert_int_eq(dbtest_flush(s, seq, 4, 1), 0);
	if (writer == ENDED) {
		ck_assert_int_eq(store_end(s, 2000 * SEC), 0);
		db_close(db);
	}
	if (write(ready, "x", 1) != 1)
		_exit(1);
	_exit(read(end, &c, 1) < 0);
}

START_TEST(the_group_reads_whatever_became_of_the_writer)
{
	int ready[2], end[2], status;
	struct dbtest t;
	pid_t child;
	char c;

	dbtest_init(&t);
	ck_assert_int_eq(chown(t.dir, 0, READERS), 0);
	ck_assert_int_eq(chmod(t.dir, 02755), 0);
	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(end[1]);
		write_in_child(&t, readers[_i].writer, ready[1], end[0]);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	if (readers[_i].writer == KILLED) {
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
	}
	ck_assert_int_eq(read_as_group(&t, readers[_i].group), readers[_i].want);
	close(end[1]);
	if (readers[_i].writer != KILLED)
		ck_assert_int_eq(waitpid(child, &status, 0), child);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_file_that_another_user_put_there_is_not_written)
{
	static const struct {
		mode_t folder;
		uid_t owner, folders_owner;
		int err;
	} cases[] = {
		{ 01777, READERS, 0, -EPERM },  { 01777, 0, READERS, 0 },
		{ 01777, READERS, READERS, 0 }, { 01755, READERS, 0, 0 },
		{ 0755, READERS, 0, 0 },
	};
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	store_free(s);
	db_close_whole(db);
	ck_assert_int_eq(chmod(t.path, 0666), 0);
	for (size_t i = 0; i < NR(cases); i++) {
		ck_assert_int_eq(chown(t.path, cases[i].owner, 0), 0);
		ck_assert_int_eq(chown(t.dir, cases[i].folders_owner, 0), 0);
		ck_assert_int_eq(chmod(t.dir, cases[i].folder), 0);
		db = NULL;
		ck_assert_int_eq(db_open(t.path, DB_COLLECT, &db), cases[i].err);
		db_close(db);
	}
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_journal_that_another_user_put_there_is_not_used)
{
	static const char *const beside[] = { "-journal", "-wal", "-shm" };
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	store_free(s);
	db_close_whole(db);
	ck_assert_int_eq(chmod(t.dir, 01777), 0);
	for (size_t i = 0; i < NR(beside); i++) {
		char path[100];

		snprintf(path, sizeof(path), "%s%s", t.path, beside[i]);
		ck_assert_int_eq(file_create(path, 0666), 0);
		ck_assert_int_eq(chown(path, READERS, 0), 0);
		db = NULL;
		ck_assert_int_eq(db_open(t.path, DB_COLLECT, &db), -EPERM);
		ck_assert_int_eq(db_open(t.path, DB_WRITE, &db), -EPERM);
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(db_open(t.path, DB_COLLECT, &db), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("db_root");
	TCase *tc = tcase_create("db_root");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, a_file_that_another_user_put_there_is_not_written);
	tcase_add_test(tc, a_journal_that_another_user_put_there_is_not_used);
	tcase_add_test(tc, a_full_disk_keeps_what_is_stored_and_the_flush_comes_later);
	tcase_add_loop_test(tc, the_group_reads_whatever_became_of_the_writer, 0,
			    NR(readers));
	suite_add_tcase(s, tc);
	return s;
}

static int run_suite(void)
{
	SRunner *runner = srunner_create(make_suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Whether this process may mount and become another user. */
static bool may_be_root(void)
{
	pid_t child = geteuid() ? -1 : fork();
	int status;

	if (child == 0) /* in a chroot, "/" may be no mount point */
		_exit(unshare(CLONE_NEWNS) ||
		      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		      setresuid(READERS, READERS, READERS));
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

int main(void)
{
	if (!may_be_root()) {
		puts("1..0 # SKIP needs root, and no chroot, to mount a small disk and "
		     "be another user");
		return EXIT_SUCCESS;
	}
	return run_suite();
}
