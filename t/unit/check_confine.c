/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_confine.c - what a confined process cannot do, with and without Landlock
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/confine.h"
#include "t/unit/refuse_call.h"
#include "t/unit/unit.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

static const struct confine_limits nothing = { .memory_bytes = 1ULL << 40 };

/*
 * Confines a child, which cannot read processes afterwards: the filter of system calls
 * holds. The child leaves without the leak check of sanitizers, which would need to.
 */
static void a_child_confines_itself(void)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		if (confine_self(&nothing))
			_exit(1);
		_exit(syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) ==
					      -1 &&
				      errno == EPERM
			      ? 0
			      : 2);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(a_process_confines_itself)
{
	a_child_confines_itself();
}
END_TEST

/* A file that its user may write, but the confined process may not. */
static void try_to_truncate(const char *path)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		if (confine_self(&nothing))
			_exit(1);
		_exit(truncate(path, 0) < 0 ? 0 : 2);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(no_file_can_be_emptied)
{
	char path[] = "/tmp/check_confine.XXXXXX";
	const int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "text", 4), 4);
	try_to_truncate(path);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), 4);
	close(fd);
	unlink(path);
}
END_TEST

/* The runtimes of some containers refuse what they do not know with EPERM. */
static const int errors[] = { ENOSYS, EOPNOTSUPP, EPERM };

START_TEST(without_landlock_the_rest_holds)
{
	refuse_call(SYS_landlock_create_ruleset, errors[_i]);
	a_child_confines_itself();
}
END_TEST

START_TEST(another_failure_of_landlock_is_one)
{
	refuse_call(SYS_landlock_create_ruleset, EMFILE);
	ck_assert_int_eq(confine_self(&nothing), -EMFILE);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("confine");
	TCase *tc = tcase_create("confine");

	tcase_add_test(tc, a_process_confines_itself);
	tcase_add_test(tc, no_file_can_be_emptied);
	tcase_add_loop_test(tc, without_landlock_the_rest_holds, 0, NR(errors));
	tcase_add_test(tc, another_failure_of_landlock_is_one);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
