/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "service/unitfile.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "t/unit/unit.h"

/* "name=value@line.column.column;" for each setting. */
static int note(void *ctx, const struct unitfile_setting *s)
{
	buf_printf(ctx, "%s=%s@%u.%u.%u;", s->name, s->value, s->name_at.line,
		   s->name_at.column, s->value_at.column);
	ck_assert_uint_eq(s->name_at.line, s->value_at.line);
	return strcmp(s->name, "stop") ? 0 : -ENOSPC;
}

static const struct {
	const char *text, *settings;
	int err;
	unsigned int line, column; /* of the error */
} files[] = {
	{ "", "", 0, 0, 0 },
	{ "\n\n# x\n  ; y\n[s]\n", "", 0, 0, 0 },
	{ "[s]\na=b\n", "a=b@2.1.3;", 0, 0, 0 },
	{ "[s]\na=b", "a=b@2.1.3;", 0, 0, 0 },
	{ " [s] \t\n\ta \t=  b c  \n", "a=b c@2.2.8;", 0, 0, 0 },
	{ "[s]\na-1_x = \nb=#c;d\n", "a-1_x=@2.1.9;b=#c;d@3.1.3;", 0, 0, 0 },
	{ "[s]\na=\303\251\n", "a=\303\251@2.1.3;", 0, 0, 0 },
	{ "[s]\n[s]\na==\n", "a==@3.1.3;", 0, 0, 0 },
	{ "a=b\n", "", -EINVAL, 1, 1 },
	{ "[s]\na=b\n[t]\n", "a=b@2.1.3;", -EINVAL, 3, 2 },
	{ "[s\n", "", -EINVAL, 1, 3 },
	{ "[", "", -EINVAL, 1, 2 },
	{ "[]\n", "", -EINVAL, 1, 2 },
	{ "[s]\n = b\n", "", -EINVAL, 2, 2 },
	{ "[s]\na b\n", "", -EINVAL, 2, 2 },
	{ "[s]\na.b = c\n", "", -EINVAL, 2, 2 },
	{ "[s]\na=b\r\n", "", -EINVAL, 2, 4 },
	{ "[s]\nstop=1\nb=2\n", "stop=1@2.1.6;", -ENOSPC, 0, 0 },
};

START_TEST(each_setting_comes_with_its_place)
{
	struct unitfile_error error = { .text = NULL };
	struct buf seen = { 0 };

	ck_assert_int_eq(unitfile_parse(files[_i].text, strlen(files[_i].text), "s",
					note, &seen, &error),
			 files[_i].err);
	ck_assert_str_eq(buf_str(&seen), files[_i].settings);
	ck_assert_uint_eq(error.at.line, files[_i].line);
	ck_assert_uint_eq(error.at.column, files[_i].column);
	ck_assert_int_eq(!error.text, files[_i].err != -EINVAL);
	buf_fini(&seen);
}
END_TEST

START_TEST(a_zero_byte_is_refused)
{
	struct unitfile_error error = { .text = NULL };
	struct buf seen = { 0 };

	ck_assert_int_eq(unitfile_parse("[s]\na=b\0c\n", 10, "s", note, &seen, &error),
			 -EINVAL);
	ck_assert_uint_eq(error.at.line, 2);
	ck_assert_uint_eq(error.at.column, 4);
	buf_fini(&seen);
}
END_TEST

/* len counts the line without its end. */
static int parse_long(size_t len)
{
	struct unitfile_error error = { .text = NULL };
	struct buf text = { 0 }, seen = { 0 };
	int err;

	buf_puts(&text, "[s]\na=");
	while (text.len < 4 + len)
		buf_putc(&text, 'x');
	err = unitfile_parse(buf_str(&text), text.len, "s", note, &seen, &error);
	buf_fini(&text);
	buf_fini(&seen);
	return err;
}

START_TEST(a_line_has_a_longest_length)
{
	ck_assert_int_eq(parse_long(UNITFILE_MAX_LINE - 1), 0);
	ck_assert_int_eq(parse_long(UNITFILE_MAX_LINE), -EINVAL);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("unitfile");
	TCase *tc = tcase_create("unitfile");

	tcase_add_loop_test(tc, each_setting_comes_with_its_place, 0, NR(files));
	tcase_add_test(tc, a_zero_byte_is_refused);
	tcase_add_test(tc, a_line_has_a_longest_length);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
