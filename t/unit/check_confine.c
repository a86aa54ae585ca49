/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_confine.c - what a confined process cannot do, with and without Landlock
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "service/confine.h"
#include "t/unit/refuse_call.h"
#include "t/unit/unit.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

static const struct confine_limits nothing = { .memory_bytes = 1ULL << 40 };

/* The filter of system calls holds: no process is read. */
static void reads_no_process(void)
{
	ck_assert_int_eq(syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0),
			 -1);
	ck_assert_int_eq(errno, EPERM);
}

START_TEST(a_process_confines_itself)
{
	ck_assert_int_eq(confine_self(&nothing), 0);
	reads_no_process();
}
END_TEST

/* The runtimes of some containers refuse what they do not know with EPERM. */
static const int errors[] = { ENOSYS, EOPNOTSUPP, EPERM };

START_TEST(without_landlock_the_rest_holds)
{
	refuse_call(SYS_landlock_create_ruleset, errors[_i]);
	ck_assert_int_eq(confine_self(&nothing), 0);
	reads_no_process();
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
	tcase_add_loop_test(tc, without_landlock_the_rest_holds, 0, NR(errors));
	tcase_add_test(tc, another_failure_of_landlock_is_one);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
