/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clock rates that were measured well and badly. */
#include "config.h"

#include "daemon/os/clockrate.h"

#include <fcntl.h>

#include "base/file.h"
#include "t/unit/unit.h"

static const struct {
	double hz[8];
	size_t nr;
	bool want;
} windows[] = {
	{ { 0 }, 0, false },
	{ { 3.6e9, 3.6e9, 3.6e9 }, 3, false }, /* too few */
	{ { 3.6e9, 3.6e9, 3.6e9, 3.6e9 }, 4, true },
	{ { 3.6e9, 3.59e9, 3.6e9, 3.58e9 }, 4, true },
	/* others took the CPU for most of the time */
	{ { 0.2e9, 3.6e9, 0.3e9, 3.6e9, 1e9, 3.6e9 }, 6, false },
	{ { 0.2e9, 3.6e9, 0.3e9, 3.6e9, 1e9, 3.6e9, 3.6e9 }, 7, true },
	/* the clock speeds up: the slower windows do not count */
	{ { 2e9, 2e9, 2e9, 3.6e9, 3.6e9 }, 5, false },
	{ { 0, 0, 0, 0 }, 4, false },
};

START_TEST(several_windows_have_to_agree_on_the_highest)
{
	ck_assert_int_eq(clockrate_enough_agree(windows[_i].hz, windows[_i].nr),
			 windows[_i].want);
}
END_TEST

START_TEST(a_measured_rate_counts_unless_it_is_far_too_low)
{
	ck_assert_double_eq(clockrate_choose(3.6e9, 2.5e9), 3.6e9);
	ck_assert_double_eq(clockrate_choose(2.4e9, 2.5e9), 2.4e9);
	ck_assert_double_eq(clockrate_choose(0.2e9, 2.5e9), 2.5e9);
	ck_assert_double_eq(clockrate_choose(0.2e9, 0), 0.2e9);
	ck_assert_double_eq(clockrate_choose(0, 2.5e9), 2.5e9);
}
END_TEST

START_TEST(starts_of_one_boot_have_one_rate)
{
	ck_assert_uint_eq(clockrate_of_boot(0, 3600000000), 3600000000);
	ck_assert_uint_eq(clockrate_of_boot(3600000000, 3650000000), 3600000000);
	ck_assert_uint_eq(clockrate_of_boot(3600000000, 3400000000), 3600000000);
	/* what was known was measured badly */
	ck_assert_uint_eq(clockrate_of_boot(200000000, 3600000000), 3600000000);
	ck_assert_uint_eq(clockrate_of_boot(3600000000, 200000000), 3600000000);
}
END_TEST

START_TEST(this_machine_has_a_rate)
{
	struct buf cpuinfo = { 0 };
	uint64_t hz;

	ck_assert_int_eq(file_read_all(AT_FDCWD, "/proc/cpuinfo", 16 << 20, &cpuinfo),
			 0);
	hz = clockrate_read(clockrate_announced(buf_str(&cpuinfo)), 0);
	ck_assert_uint_gt(hz, 400000000);
	ck_assert_uint_lt(hz, 10000000000);
	/* a later run of this boot */
	ck_assert_uint_ge(clockrate_read(clockrate_announced(buf_str(&cpuinfo)), hz),
			  hz);
	buf_fini(&cpuinfo);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("clockrate");
	TCase *tc = tcase_create("clockrate");

	tcase_add_loop_test(tc, several_windows_have_to_agree_on_the_highest, 0,
			    NR(windows));
	tcase_add_test(tc, a_measured_rate_counts_unless_it_is_far_too_low);
	tcase_add_test(tc, starts_of_one_boot_have_one_rate);
	tcase_add_test(tc, this_machine_has_a_rate);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
