/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fdpass.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/number.h"
#include "base/path.h"
#include "base/times.h"
#include "base/varint.h"
#include "t/unit/unit.h"

static const uint64_t numbers[] = {
	0, 1, 127, 128, 16383, 16384, 1ULL << 32, UINT64_MAX
};

START_TEST(a_number_comes_back)
{
	struct buf b = { 0 };
	const uint8_t *pos;
	uint64_t v;

	varint_put(&b, numbers[_i]);
	for (size_t cut = 0; cut < b.len; cut++) {
		pos = (uint8_t *)b.data;
		ck_assert_int_eq(varint_get(&pos, pos + cut, &v), -CPI_ETRUNCATED);
		ck_assert_ptr_eq(pos, b.data);
	}
	pos = (uint8_t *)b.data;
	ck_assert_int_eq(varint_get(&pos, pos + b.len, &v), 0);
	ck_assert_uint_eq(v, numbers[_i]);
	ck_assert_ptr_eq(pos, b.data + b.len);
	buf_fini(&b);
}
END_TEST

START_TEST(a_number_with_more_than_64_bits_is_corrupt)
{
	static const uint8_t wide[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0x02 };
	static const uint8_t endless[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					   0x80, 0x80, 0x80, 0x80, 0x80, 0x00 };
	const uint8_t *pos = wide;
	uint64_t v;

	ck_assert_int_eq(varint_get(&pos, wide + sizeof(wide), &v), -CPI_ECORRUPT);
	pos = endless;
	ck_assert_int_eq(varint_get(&pos, endless + sizeof(endless), &v),
			 -CPI_ECORRUPT);
}
END_TEST

START_TEST(a_series_of_numbers_keeps_its_first_error)
{
	static const uint8_t bytes[] = { 5, 6, 7, 0x80 };
	const uint8_t *const end = bytes + sizeof(bytes);
	const uint8_t *pos = bytes;
	int err = 0;

	ck_assert_uint_eq(varint_take(&pos, end, 5, &err), 5);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(varint_take(&pos, end, 5, &err), 0);
	ck_assert_int_eq(err, -CPI_ECORRUPT);
	ck_assert_uint_eq(varint_take(&pos, end, 100, &err), 0);
	ck_assert_ptr_eq(pos, bytes + 2);
	err = 0;
	ck_assert_uint_eq(varint_take(&pos, end, 7, &err), 7);
	ck_assert_uint_eq(varint_take(&pos, end, 7, &err), 0);
	ck_assert_int_eq(err, -CPI_ETRUNCATED);
}
END_TEST

struct item {
	struct hnode node;
	int key;
};

START_TEST(a_map_holds_what_was_put_in)
{
	static struct item items[1000];
	struct hmap m = { 0 };
	struct hnode *n, *next;
	int left = 0;

	for (int i = 0; i < 1000; i++) {
		items[i].key = i;
		/* a third of the hashes collide */
		ck_assert_int_eq(hmap_insert(&m, &items[i].node, hash_u64(i % 667)), 0);
	}
	for (int i = 0; i < 1000; i += 2)
		hmap_remove(&m, &items[i].node);
	for (int i = 0; i < 1000; i++) {
		bool found = false;

		for (n = hmap_first(&m, hash_u64(i % 667)); n; n = hmap_next(n))
			found |= container_of(n, struct item, node)->key == i;
		ck_assert_int_eq(found, i % 2);
	}
	hmap_for_each (&m, n, next) {
		left++;
		hmap_remove(&m, n);
	}
	ck_assert_int_eq(left, 500);
	ck_assert_uint_eq(m.nr, 0);
	hmap_fini(&m);
}
END_TEST

static const struct {
	uint64_t seconds;
	const char *text;
} durations_shown[] = {
	{ 0, "0 s" },    { 59, "59 s" },           { 130, "2 min 10 s" },
	{ 3600, "1 h" }, { 86399, "23 h 59 min" }, { 100 * 3600, "4 d 4 h" },
};

START_TEST(durations_are_written_in_two_units)
{
	char text[DURATION_TEXT_SIZE];

	ck_assert_str_eq(
		time_format_duration(durations_shown[_i].seconds * NSEC_PER_SEC, text),
		durations_shown[_i].text);
}
END_TEST

