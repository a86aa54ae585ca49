/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/mappings/announcement.h"

#include <errno.h>
#include <string.h>

#include "t/unit/unit.h"

/* A datagram of one record with room for all that it may claim. */
struct datagram {
	struct cpi_announce_head head;
	struct cpi_announce_record record;
	struct cpi_announce_segment segment;
	char rest[36]; /* a build id of 20, a path of 12, 4 of nothing */
} __attribute__((packed));

static struct datagram sound(void)
{
	struct datagram d = {
		.head = { CPI_ANNOUNCE_MAGIC, CPI_ANNOUNCE_VERSION, 0 },
		.record = { .size = sizeof(d) - sizeof(d.head),
			    .path_size = 12,
			    .what = CPI_ANNOUNCE_LOADED,
			    .nr_segments = 1,
			    .build_id_size = 20,
			    .base = 0x7f0000000000 },
		.segment = { 0x1000, 0x2000, 0x300 },
		.rest = "abcdefghijklmnopqrst/lib/libx.so",
	};

	return d;
}

START_TEST(a_record_is_read_as_it_was_written)
{
	struct datagram d = sound();
	struct announcements all;
	struct announcement st;

	d.head.flags = CPI_ANNOUNCE_BEGIN;
	ck_assert_int_eq(announcements_open(&d, sizeof(d), &all), 0);
	ck_assert(all.is_begin);
	ck_assert_int_eq(announcements_next(&all, &st), 1);
	ck_assert_int_eq(st.what, CPI_ANNOUNCE_LOADED);
	ck_assert_uint_eq(st.base, 0x7f0000000000);
	ck_assert_int_eq(st.nr_segments, 1);
	ck_assert_uint_eq(st.segments[0].vaddr, 0x1000);
	ck_assert_uint_eq(st.segments[0].offset, 0x2000);
	ck_assert_uint_eq(st.segments[0].size, 0x300);
	ck_assert_uint_eq(st.build_id_size, 20);
	ck_assert_mem_eq(st.build_id, "abcdefghijklmnopqrst", 20);
	ck_assert_uint_eq(st.path_size, 12);
	ck_assert_mem_eq(st.path, "/lib/libx.so", 12);
	ck_assert_int_eq(announcements_next(&all, &st), 0);
}
END_TEST

static void change_magic(struct datagram *d)
{
	d->head.magic++;
}

static void change_version(struct datagram *d)
{
	d->head.version++;
}

static void say_nothing_happened(struct datagram *d)
{
	d->record.what = 0;
}

static void have_no_segments(struct datagram *d)
{
	d->record.nr_segments = 0;
}

static void have_many_segments(struct datagram *d)
{
	d->record.nr_segments = 3; /* 12 bytes each */
}

static void have_a_long_path(struct datagram *d)
{
	d->record.path_size = 17;
}

static void have_a_long_build_id(struct datagram *d)
{
	d->record.build_id_size = 25;
}

static void have_no_size(struct datagram *d)
{
	d->record.size = 0;
}

static void be_longer_than_the_datagram(struct datagram *d)
{
	d->record.size += 8;
}

static void have_an_odd_size(struct datagram *d)
{
	d->record.size -= 1;
}

static void wrap_around(struct datagram *d)
{
	d->record.base = UINT64_MAX - 0x1000;
}

static void have_an_empty_segment(struct datagram *d)
{
	d->segment.size = 0;
}

static void (*const damages[])(struct datagram *d) = {
	change_magic,         change_version,     say_nothing_happened,
	have_no_segments,     have_many_segments, have_a_long_path,
	have_a_long_build_id, have_no_size,       be_longer_than_the_datagram,
	have_an_odd_size,     wrap_around,        have_an_empty_segment,
};

START_TEST(what_makes_no_sense_is_refused)
{
	struct datagram d = sound();
	struct announcements all;
	struct announcement st = { .nr_segments = -7 };
	int err;

	damages[_i](&d);
	err = announcements_open(&d, sizeof(d), &all);
	if (!err)
		err = announcements_next(&all, &st);
	ck_assert_int_eq(err, -EBADMSG);
	ck_assert_int_eq(st.nr_segments, -7);
}
END_TEST

START_TEST(every_cut_is_refused)
{
	struct datagram d = sound();
	struct announcements all;
	struct announcement st;

	for (size_t size = 0; size < sizeof(d); size++) {
		int err = announcements_open(&d, size, &all);

		if (size == sizeof(d.head))
			ck_assert_int_eq(announcements_next(&all, &st), 0);
		else
			ck_assert_int_eq(err ? err : announcements_next(&all, &st),
					 -EBADMSG);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("statement");
	TCase *tc = tcase_create("statement");

	tcase_add_test(tc, a_record_is_read_as_it_was_written);
	tcase_add_loop_test(tc, what_makes_no_sense_is_refused, 0, NR(damages));
	tcase_add_test(tc, every_cut_is_refused);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
