/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "t/unit/unit.h"
#include "web/api.h"
#include "web/auth/passwords.h"
#include "web/header.h"
#include "web/job.h"
#include "web/stamp.h"
#include "web/target.h"

static const struct {
	const char *text;
	int err;
	const char *path, *args; /* "name=value;" each */
} targets[] = {
	{ "/", 0, "/", "" },
	{ "/a/b", 0, "/a/b", "" },
	{ "/a?", 0, "/a", "" },
	{ "/a?b", 0, "/a", "b=;" },
	{ "/a?b=", 0, "/a", "b=;" },
	{ "/a?b=c&d=e", 0, "/a", "b=c;d=e;" },
	{ "/a?b=c&b=d", 0, "/a", "b=c;b=d;" },
	{ "/a?b=c=d", 0, "/a", "b=c=d;" },
	{ "/a?b=c?d", 0, "/a", "b=c?d;" },
	{ "/a?b=%41%2fx+y%2B", 0, "/a", "b=A/x y+;" },
	{ "/a?%62=c", 0, "/a", "b=c;" },
	{ "/a?b=%c3%a4", 0, "/a", "b=\xc3\xa4;" },
	{ "/a?b=%26%3d", 0, "/a", "b=&=;" },
	{ "/a%2fb", 0, "/a%2fb", "" }, /* paths are not decoded */
	{ "/../x", 0, "/../x", "" },
	{ "/a?b=c&", 0, "/a", "b=c;" },
	{ "", -EINVAL, NULL, NULL },
	{ "a", -EINVAL, NULL, NULL },
	{ "http://host/", -EINVAL, NULL, NULL },
	{ "*", -EINVAL, NULL, NULL },
	{ "/a#b", -EINVAL, NULL, NULL },
	{ "/a?b=c#d", -EINVAL, NULL, NULL },
	{ "/a?=c", -EINVAL, NULL, NULL },
	{ "/a?&b", -EINVAL, NULL, NULL },
	{ "/a?b=%", -EINVAL, NULL, NULL },
	{ "/a?b=%4", -EINVAL, NULL, NULL },
	{ "/a?b=%4g", -EINVAL, NULL, NULL },
	{ "/a?b=%00", -EINVAL, NULL, NULL },
	{ "/a?%00=b", -EINVAL, NULL, NULL },
};

START_TEST(a_target_is_split_and_decoded)
{
	char *text = strdup(targets[_i].text);
	struct buf args = { 0 };
	struct target t;

	ck_assert_int_eq(target_parse(text, &t), targets[_i].err);
	if (!targets[_i].err) {
		for (int i = 0; i < t.nr_args; i++)
			buf_printf(&args, "%s=%s;", t.arg[i].name, t.arg[i].value);
		ck_assert_str_eq(t.path, targets[_i].path);
		ck_assert_str_eq(buf_str(&args), targets[_i].args);
	}
	buf_fini(&args);
	free(text);
}
END_TEST

START_TEST(a_target_has_only_so_many_arguments)
{
	struct buf text = { 0 };
	struct target t;

	buf_puts(&text, "/?a");
	for (int i = 1; i < TARGET_MAX_ARGS + _i; i++)
		buf_puts(&text, "&a");
	buf_str(&text);
	ck_assert_int_eq(target_parse(text.data, &t), _i ? -E2BIG : 0);
	buf_fini(&text);
}
END_TEST