START_TEST(times_of_the_same_day_have_no_date)
{
	const uint64_t ns = 1795169703ULL * NSEC_PER_SEC;
	char text[TIME_TEXT_SIZE];

	ck_assert_str_eq(time_format_near(ns, ns, text), "10:15:03Z");
	ck_assert_str_eq(time_format_near(ns, ns - 86400 * NSEC_PER_SEC, text),
			 "2026-11-20T10:15:03Z");
}
END_TEST

static const struct {
	const char *text, *from, *to; /* to NULL: refused */
} moments[] = {
	{ "2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z" },
	{ "2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z" },
	{ "2026-11-20", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z" },
	{ "2026-12-31T23", "2026-12-31T23:00:00Z", "2027-01-01T00:00:00Z" },
	{ "2026-11-20T10:15", "2026-11-20T10:15:00Z", "2026-11-20T10:16:00Z" },
	{ "2026-11-20T10:15:03Z", "2026-11-20T10:15:03Z", "2026-11-20T10:15:04Z" },
	{ "", NULL, NULL },
	{ "last", NULL, NULL },
	{ "2026-", NULL, NULL },
	{ "2026-13", NULL, NULL },
	{ "2026-02-29", NULL, NULL },
	{ "2026-04-31T10:00", NULL, NULL },
	{ "2028-02-29", "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z" },
	{ "2026-11-20T", NULL, NULL },
	{ "2026-11-20 10", "2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z" },
	{ "2026-11-20 10:15", "2026-11-20T10:15:00Z", "2026-11-20T10:16:00Z" },
	{ "2026-11-20T10:15+01:00", "2026-11-20T09:15:00Z", "2026-11-20T09:16:00Z" },
	{ "2026-11-20 23:30-0230", "2026-11-21T02:00:00Z", "2026-11-21T02:01:00Z" },
	{ "1970-01-01T00:30+01:00", NULL, NULL },
	{ "2026-11-20+01:00", NULL, NULL },       /* a day of which zone's clock? */
	{ "2026-11-20T10:15-14:07", NULL, NULL }, /* no zone is so far behind */
	{ "2026-11-20T10:15+1x", NULL, NULL },
	{ "2026-11-20  10:15", NULL, NULL },
	{ "2026-11-20T25:00", NULL, NULL },
	{ " 2026", NULL, NULL },
	{ "2026-1-2", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z" },
	{ "2026-+1", NULL, NULL },
	{ "2026-11-20T10:15:03.5", NULL, NULL },
	{ "2261", "2261-01-01T00:00:00Z", "2262-01-01T00:00:00Z" },
	{ "2262", NULL, NULL }, /* no 63 bits of ns */
	{ "9999", NULL, NULL },
};

START_TEST(moments_are_read_as_intervals)
{
	uint64_t from = 1, to = 2;
	char text[TIME_TEXT_SIZE];
	int err = time_parse(moments[_i].text, &from, &to);

	if (!moments[_i].to) {
		ck_assert_int_eq(err, -EINVAL);
		ck_assert_uint_eq(from, 1);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_str_eq(time_format(from, text), moments[_i].from);
	ck_assert_str_eq(time_format(to, text), moments[_i].to);
}
END_TEST

/* At 2026-11-20T10:15:00Z. */
static const struct {
	const char *text, *from, *to; /* NULL: refused */
} relatives[] = {
	{ "today", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z" },
	{ "yesterday", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z" },
	{ "-2h", "2026-11-20T08:15:00Z", "2026-11-20T10:15:00Z" },
	{ "-1.5d", "2026-11-18T22:15:00Z", "2026-11-20T10:15:00Z" },
	{ "now", "2026-11-20T10:15:00Z", "2026-11-20T10:15:00Z" },
	{ "09:30", "2026-11-20T09:30:00Z", "2026-11-20T09:31:00Z" },
	{ "9:30:05", "2026-11-20T09:30:05Z", "2026-11-20T09:30:06Z" },
	{ "09:30+02:00", "2026-11-20T07:30:00Z", "2026-11-20T07:31:00Z" },
	{ "yesterday 14:00", "2026-11-19T14:00:00Z", "2026-11-19T14:01:00Z" },
	{ "yesterday 14", "2026-11-19T14:00:00Z", "2026-11-19T15:00:00Z" },
	{ "todayT09:00", "2026-11-20T09:00:00Z", "2026-11-20T09:01:00Z" },
	{ "last hour", "2026-11-20T09:15:00Z", "2026-11-20T10:15:00Z" },
	{ "last 15 minutes", "2026-11-20T10:00:00Z", "2026-11-20T10:15:00Z" },
	{ "last 1 day", "2026-11-19T10:15:00Z", "2026-11-20T10:15:00Z" },
	{ "last 2 weeks", "2026-11-06T10:15:00Z", "2026-11-20T10:15:00Z" },
	{ "10", NULL, NULL }, /* an epoch's number */
	{ "24:00", NULL, NULL },
	{ "today 09:00x", NULL, NULL },
	{ "todays", NULL, NULL },
	{ "yesterday ", NULL, NULL },
	{ "-2", NULL, NULL }, /* the second before the last */
	{ "-", NULL, NULL },
	{ "-h", NULL, NULL },
	{ "2h", NULL, NULL },
	{ "-2x", NULL, NULL },
	{ "-99999d", NULL, NULL }, /* before 1970 */
	{ "last 99999 days", NULL, NULL },
	{ "last 99999999999999999999 days", NULL, NULL },
	{ "last 30501 weeks", NULL, NULL }, /* 3 days more than 2^64 nanoseconds */
	{ "last hours", NULL, NULL },
	{ "last 0 hours", NULL, NULL },
	{ "last 2 hour", NULL, NULL },
	{ "last  hour", NULL, NULL },
	{ "last ", NULL, NULL },
	{ "last", NULL, NULL }, /* the last epoch */
	{ "Today", NULL, NULL },
	{ "", NULL, NULL },
};

/* In central Europe, an hour ahead of UTC and two in summer; at 2026-03-30T10:15:00Z.
 */
static const struct {
	const char *text, *from, *to;
} locals[] = {
	{ "2026-11-20T10:15", "2026-11-20T10:15:00+01:00",
	  "2026-11-20T10:16:00+01:00" },
	{ "2026-11-20T10:15Z", "2026-11-20T11:15:00+01:00",
	  "2026-11-20T11:16:00+01:00" },
	{ "2026-07-01T10-05:30", "2026-07-01T17:30:00+02:00",
	  "2026-07-01T18:30:00+02:00" },
	{ "2026-03-29", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00" },
	{ "2026-03-29Z", "2026-03-29T01:00:00+01:00", "2026-03-30T02:00:00+02:00" },
	{ "today", "2026-03-30T00:00:00+02:00", "2026-03-31T00:00:00+02:00" },
	{ "yesterday", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00" },
	{ "yesterday 14:00", "2026-03-29T14:00:00+02:00", "2026-03-29T14:01:00+02:00" },
	{ "09:30", "2026-03-30T09:30:00+02:00", "2026-03-30T09:31:00+02:00" },
	{ "09:30Z", "2026-03-30T11:30:00+02:00", "2026-03-30T11:31:00+02:00" },
	{ "-2h", "2026-03-30T10:15:00+02:00", "2026-03-30T12:15:00+02:00" },
};

START_TEST(local_times_are_those_of_the_time_zone)
{
	const uint64_t now_ns = 1774865700ULL * NSEC_PER_SEC;
	uint64_t from, to;
	char text[TIME_TEXT_SIZE];

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	time_use_local();
	if (time_parse(locals[_i].text, &from, &to))
		ck_assert_int_eq(
			time_parse_relative(locals[_i].text, now_ns, &from, &to), 0);
	ck_assert_str_eq(time_format(from, text), locals[_i].from);
	ck_assert_str_eq(time_format(to, text), locals[_i].to);
	ck_assert_str_eq(time_format_near(to, to, text), locals[_i].to + 11);
}
END_TEST

START_TEST(moments_count_from_now)
{
	const uint64_t now_ns = 1795169700ULL * NSEC_PER_SEC;
	uint64_t from = 1, to = 2;
	char text[TIME_TEXT_SIZE];
	int err = time_parse_relative(relatives[_i].text, now_ns, &from, &to);

	if (!relatives[_i].to) {
		ck_assert_int_eq(err, -EINVAL);
		ck_assert_uint_eq(from, 1);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_str_eq(time_format(from, text), relatives[_i].from);
	ck_assert_str_eq(time_format(to, text), relatives[_i].to);
}
END_TEST

static const struct {
	const char *text;
	uint64_t ns; /* 0: refused */
} durations[] = {
	{ "10", 10 * NSEC_PER_SEC },
	{ "0.5s", NSEC_PER_SEC / 2 },
	{ "250ms", 250000000 },
	{ "10m", 600 * NSEC_PER_SEC },
	{ "1h", 3600 * NSEC_PER_SEC },
	{ "7d", 7 * 86400 * NSEC_PER_SEC },
	{ "", 0 },
	{ "s", 0 },
	{ "-1s", 0 },
	{ "10 s", 0 },
	{ "nan", 0 },
	{ "1e300", 0 },
	{ "36525d", 36525 * 86400ULL * NSEC_PER_SEC },
	{ "36526d", 0 }, /* no clock goes so far */
	{ "999999999d", 0 },
	{ "1e9s", 1000000000 * NSEC_PER_SEC },
	{ "inf", 0 },
};

START_TEST(durations_are_read_with_units)
{
	uint64_t ns = 0;

	ck_assert_int_eq(time_parse_duration(durations[_i].text, &ns),
			 durations[_i].ns ? 0 : -EINVAL);
	ck_assert_uint_eq(ns, durations[_i].ns);
}
END_TEST

static const struct {
	const char *text;
	int base, err;
	uint64_t value;
} typed[] = {
	{ "0", 10, 0, 0 },
	{ "18446744073709551615", 10, 0, UINT64_MAX },
	{ "18446744073709551616", 10, -ERANGE, 0 },
	{ "010", 0, 0, 10 }, /* nobody types octal */
	{ "0x10", 0, 0, 16 },
	{ "0x", 0, -EINVAL, 0 },
	{ "ff", 0, -EINVAL, 0 },
	{ "ff", 16, 0, 255 },
	{ "0xff", 16, -EINVAL, 0 },
	{ "11112222333344445", 16, -ERANGE, 0 },
	{ "-1", 10, -EINVAL, 0 },
	{ "+1", 10, -EINVAL, 0 },
	{ " 1", 10, -EINVAL, 0 },
	{ "1 ", 10, -EINVAL, 0 },
	{ "", 10, -EINVAL, 0 },
};

START_TEST(what_does_not_fit_is_no_number)
{
	uint64_t value = 0;

	ck_assert_int_eq(number_parse(typed[_i].text, typed[_i].base, &value),
			 typed[_i].err);
	ck_assert_uint_eq(value, typed[_i].value);
}
END_TEST

static const struct {
	const char *text;
	int err;
} reals[] = {
	{ "0.5", 0 },        { "100", 0 },         { "5%", 0 },
	{ "5%%", -EINVAL },  { "", -EINVAL },      { "%", -EINVAL },
	{ "nan", -EINVAL },  { "inf", -ERANGE },   { "-1", -ERANGE },
	{ "1e-9", -ERANGE }, { "100.5", -ERANGE }, { "1e999", -ERANGE },
	{ " 5", -EINVAL },   { "5 ", -EINVAL },    { "\t5%", -EINVAL },
};

START_TEST(a_real_number_is_within_its_bounds)
{
	double value = -1;

	ck_assert_int_eq(number_parse_real(reals[_i].text, "%", 0.5, 100, &value),
			 reals[_i].err);
	ck_assert(reals[_i].err ? value == -1 : value >= 0.5);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
	char dir[] = "/tmp/check_base.XXXXXX", path[64], link[64], fifo[64];
	struct buf b = { 0 };
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(file_write(fd, "hello", 5), 0);
	close(fd);
	ck_assert_int_eq(symlink("file", link), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);

	fd = file_open_regular(AT_FDCWD, path, NULL);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(file_open_regular(AT_FDCWD, link, NULL), -ELOOP);
	ck_assert_int_eq(file_open_regular(AT_FDCWD, fifo, NULL), -ENODEV);
	ck_assert_int_eq(file_open_regular(AT_FDCWD, dir, NULL), -ENODEV);

	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 5, &b), 0);
	ck_assert_str_eq(buf_str(&b), "hello");
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 4, &b), -EFBIG);
	ck_assert_uint_eq(b.len, 5);
	buf_fini(&b);
	unlink(path);
	unlink(link);
	unlink(fifo);
	rmdir(dir);
}
END_TEST

START_TEST(a_file_is_made_once_with_its_mode)
{
	char dir[] = "/tmp/cpi-base.XXXXXX", path[64], other[64];
	struct stat made, link_to, another;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/one", dir);
	snprintf(other, sizeof(other), "%s/two", dir);
	umask(077);
	ck_assert_int_eq(file_create(path, 0640), 0);
	ck_assert_int_eq(file_create(path, 0600), -EEXIST);
	ck_assert_int_eq(stat(path, &made), 0);
	ck_assert_int_eq(made.st_mode & 0777, 0640);
	ck_assert_int_eq(file_sync(path), 0);
	ck_assert_int_eq(file_sync_folder(path), 0);
	ck_assert_int_eq(link(path, other), 0);
	ck_assert_int_eq(stat(other, &link_to), 0);
	ck_assert(file_same(&made, &link_to));
	ck_assert_int_eq(unlink(other), 0);
	ck_assert_int_eq(file_sync(other), -ENOENT);
	ck_assert_int_eq(file_create(other, 0640), 0);
	ck_assert_int_eq(stat(other, &another), 0);
	ck_assert(!file_same(&made, &another));
	unlink(path);
	unlink(other);
	rmdir(dir);
}
END_TEST

/* ---- closing, on kernels that can and that cannot close a range ---- */

static bool has_close_range = true;

int __real_close_range(unsigned int first, unsigned int last, int flags);
int __wrap_close_range(unsigned int first, unsigned int last, int flags);

int __wrap_close_range(unsigned int first, unsigned int last, int flags)
{
	if (has_close_range)
		return __real_close_range(first, last, flags);
	errno = ENOSYS;
	return -1;
}

static bool closes_from(int fd)
{
	file_close_from(fd);
	return fcntl(fd - 1, F_GETFD) >= 0 && fcntl(fd, F_GETFD) < 0 &&
	       fcntl(fd + 5, F_GETFD) < 0;
}

START_TEST(descriptors_are_closed_from_one_on)
{
	const int fd = fcntl(STDIN_FILENO, F_DUPFD, 20) + 1;
	int status;
	pid_t pid;

	ck_assert_int_gt(fd, 20);
	ck_assert_int_eq(dup2(fd - 1, fd), fd);
	ck_assert_int_eq(dup2(fd, fd + 5), fd + 5);
	has_close_range = !_i;
	pid = fork(); /* this one has the descriptor that it reports by */
	if (!pid)
		_exit(!closes_from(fd));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(every_error_has_a_text)
{
	ck_assert_str_eq(err_str(-ENOENT), strerror(ENOENT));
	ck_assert_str_eq(err_str(-CPI_ECORRUPT), "the data is damaged");
	ck_assert_str_eq(err_str(CPI_ECORRUPT), "the data is damaged");
}
END_TEST

static int next_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* What comes of a message; the descriptors that it hands over are closed. */
static int take(int socket, int nr)
{
	int fd[FDPASS_MAX], n;
	char bytes[2];

	if (nr)
		n = fdpass_take(socket, bytes, 1, fd, nr);
	else
		n = (int)fdpass_take_some(socket, bytes, sizeof(bytes), fd, 0);
	if (n > 0 && !nr && *fd >= 0)
		close(*fd);
	for (int i = 0; nr && i < n; i++)
		close(fd[i]);
	return n;
}

static const struct {
	int size, nr;    /* sent: bytes and descriptors */
	int wanted, got; /* 0 wanted: fdpass_take_some() */
} messages[] = {
	{ 1, 1, 1, 1 },       { 1, 0, 1, 0 },       { 1, 4, 4, 4 },
	{ 1, 2, 1, -EPROTO }, { 1, 4, 3, -EPROTO }, { 1, 2, 3, -EPROTO },
	{ 2, 1, 1, -EPROTO }, { 0, 1, 1, -EPIPE },  { 0, 3, 3, -EPIPE },
	{ 1, 1, 0, 1 },       { 2, 0, 0, 2 },       { 1, 2, 0, -EPROTO },
	{ 1, 4, 0, -EPROTO }, { 3, 1, 0, -EPROTO }, { 0, 1, 0, -EPIPE },
};

START_TEST(descriptors_that_nobody_expects_are_closed)
{
	const int own[FDPASS_MAX] = { 0, 1, 2, 1 };
	int pair[2], before;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	before = next_descriptor();
	ck_assert_int_eq(fdpass_send(pair[0], "abc", messages[_i].size, own,
				     messages[_i].nr),
			 0);
	ck_assert_int_eq(take(pair[1], messages[_i].wanted), messages[_i].got);
	ck_assert_int_eq(next_descriptor(), before);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(a_look_into_a_socket_takes_one_descriptor)
{
	const int own[] = { 1, 2 };
	int pair[2], before, fd;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	before = next_descriptor();
	ck_assert_int_eq(fdpass_send(pair[0], "a", 1, own, NR(own)), 0);
	fd = fdpass_peek(pair[1]);
	ck_assert_int_eq(fd, before);
	close(fd);
	ck_assert_int_eq(next_descriptor(), before);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

static const struct {
	const char *glob, *path;
	bool matches;
} paths[] = {
	{ "cc1", "/usr/bin/cc1", true },
	{ "/usr/bin/cc1", "/usr/bin/cc1", true },
	{ "bin/cc1", "/usr/bin/cc1", true },
	{ "usr/bin/cc1", "/usr/bin/cc1", true },
	{ "./cc1", "/usr/bin/cc1", true },
	{ "./cc1", "cc1", true },
	{ "./bin/c*", "/usr/bin/cc1", true },
	{ "*/cc1", "/usr/bin/cc1", true },
	{ "/usr*", "/usr/bin/cc1", true },
	{ "\\[kernel]", "[kernel]", true },
	{ "./lib", "./lib", true },
	{ "bin*", "/usr/bin/cc1", false },
	{ "bin?cc1", "/usr/bin/cc1", false },
	{ "usr/*", "/usr/bin/cc1", false },
	{ "in/cc1", "/usr/bin/cc1", false },
	{ "/bin/cc1", "/usr/bin/cc1", false },
	{ "x/usr/bin/cc1", "/usr/bin/cc1", false },
	{ "bin", "/usr/bin/cc1", false },
	{ "./usr/bin/cc", "/usr/bin/cc1", false },
	{ "", "/usr/bin/cc1", false },
	{ "./", "/usr/bin/cc1", false },
	{ "", "/usr/bin/", false },
};

START_TEST(a_path_is_named_by_its_end)
{
	ck_assert_msg(path_matches(paths[_i].glob, paths[_i].path) == paths[_i].matches,
		      "%s, %s", paths[_i].glob, paths[_i].path);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("base");
	TCase *tc = tcase_create("base");

	tcase_add_loop_test(tc, a_number_comes_back, 0, NR(numbers));
	tcase_add_test(tc, a_number_with_more_than_64_bits_is_corrupt);
	tcase_add_test(tc, a_series_of_numbers_keeps_its_first_error);
	tcase_add_test(tc, a_map_holds_what_was_put_in);
	tcase_add_loop_test(tc, moments_are_read_as_intervals, 0, NR(moments));
	tcase_add_loop_test(tc, durations_are_written_in_two_units, 0,
			    NR(durations_shown));
	tcase_add_test(tc, times_of_the_same_day_have_no_date);
	tcase_add_loop_test(tc, moments_count_from_now, 0, NR(relatives));
	tcase_add_loop_test(tc, local_times_are_those_of_the_time_zone, 0, NR(locals));
	tcase_add_loop_test(tc, durations_are_read_with_units, 0, NR(durations));
	tcase_add_loop_test(tc, what_does_not_fit_is_no_number, 0, NR(typed));
	tcase_add_loop_test(tc, a_real_number_is_within_its_bounds, 0, NR(reals));
	tcase_add_loop_test(tc, a_path_is_named_by_its_end, 0, NR(paths));
	tcase_add_test(tc, only_regular_files_are_opened);
	tcase_add_test(tc, a_file_is_made_once_with_its_mode);
	tcase_add_loop_test(tc, descriptors_are_closed_from_one_on, 0, 2);
	tcase_add_loop_test(tc, descriptors_that_nobody_expects_are_closed, 0,
			    NR(messages));
	tcase_add_test(tc, a_look_into_a_socket_takes_one_descriptor);
	tcase_add_test(tc, every_error_has_a_text);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
