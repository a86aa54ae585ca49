/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session below has one number to tell.
 */
#include "config.h"

#include "daemon/control/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "t/unit/unit.h"

struct session {
	int cpus;
};

static char dir[32], path[64], log_path[64];

void session_status(struct session *s, struct buf *out)
{
	buf_printf(out, "state sampling\ncpus %d\n", s->cpus);
}

static void setup(void)
{
	strcpy(dir, "/tmp/cpi-metrics.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cpi.prom", dir);
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	ck_assert_int_eq(log_open(log_path), 0);
}

static void teardown(void)
{
	unlink(log_path);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing else was left behind */
}

static void check_content(const char *at, const char *want)
{
	struct buf text = { 0 };

	ck_assert_int_eq(file_read_all(AT_FDCWD, at, 65536, &text), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), want));
	buf_fini(&text);
}

static int nr_logged(void)
{
	struct buf text = { 0 };
	int nr = 0;

	ck_assert_int_eq(file_read_all(AT_FDCWD, log_path, 65536, &text), 0);
	for (const char *at = buf_str(&text); *at; at++)
		nr += *at == '\n';
	buf_fini(&text);
	return nr;
}

START_TEST(the_file_is_readable_for_all_and_goes_at_the_end)
{
	struct session s = { 3 };
	struct metrics *m;
	struct stat st;

	umask(0077);
	ck_assert_int_eq(metrics_open(path, &m), 0);
	ck_assert_int_eq(metrics_write(m, &s), 0);
	check_content(path, "\ncpi_cpus 3\n");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	metrics_close(m);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(who_has_it_open_keeps_the_old_one)
{
	struct session s = { 1 };
	char text[512] = "";
	struct metrics *m;
	int fd;

	ck_assert_int_eq(metrics_open(path, &m), 0);
	ck_assert_int_eq(metrics_write(m, &s), 0);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	s.cpus = 2;
	ck_assert_int_eq(metrics_write(m, &s), 0);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_ptr_nonnull(strstr(text, "\ncpi_cpus 1\n"));
	check_content(path, "\ncpi_cpus 2\n");
	close(fd);
	metrics_close(m);
}
END_TEST

START_TEST(a_symlink_is_replaced_and_its_target_stays)
{
	char victim[64], link[64];
	struct session s = { 5 };
	struct metrics *m;
	struct stat st;

	snprintf(victim, sizeof(victim), "%s/victim", dir);
	snprintf(link, sizeof(link), "%s/cpi.prom", dir);
	close(open(victim, O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(symlink(victim, link), 0);
	ck_assert_int_eq(metrics_open(path, &m), 0);
	ck_assert_int_eq(metrics_write(m, &s), 0);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_int_eq(stat(victim, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	metrics_close(m);
	unlink(victim);
}
END_TEST

START_TEST(a_directory_behind_a_symlink_is_refused)
{
	char link[64], through[96];
	struct metrics *m = NULL;

	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(through, sizeof(through), "%s/cpi.prom", link);
	ck_assert_int_eq(symlink(".", link), 0);
	ck_assert_int_eq(metrics_open(through, &m), -ELOOP);
	ck_assert_ptr_null(m);
	unlink(link);
}
END_TEST

static const struct {
	const char *under; /* the directory */
	int err;
} paths[] = {
	{ "/none/cpi.prom", -ENOENT },
	{ "/log/cpi.prom", -ENOTDIR },
	{ "/", -EISDIR },
};

START_TEST(what_is_no_directory_is_refused)
{
	struct metrics *m = NULL;
	char at[64];

	snprintf(at, sizeof(at), "%s%s", dir, paths[_i].under);
	ck_assert_int_eq(metrics_open(at, &m), paths[_i].err);
	ck_assert_ptr_null(m);
	ck_assert_int_eq(nr_logged(), 1);
}
END_TEST

START_TEST(a_failure_is_told_once_and_so_is_its_end)
{
	struct session s = { 1 };
	struct metrics *m;

	ck_assert_int_eq(metrics_open(path, &m), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(metrics_write(m, &s), -EISDIR);
	ck_assert_int_eq(nr_logged(), 1);
	check_content(log_path, path);
	ck_assert_int_eq(rmdir(path), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(metrics_write(m, &s), 0);
	ck_assert_int_eq(nr_logged(), 2);
	metrics_close(m);
}
END_TEST

START_TEST(it_runs_at_once_and_then_waits)
{
	struct session s = { 1 };
	struct metrics *m;
	int wait;

	ck_assert_int_eq(metrics_open(path, &m), 0);
	ck_assert_int_gt(metrics_run(m, &s), 0);
	check_content(path, "\ncpi_cpus 1\n");
	s.cpus = 2;
	wait = metrics_run(m, &s);
	ck_assert_int_gt(wait, 0);
	ck_assert_int_le(wait, 15001);
	metrics_close(m);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("metrics");
	TCase *tc = tcase_create("metrics");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_file_is_readable_for_all_and_goes_at_the_end);
	tcase_add_test(tc, who_has_it_open_keeps_the_old_one);
	tcase_add_test(tc, a_symlink_is_replaced_and_its_target_stays);
	tcase_add_test(tc, a_directory_behind_a_symlink_is_refused);
	tcase_add_loop_test(tc, what_is_no_directory_is_refused, 0, NR(paths));
	tcase_add_test(tc, a_failure_is_told_once_and_so_is_its_end);
	tcase_add_test(tc, it_runs_at_once_and_then_waits);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