static const struct {
	const char *host;
	unsigned int port;
	bool ours;
} hosts[] = {
	{ "127.0.0.1:8080", 8080, true },
	{ "localhost:8080", 8080, true },
	{ "LocalHost:8080", 8080, true },
	{ "[::1]:8080", 8080, true },
	{ "cpi.example:8080", 8080, true },
	{ "cpi.example", 8080, true },
	{ "localhost", 80, true },
	{ "localhost", 443, true }, /* https */
	{ "localhost:80", 443, false },
	{ "localhost:443", 80, false },
	{ "localhost", 0, true },
	{ "localhost:1", 0, true },
	{ "localhost", 8080, false },
	{ "localhost:8081", 8080, false },
	{ "localhost:", 8080, false },
	{ "localhost:65536", 0, false },
	{ "localhost:8080x", 8080, false },
	{ "localhost:8080:8080", 8080, false },
	{ "localhost.evil.example:8080", 8080, false },
	{ "evil.example:8080", 8080, false },
	{ "127.0.0.1.evil.example", 0, false },
	{ "127.0.0.2:8080", 8080, false },
	{ "[::1", 0, false },
	{ "[::1]x", 0, false },
	{ "::1", 0, false },
	{ "local", 0, false },
	{ "", 0, false },
	{ " localhost", 0, false },
	{ "localhost\t", 0, false },
	{ "user@localhost", 0, false },
};

START_TEST(only_names_of_this_server_are_ours)
{
	const struct text_list names = { .item = { "cpi.example" }, .nr = 1 };

	ck_assert_int_eq(header_host_is_ours(hosts[_i].host, hosts[_i].port, &names),
			 hosts[_i].ours);
}
END_TEST

static const struct {
	const char *value;
	bool gzip;
} encodings[] = {
	{ NULL, false },
	{ "", false },
	{ "gzip", true },
	{ "GZIP", true },
	{ "deflate, gzip", true },
	{ "br,gzip;q=0.5", true },
	{ "gzip;q=0", false },
	{ "gzip; q=0.0", false },
	{ "gzip;q=1", true },
	{ "deflate", false },
	{ "*", true },
	{ "identity;q=1, *;q=0", false },
	{ "gzipped", false },
	{ ",,gzip", true },
	{ "x-gzip", false },
};

START_TEST(gzip_is_sent_to_those_who_take_it)
{
	ck_assert_int_eq(header_accepts_gzip(encodings[_i].value), encodings[_i].gzip);
}
END_TEST

static const struct {
	const char *value;
	bool named;
} tags[] = {
	{ NULL, false },
	{ "", false },
	{ "*", true },
	{ "\"abc\"", true },
	{ "W/\"abc\"", true },
	{ "\"abc-gz\"", true },
	{ "abc", false },
	{ "\"ab\"", false },
	{ "\"abcd\"", false },
	{ "\"x\", \"abc\"", true },
	{ "\"x\",W/\"abc-gz\"", true },
	{ "\"abc", false },
};

START_TEST(a_tag_is_found_in_a_list)
{
	ck_assert_int_eq(header_names_tag(tags[_i].value, "abc"), tags[_i].named);
}
END_TEST

static const struct {
	const char *value;
	int err;
	uint64_t from, nr;
} ranges[] = {
	{ "bytes=0-9", 0, 0, 10 },
	{ "bytes=5-5", 0, 5, 1 },
	{ "bytes=90-", 0, 90, 10 },
	{ "bytes=90-200", 0, 90, 10 },
	{ "bytes=-10", 0, 90, 10 },
	{ "bytes=-200", 0, 0, 100 },
	{ "bytes=0-18446744073709551615", 0, 0, 100 },
	{ "bytes=100-", -ERANGE, 0, 0 },
	{ "bytes=-0", -ERANGE, 0, 0 },
	{ "bytes=9-5", -EINVAL, 0, 0 },
	{ "bytes=-", -EINVAL, 0, 0 },
	{ "bytes=", -EINVAL, 0, 0 },
	{ "bytes=0-1,3-4", -EINVAL, 0, 0 },
	{ "bytes=x-1", -EINVAL, 0, 0 },
	{ "bytes=0-99999999999999999999999999", -EINVAL, 0, 0 },
	{ "lines=0-9", -EINVAL, 0, 0 },
	{ NULL, -EINVAL, 0, 0 },
};

