/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "db/clickhouse/storeurl.h"
#include "t/unit/unit.h"

static const struct {
	const char *text, *hosts, *database, *user;
	bool tls;
} good[] = {
	{ "clickhouse://store/cpi", "store", "cpi", NULL, false },
	{ "clickhouse://a:8123,b-1.example:8124/cpi_2", "a:8123 b-1.example:8124",
	  "cpi_2", NULL, false },
	{ "clickhouses://[::1]:8443/cpi?user=x&ca=/c&cert=/d&key=/e", "[::1]:8443",
	  "cpi", "x", true },
	{ "clickhouse://10.0.0.1/cpi?password-file=/p&user=cpi", "10.0.0.1", "cpi",
	  "cpi", false },
};

START_TEST(a_name_is_taken_apart)
{
	struct buf why = { 0 }, hosts = { 0 };
	struct storeurl u;

	ck_assert(storeurl_is(good[_i].text));
	ck_assert_int_eq(storeurl_parse(good[_i].text, &u, &why), 0);
	for (int i = 0; i < u.nr_hosts; i++)
		buf_printf(&hosts, "%s%s", i ? " " : "", u.host[i]);
	ck_assert_str_eq(buf_str(&hosts), good[_i].hosts);
	ck_assert_str_eq(u.database, good[_i].database);
	ck_assert_pstr_eq(u.user, good[_i].user);
	ck_assert_int_eq(u.tls, good[_i].tls);
	storeurl_fini(&u);
	buf_fini(&hosts);
	buf_fini(&why);
}
END_TEST

static const char *const bad[] = {
	"",
	"cpi.db",
	"http://a/b",
	"clickhouse://",
	"clickhouse:///cpi",
	"clickhouse://a",
	"clickhouse://a/",
	"clickhouse://a/1cpi",
	"clickhouse://a/cpi/x",
	"clickhouse://a/c%20i",
	"clickhouse://a:/cpi",
	"clickhouse://a:0/cpi",
	"clickhouse://a:65536/cpi",
	"clickhouse://a:80x/cpi",
	"clickhouse://a@b/cpi",
	"clickhouse://a,,b/cpi",
	"clickhouse://[::1/cpi",
	"clickhouse://a/cpi?",
	"clickhouse://a/cpi?user",
	"clickhouse://a/cpi?user=",
	"clickhouse://a/cpi?password=x",
	"clickhouse://a/cpi?ca=/x",
	"clickhouse://a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/cpi",
};

START_TEST(a_bad_name_is_refused_with_a_reason)
{
	struct storeurl u = { .nr_hosts = 77 };
	struct buf why = { 0 };

	ck_assert_int_eq(storeurl_parse(bad[_i], &u, &why), -EINVAL);
	ck_assert_uint_gt(why.len, 0);
	ck_assert_int_eq(u.nr_hosts, 77);
	buf_fini(&why);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("storeurl");
	TCase *tc = tcase_create("names");

	tcase_add_loop_test(tc, a_name_is_taken_apart, 0,
			    sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, a_bad_name_is_refused_with_a_reason, 0,
			    sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
