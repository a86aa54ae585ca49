/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notices of the running kernel. Other programs of the machine cause notices, too, and
 * after one there is none for a while. So a new program is tried with several files,
 * and notices are compared by inode. Needs privileges.
 */
#include "config.h"

#include "daemon/mappings/newprogram.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/newprogram.h"
#include "base/times.h"
#include "t/unit/unit.h"

#define TRIES 200

/* This program, which ends at once if it has an argument. */
static const char program[] = "/proc/self/exe";

static char folder[] = "/tmp/check_newprogram.XXXXXX";

static void copy_to(const char *path)
{
	char buf[65536];
	int from = open(program, O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0755);
	ssize_t n;

	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(to, 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		ck_assert_int_eq(write(to, buf, n), n);
	close(from);
	close(to);
}

static void append_to(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	ck_assert_int_eq(write(fd, "", 1), 1);
	close(fd);
}

/* Runs the file; with an argument this program does nothing. */
static void run(const char *path)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, "end", NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

/* Takes the notices, and returns whether the last one is of this program. */
static bool was_told(struct newprogram *n, const char *path)
{
	uint64_t inode = 0;

	return newprogram_take(n, &inode) && inode == inode_of(path);
}

/* Until the next notice may come. */
static void wait_quiet(void)
{
	const uint64_t end_ns = time_mono_ns() + 2 * CPI_NEWPROGRAM_QUIET_NS;

	while (time_mono_ns() < end_ns)
		poll(NULL, 0, 1);
}

/* Runs a file after each change until a notice tells of it. */
static bool is_told(struct newprogram *n, const char *path,
		    void (*change)(const char *path))
{
	for (int i = 0; i < TRIES; i++) {
		change(path);
		wait_quiet();
		run(path);
		if (was_told(n, path))
			return true;
	}
	return false;
}

static void replace(const char *path)
{
	unlink(path);
	copy_to(path);
}

START_TEST(each_new_or_changed_program_is_told_once)
{
	const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev;
	struct newprogram *n;
	char path[64];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	ck_assert_int_eq(newprogram_open(&n), 0);
	ck_assert_int_eq(newprogram_watch(n, epoll_fd), 0);
	replace(path);
	wait_quiet();
	run(path);
	ck_assert_int_eq(epoll_wait(epoll_fd, &ev, 1, -1), 1); /* it wakes the daemon */
	ck_assert(is_told(n, path, replace));
	for (int i = 0; i < 20; i++) {
		wait_quiet();
		run(path);
		ck_assert(!was_told(n, path));
	}
	ck_assert(is_told(n, path, append_to));
	newprogram_close(n);
	close(epoll_fd);
	unlink(path);
	rmdir(folder);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("newprogram");
	TCase *tc = tcase_create("newprogram");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, each_new_or_changed_program_is_told_once);
	suite_add_tcase(s, tc);
	return s;
}

/* Where programs may not be loaded there is nothing to test. */
static Suite *suite_or_skip(void)
{
	struct newprogram *n;

	if (newprogram_open(&n)) {
		puts("1..0 # SKIP needs CAP_BPF and CAP_PERFMON");
		exit(EXIT_SUCCESS);
	}
	newprogram_close(n);
	return make_suite();
}

int main(int argc, char **argv)
{
	SRunner *runner;
	int failed;

	(void)argv;
	if (argc > 1)
		return EXIT_SUCCESS;
	runner = srunner_create(suite_or_skip());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