START_TEST(a_range_is_one_of_bytes)
{
	uint64_t from = 1234, nr = 5678;

	ck_assert_int_eq(header_range(ranges[_i].value, 100, &from, &nr),
			 ranges[_i].err);
	ck_assert_uint_eq(from, ranges[_i].err ? 1234 : ranges[_i].from);
	ck_assert_uint_eq(nr, ranges[_i].err ? 5678 : ranges[_i].nr);
}
END_TEST

static const struct {
	const char *value;
	int err;
	const char *user, *password;
} basics[] = {
	{ "Basic YTpi", 0, "a", "b" },
	{ "basic  YTpi", 0, "a", "b" },
	{ "Basic YTpiOmM=", 0, "a", "b:c" },
	{ "Basic OmI=", 0, "", "b" },
	{ "Basic YTo=", 0, "a", "" },
	{ "Basic w6Q6w7Y=", 0, "\xc3\xa4", "\xc3\xb6" },
	{ NULL, -EINVAL, NULL, NULL },
	{ "", -EINVAL, NULL, NULL },
	{ "Basic", -EINVAL, NULL, NULL },
	{ "Basic ", -EINVAL, NULL, NULL },
	{ "Basic YQ==", -EINVAL, NULL, NULL },  /* "a" */
	{ "Basic YTpi=", -EINVAL, NULL, NULL }, /* too much padding */
	{ "Basic YTp", -EINVAL, NULL, NULL },   /* too little */
	{ "Basic YTo!", -EINVAL, NULL, NULL },
	{ "Basic YTpiAGM=", -EINVAL, NULL, NULL }, /* "a:b\0c" */
	{ "Bearer YTpi", -EINVAL, NULL, NULL },
	{ "Basic YTpiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi", -EINVAL, NULL,
	  NULL }, /* long */
};

START_TEST(a_user_and_password_are_read)
{
	const char *user = "x", *password = "y";
	char out[24];

	ck_assert_int_eq(header_basic(basics[_i].value, out, sizeof(out), &user,
				      &password),
			 basics[_i].err);
	ck_assert_str_eq(user, basics[_i].err ? "x" : basics[_i].user);
	ck_assert_str_eq(password, basics[_i].err ? "y" : basics[_i].password);
}
END_TEST

START_TEST(a_secret_is_the_same_text)
{
	ck_assert(header_is_secret("abc", "abc"));
	ck_assert(!header_is_secret("abd", "abc"));
	ck_assert(!header_is_secret("ab", "abc"));
	ck_assert(!header_is_secret("abcd", "abc"));
	ck_assert(!header_is_secret("", "abc"));
}
END_TEST

