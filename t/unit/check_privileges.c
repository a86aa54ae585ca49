/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/os/privileges.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "t/unit/unit.h"

/* What cpid(8) documents. */
#define KEPT                                                                          \
	(1ULL << CAP_PERFMON | 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | \
	 1ULL << CAP_SYSLOG | 1ULL << CAP_BPF | 1ULL << 40)

/* One of the masks in /proc/self/status. */
static uint64_t read_mask(const char *name)
{
	struct buf b = { 0 };
	char key[16];
	const char *line;
	uint64_t mask;

	ck_assert_int_eq(file_read_all(-1, "/proc/self/status", 65536, &b), 0);
	snprintf(key, sizeof(key), "\n%s:", name);
	line = strstr(buf_str(&b), key);
	ck_assert_ptr_nonnull(line);
	mask = strtoull(line + strlen(key), NULL, 16);
	buf_fini(&b);
	return mask;
}

START_TEST(only_the_documented_capabilities_stay)
{
	uint64_t permitted = read_mask("CapPrm"), bounding = read_mask("CapBnd");
	uint64_t kept = KEPT & permitted;
	bool full = permitted >> CAP_SETPCAP & 1;

	if (!(permitted >> CAP_PERFMON & 1))
		kept |= permitted & 1ULL << CAP_SYS_ADMIN;
	ck_assert_int_eq(privileges_drop(), 0);
	ck_assert_uint_eq(read_mask("CapPrm"), kept);
	ck_assert_uint_eq(read_mask("CapEff"), kept);
	ck_assert_uint_eq(read_mask("CapInh"), 0);
	ck_assert_uint_eq(read_mask("CapAmb"), 0);
	ck_assert_uint_eq(read_mask("CapBnd"), full ? kept & bounding : bounding);
	ck_assert_uint_eq(read_mask("NoNewPrivs"), 1);
	ck_assert_int_eq(privileges_drop(), 0); /* again: nothing more to give up */
	ck_assert_uint_eq(read_mask("CapPrm"), kept);
}
END_TEST

static void give_up(cap_value_t cap)
{
	cap_t caps = cap_get_proc();

	ck_assert_ptr_nonnull(caps);
	ck_assert_int_eq(cap_set_flag(caps, CAP_PERMITTED, 1, &cap, CAP_CLEAR), 0);
	ck_assert_int_eq(cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, CAP_CLEAR), 0);
	ck_assert_int_eq(cap_set_proc(caps), 0);
	cap_free(caps);
}

/* /proc/PID/map_files wants CHECKPOINT_RESTORE, or SYS_ADMIN where that is missing. */
START_TEST(a_reader_keeps_what_reading_needs)
{
	uint64_t wanted = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH;
	uint64_t permitted;

	if (_i)
		give_up(CAP_CHECKPOINT_RESTORE);
	permitted = read_mask("CapPrm");
	wanted |= permitted >> CAP_CHECKPOINT_RESTORE & 1
			  ? 1ULL << CAP_CHECKPOINT_RESTORE
			  : 1ULL << CAP_SYS_ADMIN;
	ck_assert_int_eq(privileges_keep_reading(), 0);
	ck_assert_uint_eq(read_mask("CapPrm"), wanted & permitted);
	ck_assert_uint_eq(read_mask("CapEff"), wanted & permitted);
}
END_TEST

START_TEST(what_is_effective_is_known)
{
	uint64_t effective = read_mask("CapEff");

	for (int cap = 0; cap < 41; cap++)
		ck_assert_int_eq(privileges_have(cap), effective >> cap & 1);
	ck_assert(!privileges_have(63));
	ck_assert(!privileges_have(-1));
}
END_TEST

START_TEST(nothing_that_is_executed_gets_more)
{
	char *const argv[] = { "grep", "-q", "^CapEff:\t0000000000000000$",
			       "/proc/self/status", NULL };
	int status;
	pid_t pid;

	ck_assert_int_eq(privileges_drop(), 0);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(memory_is_not_dumped)
{
	struct rlimit core;

	ck_assert_int_eq(privileges_drop(), 0);
	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
	ck_assert_uint_eq(core.rlim_cur, 0);
	ck_assert_uint_eq(core.rlim_max, 0);
}
END_TEST

START_TEST(who_has_nothing_gives_up_nothing)
{
	if (geteuid() == 0)
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	ck_assert_uint_eq(read_mask("CapPrm"), 0);
	ck_assert_int_eq(privileges_drop(), 0);
	ck_assert_uint_eq(read_mask("CapPrm"), 0);
}
END_TEST

START_TEST(another_user_keeps_the_capabilities)
{
	uint64_t permitted = read_mask("CapPrm");
	int err = privileges_become("nobody");

	if (!(permitted >> CAP_SETUID & 1 && permitted >> CAP_SETGID & 1)) {
		ck_assert_int_eq(err, -EPERM);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_uint_ne(getuid(), 0);
	ck_assert_uint_ne(getgid(), 0);
	ck_assert_uint_eq(read_mask("CapEff"), permitted);
	ck_assert_int_eq(privileges_drop(), 0);
	ck_assert_uint_eq(read_mask("CapEff") & ~(KEPT | 1ULL << CAP_SYS_ADMIN), 0);
	ck_assert_int_eq(setuid(0), -1);
}
END_TEST

START_TEST(a_user_that_is_not_there_is_an_error)
{
	ck_assert_int_eq(privileges_become("no such user"), -ENOENT);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("privileges");
	TCase *tc = tcase_create("privileges");

	tcase_add_test(tc, only_the_documented_capabilities_stay);
	tcase_add_loop_test(tc, a_reader_keeps_what_reading_needs, 0, 2);
	tcase_add_test(tc, what_is_effective_is_known);
	tcase_add_test(tc, nothing_that_is_executed_gets_more);
	tcase_add_test(tc, memory_is_not_dumped);
	tcase_add_test(tc, who_has_nothing_gives_up_nothing);
	tcase_add_test(tc, another_user_keeps_the_capabilities);
	tcase_add_test(tc, a_user_that_is_not_there_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
