/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/select/databases.h"
#include "t/unit/unit.h"

static const struct {
	const char *spec, *want[3]; /* of three databases; NULL: nothing */
	int err;
} specs[] = {
	{ "last", { "last", "last", "last" }, 0 },
	{ "2:last", { NULL, "last", NULL }, 0 },
	{ "2:", { NULL, "recent", NULL }, 0 },
	{ "3:-2..last", { NULL, NULL, "-2..last" }, 0 },
	{ "1:2026-11-20T10:15", { "2026-11-20T10:15", NULL, NULL }, 0 },
	{ "2026-11-20T10:15",
	  { "2026-11-20T10:15", "2026-11-20T10:15", "2026-11-20T10:15" },
	  0 },
	{ "10:15..10:20", { "10:15..10:20", "10:15..10:20", "10:15..10:20" }, 0 },
	{ "01:30", { "01:30", "01:30", "01:30" }, 0 },
	{ "12", { "12", "12", "12" }, 0 },
	{ "1:3,2:4,2:5", { "3", "4,5", NULL }, 0 },
	{ "1:3,7", { "3,7", "7", "7" }, 0 },
	{ "a:b", { "a:b", "a:b", "a:b" }, 0 },
	{ "1:a:b", { "a:b", NULL, NULL }, 0 },
	{ "0:1", { NULL }, -EINVAL },
	{ "4:1", { NULL }, -EINVAL },
	{ "1:1,4:1", { NULL }, -EINVAL },
	{ "10,10:15", { NULL }, -EINVAL },
	{ "99999999999999999999:1", { NULL }, -EINVAL },
};

START_TEST(a_specification_is_for_all_databases_or_for_one)
{
	for (unsigned int nr = 1; nr <= 3; nr++) {
		const char *want = specs[_i].want[nr - 1];
		char *got = NULL;
		int err = databases_spec(specs[_i].spec, nr, 3, &got);

		ck_assert_msg(err == specs[_i].err, "%s: %d", specs[_i].spec, err);
		ck_assert_msg(want ? got && !strcmp(got, want) : !got, "%s of %u: %s",
			      specs[_i].spec, nr, got ? got : "nothing");
		free(got);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("databases");
	TCase *tc = tcase_create("databases");

	tcase_add_loop_test(tc, a_specification_is_for_all_databases_or_for_one, 0,
			    NR(specs));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