static const struct {
	const char *report, *target;
	int err;
	const char *argv, *why;
} calls[] = {
	{ "prof", "/", 0, "prof --db=x.db --format=json --", "" },
	{ "prof", "/?by=image&limit=5", 0,
	  "prof --db=x.db --by=image --limit=5 --format=json --", "" },
	{ "prof", "/?idle&verbose=1&inlines=0", 0,
	  "prof --db=x.db --idle --verbose --format=json --", "" },
	{ "prof", "/?procedure=x&format=csv", 0,
	  "prof --db=x.db --procedure=x --format=csv --", "" },
	{ "list", "/?procedure=x&all=true", 0,
	  "list --db=x.db --all --format=json -- x", "" },
	{ "list", "/?arg=--help", 0, "list --db=x.db --format=json -- --help", "" },
	{ "prof", "/?epoch=--help", 0, "prof --db=x.db --epoch=--help --format=json --",
	  "" },
	{ "diff", "/?B=2&A=1&procedure=p", 0, "diff --db=x.db --format=json -- 1 2 p",
	  "" },
	{ "diff", "/?arg=1&arg=2", 0, "diff --db=x.db --format=json -- 1 2", "" },
	{ "flame", "/", 0, "flame --db=x.db --format=svg --", "" },
	{ "epochs", "/?limit=1", 0, "epoch list --db=x.db --limit=1 --format=json --",
	  "" },
	{ "cfg", "/?format=dot&procedure=x", 0, "cfg --db=x.db --format=dot -- x", "" },
	{ "record", "/", -ENOENT, "", "" },
	{ "pro", "/", -ENOENT, "", "" },
	{ "", "/", -ENOENT, "", "" },
	{ "prof", "/?db=/etc/passwd", -EINVAL, "", "prof: there is no option db" },
	{ "prof", "/?svg=/tmp/x", -EINVAL, "", "prof: there is no option svg" },
	{ "prof", "/?socket=x", -EINVAL, "",
	  "prof: there is no option socket: did you mean sort?" },
	{ "prof", "/?debug-dir=/", -EINVAL, "", "prof: there is no option debug-dir" },
	{ "prof", "/?debuginfod", -EINVAL, "", "prof: there is no option debuginfod" },
	{ "cfg", "/?output=x", -EINVAL, "", "cfg: there is no option output" },
	{ "cat", "/?check", -EINVAL, "", "cat: there is no option check" },
	{ "prof", "/?A=x", -EINVAL, "", "prof: there is no option A" },
	{ "prof", "/?!idle", -EINVAL, "",
	  "prof: there is no option !idle: did you mean idle?" },
	{ "prof", "/?idle=x", -EINVAL, "", "prof: idle=x: say 1 or 0" },
	{ "prof", "/?format=pprof", -EINVAL, "",
	  "prof: format=pprof: say one of json csv text" },
	{ "prof", "/?limt=1", -EINVAL, "",
	  "prof: there is no option limt: did you mean limit?" },
};

START_TEST(a_call_has_only_options_of_the_table)
{
	const struct text_list dbs = { .item = { "x.db" }, .nr = 1 };
	char *text = strdup(calls[_i].target);
	struct buf argv = { 0 }, why = { 0 };
	struct api_call call;
	struct target t;

	ck_assert_int_eq(target_parse(text, &t), 0);
	ck_assert_int_eq(api_call_make(calls[_i].report, &t, &dbs, &call, &why),
			 calls[_i].err);
	for (int i = 0; !calls[_i].err && i < call.nr; i++)
		buf_printf(&argv, "%s%s", i ? " " : "", call.argv[i]);
	ck_assert_str_eq(buf_str(&argv), calls[_i].argv);
	ck_assert_str_eq(buf_str(&why), calls[_i].why);
	if (!calls[_i].err)
		api_call_fini(&call);
	buf_fini(&argv);
	buf_fini(&why);
	free(text);
}
END_TEST

static time_t later_s; /* how much later the clock is */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int err = (int)syscall(SYS_clock_gettime, id, ts);

	if (!err && id == CLOCK_REALTIME)
		ts->tv_sec += later_s;
	return err;
}

static struct job_key key_later(const char *report, const char *text, time_t s)
{
	const struct text_list dbs = { .item = { "/nonexistent/x.db" }, .nr = 1 };
	char *copy = strdup(text);
	struct buf why = { 0 };
	struct job_key key;
	struct api_call call;
	struct target t;

	ck_assert_int_eq(target_parse(copy, &t), 0);
	ck_assert_int_eq(api_call_make(report, &t, &dbs, &call, &why), 0);
	later_s = s;
	stamp_call(&call, &dbs, &key);
	later_s = 0;
	api_call_fini(&call);
	buf_fini(&why);
	free(copy);
	return key;
}

static const struct {
	const char *report, *target;
	bool moves;
} moving[] = {
	{ "prof", "/?epoch=-1h..", true },
	{ "prof", "/?epoch=-1h", true },
	{ "prof", "/?epoch=today", true },
	{ "prof", "/?epoch=last%202%20hours", true },
	{ "prof", "/?epoch=2026-01-01..yesterday", true },
	{ "prof", "/?epoch=10:15..10:20", true },
	{ "diff", "/?A=-2h..-1h&B=-1h..now", true },
	{ "diff", "/?A=1&B=2&history=-1d", true },
	{ "prof", "/", false },
	{ "prof", "/?epoch=all", false },
	{ "prof", "/?epoch=3..7", false },
	{ "prof", "/?epoch=2026-01-01..2026-01-02", false },
	{ "diff", "/?A=old&B=new", false },
};

