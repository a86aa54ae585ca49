/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_defaults.c - the defaults that the help and 'cpi config' show are the session's
 */
#include "config.h"

#include <string.h>

#include "daemon/control/options.h"
#include "t/unit/unit.h"

/* Two texts may be equal in different places. */
static void unify(struct session_config *a, struct session_config *b)
{
	ck_assert_str_eq(a->db_path, b->db_path);
	ck_assert_str_eq(a->collector, b->collector);
	b->db_path = a->db_path;
	b->collector = a->collector;
}

START_TEST(shown_defaults_are_in_force)
{
	const struct service_option *r = &options_program()->options[_i];
	struct options untouched, set;

	if (!r->fallback)
		return;
	options_init(&untouched);
	options_init(&set);
	ck_assert_int_eq(r->set((char *)&set + r->at, r->fallback), 0);
	ck_assert_str_eq(untouched.socket, set.socket);
	ck_assert_int_eq(untouched.verbose, set.verbose);
	unify(&untouched.session, &set.session);
	if (!strcmp(r->name, "by")) {
		ck_assert_uint_eq(untouched.session.by, set.session.by);
	} else {
		ck_assert_msg(!memcmp(&untouched.session, &set.session,
				      sizeof(set.session)),
			      "--%s", r->name);
	}
	options_fini(&untouched);
	options_fini(&set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("defaults");
	TCase *tc = tcase_create("defaults");

	tcase_add_loop_test(tc, shown_defaults_are_in_force, 0,
			    (int)options_program()->nr);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