START_TEST(times_that_move_with_the_clock_are_asked_again_each_minute)
{
	const char *report = moving[_i].report, *target = moving[_i].target;
	const struct job_key now = key_later(report, target, 0);
	const struct job_key later = key_later(report, target, 60);

	ck_assert_int_eq(memcmp(&now, &later, sizeof(now)) != 0, moving[_i].moves);
}
END_TEST

static const struct {
	unsigned int max, running, cheap, queued;
	bool free;
} places[] = {
	{ 1, 0, 0, 0, true }, /* a cheap one may run beside the other */
	{ 1, 1, 0, 0, false }, { 1, 1, 1, 0, false }, /* one may start, but no second
							 cheap one */
	{ 2, 1, 1, 0, true },  { 2, 2, 1, 0, false }, { 2, 2, 2, 0, false },
	{ 3, 2, 1, 0, true },  { 3, 0, 0, 1, false },
};

START_TEST(jobs_are_free_if_a_report_and_its_stamp_can_start)
{
	const struct jobs_config config = { .max_running = places[_i].max };
	const struct jobs jobs = {
		.config = &config,
		.nr_running = places[_i].running,
		.nr_cheap = places[_i].cheap,
		.nr_queued = places[_i].queued,
	};

	ck_assert_int_eq(jobs_are_free(&jobs), places[_i].free);
}
END_TEST

#define HASH "$2b$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234"

/* Texts of different lengths: a change is seen whatever the clock. */
static void write_users(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(users_are_read_again_after_a_lack_of_descriptors)
{
	char path[] = "/tmp/check_web.XXXXXX";
	struct passwords *p;
	struct rlimit limit, none;
	const char *hash;
	bool is_user = true;

	close(mkstemp(path)); /* with 0600 */
	write_users(path, "ann:" HASH "\n");
	ck_assert_int_eq(passwords_open(path, &p), 0);
	write_users(path, "ann:" HASH "\nbob:" HASH "\n");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	hash = passwords_hash(p, "bob", &is_user);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_ptr_null(hash);
	ck_assert(!is_user);
	ck_assert_str_eq(passwords_hash(p, "bob", &is_user), HASH);
	ck_assert(is_user);
	passwords_free(p);
	unlink(path);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("web");
	TCase *tc = tcase_create("web");

	tcase_add_loop_test(tc, a_target_is_split_and_decoded, 0, NR(targets));
	tcase_add_loop_test(tc, a_target_has_only_so_many_arguments, 0, 2);
	tcase_add_loop_test(tc, only_names_of_this_server_are_ours, 0, NR(hosts));
	tcase_add_loop_test(tc, gzip_is_sent_to_those_who_take_it, 0, NR(encodings));
	tcase_add_loop_test(tc, a_tag_is_found_in_a_list, 0, NR(tags));
	tcase_add_loop_test(tc, a_range_is_one_of_bytes, 0, NR(ranges));
	tcase_add_loop_test(tc, a_user_and_password_are_read, 0, NR(basics));
	tcase_add_test(tc, a_secret_is_the_same_text);
	tcase_add_test(tc, users_are_read_again_after_a_lack_of_descriptors);
	tcase_add_loop_test(tc, a_call_has_only_options_of_the_table, 0, NR(calls));
	tcase_add_loop_test(tc,
			    times_that_move_with_the_clock_are_asked_again_each_minute,
			    0, NR(moving));
	tcase_add_loop_test(tc, jobs_are_free_if_a_report_and_its_stamp_can_start, 0,
			    NR(places));
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
