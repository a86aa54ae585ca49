/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "base/buf.h"
#include "db/core/sql.h"
#include "db/query/stacks.h"
#include "db/query/sums.h"
#include "db/query/window_query.h"
#include "db/query/marks.h"
#include "t/unit/dbtest.h"

/* 2026-11-20T10:00:00Z */
#define TEN  (1795168800ULL * SEC)
#define HOUR (3600 * SEC)

enum { PERF, KMOD }; /* streams of the test's flushes */

/* One flush with everything in it; scale tells epochs apart. */
static void flush_everything(struct store *s, uint64_t seq, uint64_t from_ns,
			     uint64_t scale, bool by_comm)
{
	static const struct image_desc images[] = {
		{ .kind = IMAGE_FILE, .name = "/usr/bin/cc1", .build_id_size = 20 },
		{ .kind = IMAGE_KERNEL, .name = "[kernel]", .build_id_size = 20 },
	};
	struct flush_stream streams[] = { test_stream, test_stream };
	struct profile *cc1 = profile_new(), *kernel = profile_new();
	struct profile *other = profile_new();
	struct flush_profile profiles[] = {
		{ &images[0], PERF, "", cc1 },
		{ &images[1], PERF, "", kernel },
		{ &images[1], KMOD, "", other },
		{ &images[1], PERF, "comm=make", kernel },
		{ &images[0], PERF, "comm=cc1", cc1 },
		{ &images[0], PERF, "label=nightly", cc1 },
	};
	struct flush_comm comms[] = {
		{ &images[0], PERF, "cc1", 10 * scale },
		{ &images[1], PERF, "make", 5 * scale },
		{ NULL, PERF, "make", 1 * scale },
	};
	struct flush_loss losses[] = {
		{ PERF, LOSS_UNKNOWN, "no_image", 1 * scale },
		{ PERF, LOSS_LOST, "ring_lost", 2 * scale },
		{ KMOD, LOSS_LOST, "ring_lost", 0 },
	};
	struct flush_symbol symbols[] = {
		{ &images[1], 0xffffffffffffff00, 16, "before_text" },
		{ &images[1], 0x100, 16, "schedule" },
		{ &images[1], 0x40, 16, "entry" },
	};
	struct flush_code codes[] = {
		{ &images[1], 0x100, "\x90\xc3", 2 },
		{ &images[1], 0x40, "", 0 },
	};
	struct flush f = { .seq = seq,
			   .from_ns = from_ns,
			   .to_ns = from_ns + HOUR / 2,
			   .duration_ns = HOUR / 2,
			   .streams = streams,
			   .nr_streams = 2,
			   .profiles = profiles,
			   .nr_profiles = by_comm ? NR(profiles) : 3,
			   .comms = comms,
			   .nr_comms = NR(comms),
			   .losses = losses,
			   .nr_losses = NR(losses),
			   .symbols = symbols,
			   .nr_symbols = NR(symbols),
			   .codes = codes,
			   .nr_codes = NR(codes) };

	streams[KMOD].desc.event = "cycles";
	streams[KMOD].desc.source = "kmod";
	streams[PERF].received = 18 * scale;
	streams[PERF].not_delivered = -3;
	streams[KMOD].received = 7 * scale;
	profile_add(cc1, &(struct count){ 0x10, 10 * scale, 4 * scale, 6 * scale });
	profile_add(kernel, &(struct count){ 0x100, 5 * scale, 0, 0 });
	profile_add(other, &(struct count){ 0x100, 7 * scale, 0, 0 });
	ck_assert_int_eq(store_flush(s, &f), 0);
	profile_free(cc1);
	profile_free(kernel);
	profile_free(other);
}

/* Epochs 1 to 4 from 10:00 on, an hour each; 2 and 4 are "gcc", 3 has a label ".." */
static struct db *make_epochs(struct dbtest *t)
{
	static const char *const labels[] = { NULL, "gcc", "a..b", "gcc" };
	struct db *db;
	struct store *s;

	dbtest_init(t);
	db = dbtest_open(t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, TEN, &s), 0);
	for (uint64_t i = 0; i < 4; i++) {
		ck_assert_int_eq(store_epoch(s, TEN + i * HOUR, 2, labels[i]), 0);
		flush_everything(s, i + 1, TEN + i * HOUR, i + 1, i == 1);
	}
	store_free(s);
	return db;
}

static const struct {
	const char *spec, *want; /* NULL want: err */
	int err;
} specs[] = {
	{ NULL, "4", 0 },
	{ "recent", "4", 0 },
	{ "last", "4", 0 },
	{ "all", "1 2 3 4", 0 },
	{ "1", "1", 0 },
	{ "007", NULL, -ENOENT },
	{ "03", "3", 0 },
	{ "5", NULL, -ENOENT },
	{ "0", NULL, -ENOENT },
	{ "-0", "4", 0 },
	{ "-1", "3", 0 },
	{ "-3", "1", 0 },
	{ "-4", NULL, -ENOENT },
	{ "99999999999999999999", NULL, -EINVAL },
	{ "-99999999999999999999", NULL, -EINVAL },
	{ "", NULL, -EINVAL },
	{ "gcc", "2 4", 0 },
	{ "GCC", NULL, -ENOENT },
	{ "a..b", "3", 0 },
	{ "2026-11-20", "1 2 3 4", 0 },
	{ "2026-11-20T10", "1", 0 },
	{ "2026-11-20T11:15", "2", 0 },
	{ "2026-11-20T13:45", NULL, -ENOENT }, /* open, but no flush yet */
	{ "2026-11-21", NULL, -ENOENT },
	{ "2026-13", NULL, -ENOENT }, /* no moment: a label, and none that exists */
	{ "2..3", "2 3", 0 },
	{ "0..99", "1 2 3 4", 0 },
	{ "3..2", NULL, -ENOENT },
	{ "..2", "1 2", 0 },
	{ "3..", "3 4", 0 },
	{ "..", "1 2 3 4", 0 },
	{ "-2..last", "2 3 4", 0 },
	{ "gcc..gcc", "2 3 4", 0 },
	{ "gcc..3", "2 3", 0 },
	{ "1..nobody", NULL, -ENOENT },
	{ "2026-11-20T11..2026-11-20T12", "2 3", 0 },
	{ "2025..2026-11-20T10", NULL, -ENOENT }, /* 2025 is an id */
	{ "2025-01..2026-11-20T10", "1", 0 },
	{ "2026-11-20T12..2027-01", "3 4", 0 },
	{ "2026-11-20T11..12", "2 3", 0 },
	{ "2026-11-20T11..9", NULL, -ENOENT },
	{ "2026-11-20 11:10..11:20", "2", 0 },
	{ "2026-11-20T11:10+00:00..2026-11-20T13:20+01:00", "2 3", 0 },
	{ "2026-11-20T12:10..2026-11-20T13:20+01:00", "2 3", 0 },
	{ "2026-11-19..20", "1 2 3 4", 0 },
	{ "2..2026-11-20T12", "2 3", 0 },
	{ "2..last", "2 3 4", 0 },
	{ "9..last", NULL, -ENOENT },
	{ "-2x", NULL, -ENOENT },
	{ "1,3", "1 3", 0 },
	{ "3,1,3", "1 3", 0 },
	{ "1,9", NULL, -ENOENT },
	{ "1,,3", NULL, -EINVAL },
	{ ",", NULL, -EINVAL },
	{ "1,x", NULL, -ENOENT },
	{ "'; DROP TABLE epoch; --", NULL, -ENOENT },
};

START_TEST(epochs_are_named_in_many_ways)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e = { 0 };
	struct buf ids = { 0 };
	int err = query_epochs(db, specs[_i].spec, &e);

	ck_assert_msg(err == specs[_i].err, "'%s': %d", specs[_i].spec, err);
	for (size_t i = 0; i < e.nr; i++)
		buf_printf(&ids, "%s%d", i ? " " : "", (int)e.epoch[i].id);
	ck_assert_msg(!strcmp(buf_str(&ids), specs[_i].want ? specs[_i].want : ""),
		      "'%s': %s", specs[_i].spec, buf_str(&ids));
	buf_fini(&ids);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Another machine's epochs 5 and 6, of 09:00 and 11:45, came later. */
static const struct {
	const char *spec, *host, *platform, *want;
} machines[] = {
	{ "all", NULL, NULL, "5 1 2 6 3 4" },
	{ "last", NULL, NULL, "4" },
	{ "-2", NULL, NULL, "6" },
	{ "5..6", NULL, NULL, "5 6" }, /* both are ids */
	{ "5..last", NULL, NULL, "5 1 2 6 3 4" },
	{ "6..last", NULL, NULL, "6 3 4" },
	{ "..6", NULL, NULL, "5 1 2 6 3 4" },
	{ "last", "web*", NULL, "6" },
	{ "-1", "web1", NULL, "5" },
	{ "all", "web1", NULL, "5 6" },
	{ "all", "*", NULL, "5 1 2 6 3 4" },
	{ "all", "w", NULL, "" },
	{ "4", "web1", NULL, "" },
	{ "2026-11-20T11", "web1", NULL, "6" },
	{ "gcc", "web1", NULL, "" },
	{ "all", NULL, "aarch64", "5 6" },
	{ "all", NULL, "x86_64/*", "1 2 3 4" },
	{ "all", NULL, "*/Test CPU/*", "1 2 3 4" },
	{ "last", NULL, "6.6.*", "6" },
	{ "all", "testhost", "aarch64", "" },
};

START_TEST(epochs_are_chosen_by_machine_and_in_order_of_time)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	const struct query_machines of = { machines[_i].host, machines[_i].platform };
	struct query_epochs e = { 0 };
	struct buf ids = { 0 };

	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO platform VALUES (2, 'web1', 'aarch64',"
				  " 'N1', '6.6.1', 'b', 0, 1);"
				  "INSERT INTO run VALUES (2, 2, 0, 0, 1);"
				  "INSERT INTO epoch SELECT id + 4, 2, '',"
				  " from_ns + (id * 7 - 11) * 900000000000,"
				  " from_ns + (id * 7 - 11) * 900000000000 + 1, 0, 0"
				  " FROM epoch WHERE id < 3"),
			 0);
	query_epochs_of(db, machines[_i].spec, &of, &e);
	for (size_t i = 0; i < e.nr; i++)
		buf_printf(&ids, "%s%d", i ? " " : "", (int)e.epoch[i].id);
	ck_assert_msg(!strcmp(buf_str(&ids), machines[_i].want), "%s: %s",
		      machines[_i].spec, buf_str(&ids));
	buf_fini(&ids);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* An epoch of the last minutes, and of the day before yesterday. */
static const struct {
	const char *spec, *want;
} relative[] = {
	{ "-1h", "2" },         { "-90m", "2" },          { "-5d", "1 2" },
	{ "-5d..-1d", "1" },    { "-1h..", "2" },         { "..-1h", "1" },
	{ "-5d..last", "1 2" }, { "yesterday..-1h", "" }, { "-1h..-30m", "" },
};

START_TEST(times_count_from_now)
{
	const uint64_t now_ns = time_real_ns();
	struct query_epochs e = { 0 };
	struct buf ids = { 0 };
	struct dbtest t;
	struct store *s;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, now_ns - 60 * HOUR, &s), 0);
	ck_assert_int_eq(store_epoch(s, now_ns - 60 * HOUR, 2, NULL), 0);
	store_free(s);
	ck_assert_int_eq(store_begin(db, &test_platform, now_ns - HOUR / 6, &s), 0);
	ck_assert_int_eq(store_epoch(s, now_ns - HOUR / 6, 2, NULL), 0);
	ck_assert_int_eq(store_end(s, now_ns - HOUR / 12), 0);
	query_epochs(db, relative[_i].spec, &e);
	for (size_t i = 0; i < e.nr; i++)
		buf_printf(&ids, "%s%d", i ? " " : "", (int)e.epoch[i].id);
	ck_assert_msg(!strcmp(buf_str(&ids), relative[_i].want), "%s: %s",
		      relative[_i].spec, buf_str(&ids));
	buf_fini(&ids);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/*
 * Epochs 1 to 4: a recording's, and three minutes of a run an hour and more later,
 * which begin 13 ms late. 5 begins at 12:02:30.
 */
static struct db *make_minutes(struct dbtest *t)
{
	const uint64_t twelve = TEN + 2 * HOUR;
	struct db *db;
	struct store *s;

	dbtest_init(t);
	db = dbtest_open(t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, twelve - 100 * SEC, &s), 0);
	ck_assert_int_eq(store_epoch(s, twelve - 100 * SEC, 2, NULL), 0);
	ck_assert_int_eq(store_end(s, twelve - 90 * SEC), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, twelve - 60 * SEC, &s), 0);
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_int_eq(store_epoch(s,
					     i == 3 ? twelve + 150 * SEC
						    : twelve + i * 60 * SEC + SEC / 77,
					     2, NULL),
				 0);
	ck_assert_int_eq(store_end(s, twelve + 180 * SEC + SEC / 77), 0);
	return db;
}

static const struct {
	const char *spec, *want, *label; /* of the last */
} minutes[] = {
	{ NULL, "2 3 4 5", NULL },
	{ "recent", "2 3 4 5", NULL },
	{ NULL, "5", "named" },
	{ "last", "5", NULL },
	{ "2026-11-20T12:00..12:01", "2", NULL },
	{ "2026-11-20T12:00..12:02", "2 3", NULL },
	{ "2026-11-20T12:01:00..12:02:00", "3", NULL },
	{ "2026-11-20T12:01", "3", NULL },
	{ "2026-11-20T12:01:00", "3", NULL }, /* most of that second */
	{ "2026-11-20T12:01..12:01", "3", NULL },
	{ "2026-11-20T12:01:20..12:01:25", "3", NULL },
	{ "2026-11-20T12:01:20..12:02:25", "3 4", NULL },
	{ "2026-11-20T12:02..12:03", "4 5", NULL },
	{ "2026-11-20T11..12", "1 2 3 4 5", NULL },
	{ "2026-11-20T12:05..12:06", "", NULL },
};

/*
 * Marks of make_minutes(): in epoch 3, at the edge of 4, twice in 5 and 3, of another
 * machine, and before all.
 */
static void make_marks(struct db *db)
{
	const uint64_t twelve = TEN + 2 * HOUR;
	static const struct {
		int second;
		const char *text;
	} marks[] = {
		{ 70, "in 3" },    { 121, "before 4" }, { 75, "twice" },
		{ 160, "twice" },  { 100, "a..b" },     { -3600, "early" },
		{ 3600, "later" },
	};

	for (size_t i = 0; i < NR(marks); i++)
		ck_assert_int_eq(store_mark_newest(db, twelve + marks[i].second * SEC,
						   marks[i].text, "none"),
				 0);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO mark VALUES ('stranger', 9, 'strange')"),
			 0);
}

static const struct {
	const char *spec, *host, *want;
} at_marks[] = {
	{ "mark:in 3", NULL, "3" },
	{ "mark:in 3..", NULL, "4 5" },
	{ "..mark:in 3", NULL, "1 2" },
	{ "mark:in 3..mark:in 3", NULL, "3" },
	{ "mark:in 3..mark:twice", NULL, "4" }, /* the newest */
	{ "mark:before 4..", NULL, "4 5" },     /* less than a second of it */
	{ "..mark:before 4", NULL, "1 2 3" },
	{ "mark:twice", NULL, "5" },
	{ "mark:twice..", NULL, "5" }, /* no other remains */
	{ "mark:twice..last", NULL, "5" },
	{ "mark:a..b", NULL, "3" },
	{ "2026-11-20T12:00..mark:in 3", NULL, "2" },
	{ "mark:in 3..4", NULL, "4" },
	{ "mark:early..", NULL, "1 2 3 4 5" },
	{ "mark:early", NULL, "" },
	{ "mark:later..", NULL, "" },
	{ "..mark:later", NULL, "1 2 3 4 5" },
	{ "..mark:early", NULL, "" },
	{ "mark:none..", NULL, "" },
	{ "mark:", NULL, "" },
	{ "mark:strange..", NULL, "1 2 3 4 5" },
	{ "mark:strange..", "testhost", "" },
	{ "mark:in 3..", "testhost", "4 5" },
};

START_TEST(marks_choose_what_is_before_or_after_them)
{
	const struct query_machines of = { at_marks[_i].host, NULL };
	struct query_epochs e = { 0 };
	struct buf ids = { 0 };
	struct dbtest t;
	struct db *db = make_minutes(&t);

	make_marks(db);
	query_epochs_of(db, at_marks[_i].spec, &of, &e);
	for (size_t i = 0; i < e.nr; i++)
		buf_printf(&ids, "%s%d", i ? " " : "", (int)e.epoch[i].id);
	ck_assert_msg(!strcmp(buf_str(&ids), at_marks[_i].want), "%s: %s",
		      at_marks[_i].spec, buf_str(&ids));
	buf_fini(&ids);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(marks_are_those_of_the_machines_and_the_time)
{
	struct query_epochs e = { 0 };
	struct query_marks m;
	struct dbtest t;
	struct db *db = make_minutes(&t);

	make_marks(db);
	ck_assert_int_eq(query_marks(db, &m), 0);
	ck_assert_uint_eq(m.nr, 8);
	ck_assert_str_eq(m.mark[0].text, "strange");
	query_marks_fini(&m);
	ck_assert_int_eq(query_epochs(db, "2..4", &e), 0);
	ck_assert_int_eq(query_marks_of(db, &e, &m), 0);
	ck_assert_uint_eq(m.nr, 4);
	ck_assert_str_eq(m.mark[0].text, "in 3");
	ck_assert_str_eq(m.mark[3].text, "before 4");
	query_marks_fini(&m);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(times_choose_the_minutes_that_they_name)
{
	struct query_epochs e = { 0 };
	struct buf ids = { 0 };
	struct dbtest t;
	struct db *db = make_minutes(&t);

	if (minutes[_i].label)
		ck_assert_int_eq(store_label_epoch(db, 5, minutes[_i].label), 0);
	query_epochs(db, minutes[_i].spec, &e);
	for (size_t i = 0; i < e.nr; i++)
		buf_printf(&ids, "%s%d", i ? " " : "", (int)e.epoch[i].id);
	ck_assert_msg(!strcmp(buf_str(&ids), minutes[_i].want), "%s: %s",
		      minutes[_i].spec ? minutes[_i].spec : "none", buf_str(&ids));
	buf_fini(&ids);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *spec;
	uint64_t from_ns, to_ns; /* 0 and 0: it asks for no times */
} asked[] = {
	{ "2026-11-20T10", TEN, TEN + HOUR },
	{ "2026-11-20T10..11", TEN, TEN + 2 * HOUR },
	{ "2026-11-20T10:00..11:00", TEN, TEN + HOUR },
	{ "2026-11-20T10:00..10:00", TEN, TEN + 60 * SEC },
	{ "2026-11-20T10:00:10..10:00:20", TEN + 10 * SEC, TEN + 20 * SEC },
	{ "2026-11-20T11:00..12:00+01:00", TEN, TEN + HOUR },
	{ "2026-11-20T11:00+01:00..12:00", TEN, TEN + HOUR },
	{ "2026-11-20T11:00+01:00..11:00Z", TEN, TEN + HOUR },
	{ "2026-11-20..2026-11-20T12:00+01:00", TEN - 10 * HOUR, TEN + HOUR },
	{ "recent", 0, 0 },
	{ "2026-11-20T10..", TEN, INT64_MAX },
	{ "..2026-11-20T09", 0, TEN },
	{ "", 0, 0 },
	{ "..", 0, 0 },
	{ "last", 0, 0 },
	{ "-1", 0, 0 },
	{ "7", 0, 0 },
	{ "a label", 0, 0 },
	{ "a label..2026", 0, 0 },
	{ "7..2026-11-20T10", 0, 0 },
};

START_TEST(a_specification_asks_for_times_or_not)
{
	uint64_t from = 0, to = 0;
	const int want = asked[_i].to_ns ? 0 : -ENOENT;

	ck_assert_int_eq(query_asked_times(asked[_i].spec, time_real_ns(), &from, &to),
			 want);
	ck_assert_uint_eq(from, asked[_i].from_ns);
	ck_assert_uint_eq(to, asked[_i].to_ns);
}
END_TEST

START_TEST(an_epoch_tells_its_time_machine_and_samples)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;

	ck_assert_int_eq(store_label_epoch(db, 3, "new"), 0);
	ck_assert_int_eq(store_label_epoch(db, 9, "new"), -ENOENT);
	ck_assert_int_eq(query_epochs(db, "3..4", &e), 0);
	ck_assert_str_eq(e.epoch[0].label, "new");
	ck_assert(!e.epoch[0].open);
	ck_assert(e.epoch[1].open);
	ck_assert_uint_eq(e.epoch[0].from_ns, TEN + 2 * HOUR);
	ck_assert_uint_eq(e.epoch[0].to_ns, TEN + 3 * HOUR);
	ck_assert_uint_eq(e.epoch[1].to_ns, TEN + 3 * HOUR + HOUR / 2);
	ck_assert_uint_eq(e.epoch[0].uncertainty_ms, 2);
	ck_assert_str_eq(e.epoch[0].host, test_platform.host);
	ck_assert_str_eq(e.epoch[0].arch, test_platform.arch);
	ck_assert_str_eq(e.epoch[0].cpu, test_platform.cpu);
	ck_assert_str_eq(e.epoch[0].release, test_platform.release);
	ck_assert_str_eq(e.epoch[0].boot_id, test_platform.boot_id);
	ck_assert_uint_eq(e.epoch[0].clock_hz, test_platform.clock_hz);
	ck_assert_uint_eq(e.epoch[0].nr_cpus, test_platform.nr_cpus);
	ck_assert_uint_eq(e.epoch[0].samples, 25 * 3);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(streams_and_losses_add_up_over_epochs)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_streams s;
	struct query_losses l;

	ck_assert_int_eq(query_epochs(db, "1,3", &e), 0);
	ck_assert_int_eq(query_streams(db, &e, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 2);
	ck_assert_str_eq(s.stream[0].desc.event, "cpu-clock");
	ck_assert_str_eq(s.stream[0].desc.unit, "ns");
	ck_assert_int_eq(s.stream[0].desc.landing, LANDING_AFTER_GROUP);
	ck_assert_uint_eq(s.stream[0].desc.mean_period, 1000000);
	ck_assert_uint_eq(s.stream[0].received, 18 * 4);
	ck_assert_uint_eq(s.stream[0].stored, 15 * 4);
	ck_assert_int_eq(s.stream[0].not_delivered, -6);
	ck_assert_uint_eq(s.stream[0].enabled_ns, 20);
	ck_assert_str_eq(s.stream[1].desc.source, "kmod");
	ck_assert_uint_eq(s.stream[1].received, 7 * 4);
	ck_assert_int_eq(query_losses(db, &e, &l), 0);
	ck_assert_uint_eq(l.nr, 2);
	ck_assert_int_eq(l.loss[0].stream, s.stream[0].id);
	ck_assert_int_eq(l.loss[0].class, LOSS_UNKNOWN);
	ck_assert_str_eq(l.loss[0].name, "no_image");
	ck_assert_uint_eq(l.loss[0].n, 4);
	ck_assert_uint_eq(l.loss[1].n, 8);
	query_streams_fini(&s);
	ck_assert_int_eq(query_streams(db, &e, "cycles", &s), 0);
	ck_assert_uint_eq(s.nr, 1);
	query_streams_fini(&s);
	query_losses_fini(&l);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *what, *epochs, *event, *image, *context;
	int err;
	uint64_t rows, samples, taken;
	enum context_kind kind;
} selections[] = {
	{ "everything of one", "1", NULL, NULL, NULL, 0, 3, 22, 4, CONTEXT_COMM },
	{ "everything", "all", NULL, NULL, NULL, 0, 3, 220, 40, CONTEXT_COMM },
	{ "an event", "all", "cpu-clock", NULL, NULL, 0, 2, 150, 40, CONTEXT_COMM },
	{ "no such event", "all", "x", NULL, NULL, 0, 0, 0, 0, CONTEXT_COMM },
	{ "a full path", "1", NULL, "/usr/bin/cc1", NULL, 0, 1, 10, 4, CONTEXT_COMM },
	{ "a last component", "1", NULL, "cc?", NULL, 0, 1, 10, 4, CONTEXT_COMM },
	{ "the end of a path", "1", NULL, "./bin/cc1", NULL, 0, 1, 10, 4,
	  CONTEXT_COMM },
	{ "half of a component", "1", NULL, "in/cc1", NULL, 0, 0, 0, 0, CONTEXT_COMM },
	{ "a glob with slashes", "1", NULL, "/usr*", NULL, 0, 1, 10, 4, CONTEXT_COMM },
	{ "the kernel", "1", NULL, "\\[kernel\\]", NULL, 0, 2, 12, 0, CONTEXT_COMM },
	{ "no such image", "1", NULL, "nothing", NULL, 0, 0, 0, 0, CONTEXT_COMM },
	{ "a command", "2", NULL, NULL, "make", 0, 1, 10, 0, CONTEXT_COMM },
	{ "commands", "all", NULL, NULL, "*", 0, 2, 30, 8, CONTEXT_COMM },
	{ "no such command", "2", NULL, NULL, "nobody", 0, 0, 0, 0, CONTEXT_COMM },
	{ "a command without profiles", "1", NULL, NULL, "make", -CPI_EEMPTY, 0, 0, 0,
	  CONTEXT_COMM },
	{ "a label", "all", NULL, NULL, "n*", 0, 1, 20, 8, CONTEXT_LABEL },
	{ "no such label", "2", NULL, NULL, "", 0, 0, 0, 0, CONTEXT_LABEL },
	{ "a kind without profiles", "2", NULL, NULL, "*", -CPI_EEMPTY, 0, 0, 0,
	  CONTEXT_CGROUP },
};

struct tally {
	uint64_t rows, samples, taken;
	size_t done, all;
};

static int add_row(void *ctx, const struct query_profile *row)
{
	struct tally *t = ctx;
	size_t nr;
	const struct count *c = profile_sorted(row->profile, &nr);

	t->rows++;
	t->samples += profile_total(row->profile);
	for (size_t i = 0; i < nr; i++)
		t->taken += c[i].taken;
	ck_assert_ptr_nonnull(row->image.desc.name);
	return 0;
}

static void see_progress(void *ctx, size_t done, size_t all)
{
	struct tally *t = ctx;

	ck_assert_uint_eq(done, t->done + 1);
	t->done = done;
	t->all = all;
}

START_TEST(selections_restrict_profiles)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e,
				       .event = selections[_i].event,
				       .image = selections[_i].image };
	struct tally sum = { 0 };
	int err;

	sel.context[selections[_i].kind] = selections[_i].context;
	ck_assert_int_eq(query_epochs(db, selections[_i].epochs, &e), 0);
	err = query_profiles(db, &sel, add_row, &sum, see_progress);
	ck_assert_msg(err == selections[_i].err && sum.rows == selections[_i].rows &&
			      sum.samples == selections[_i].samples &&
			      sum.taken == selections[_i].taken,
		      "%s: %d, %d rows, %d samples, %d taken", selections[_i].what, err,
		      (int)sum.rows, (int)sum.samples, (int)sum.taken);
	ck_assert_uint_eq(sum.done, sum.all);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What the parts have together, and the images that have some of it. */
static struct tally add_parts(const struct query_sums *sums)
{
	struct tally t = { 0 };
	uint64_t *n = calloc(sums->nr + 1, sizeof(*n));

	for (size_t i = 0; i < sums->nr_parts; i++) {
		for (size_t k = 0; k < sums->part[i].nr; k++)
			n[sums->part[i].sum[k].of] += sums->part[i].sum[k].n;
	}
	for (size_t i = 0; i < sums->nr; i++) {
		ck_assert_uint_gt(n[i], 0);
		t.rows++;
		t.samples += n[i];
	}
	free(n);
	return t;
}

START_TEST(sums_are_those_of_the_profiles)
{
	static const uint32_t part[] = { 0, 1, 0, 2 };
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e,
				       .event = selections[_i].event,
				       .image = selections[_i].image };
	struct query_sums sums = { 0 };
	struct tally sum = { 0 };
	int err;

	sel.context[selections[_i].kind] = selections[_i].context;
	ck_assert_int_eq(query_epochs(db, selections[_i].epochs, &e), 0);
	err = query_sums(db, &sel, part, 3, &sums);
	if (!err)
		sum = add_parts(&sums);
	ck_assert_msg(err == selections[_i].err && sum.rows == selections[_i].rows &&
			      sum.samples == selections[_i].samples,
		      "%s: %d, %d rows, %d samples", selections[_i].what, err,
		      (int)sum.rows, (int)sum.samples);
	query_sums_fini(&sums);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Of an image's stream in one part. */
static uint64_t sum_of(const struct query_sums *sums, size_t part, const char *comm,
		       const char *image, int64_t stream)
{
	uint64_t n = 0;

	for (size_t k = 0; k < sums->part[part].nr; k++) {
		const struct query_sum *s = &sums->sum[sums->part[part].sum[k].of];

		if (!strcmp(s->image->desc.name, image) && s->stream == stream &&
		    (comm ? s->comm && !strcmp(s->comm, comm) : !s->comm))
			n += sums->part[part].sum[k].n;
	}
	return n;
}

/* Epochs 1 and 4 are one part, 2 and 3 one each: parts come and go. */
START_TEST(parts_of_a_selection_are_summed_apart)
{
	static const uint32_t part[] = { 2, 0, 1, 2 };
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e, .event = "cpu-clock" };
	struct query_streams streams;
	struct query_sums sums;
	int64_t perf;

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_streams(db, &e, "cpu-clock", &streams), 0);
	ck_assert_uint_eq(streams.nr, 1);
	perf = streams.stream[0].id;
	ck_assert_int_eq(query_sums(db, &sel, part, 3, &sums), 0);
	ck_assert_uint_eq(sum_of(&sums, 0, NULL, "/usr/bin/cc1", perf), 20);
	ck_assert_uint_eq(sum_of(&sums, 1, NULL, "/usr/bin/cc1", perf), 30);
	ck_assert_uint_eq(sum_of(&sums, 2, NULL, "/usr/bin/cc1", perf), 50);
	ck_assert_uint_eq(sum_of(&sums, 2, NULL, "[kernel]", perf), 25);
	query_sums_fini(&sums);
	ck_assert_int_eq(query_comm_sums(db, &sel, part, 3, &sums), 0);
	ck_assert_uint_eq(sum_of(&sums, 0, "make", "[kernel]", perf), 10);
	ck_assert_uint_eq(sum_of(&sums, 2, "make", "[kernel]", perf), 25);
	ck_assert_uint_eq(sum_of(&sums, 2, "cc1", "/usr/bin/cc1", perf), 50);
	ck_assert_uint_eq(sum_of(&sums, 2, "make", "/usr/bin/cc1", perf), 0);
	query_sums_fini(&sums);
	sel.context[CONTEXT_COMM] = "c*";
	ck_assert_int_eq(query_comm_sums(db, &sel, part, 3, &sums), 0);
	ck_assert_uint_eq(add_parts(&sums).samples, 100);
	query_sums_fini(&sums);
	query_streams_fini(&streams);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(damaged_totals_are_refused)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	const uint32_t part[4] = { 0 };
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };
	struct query_sums sums;

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE profile SET total = -1"
						 " WHERE epoch = 3"),
			 0);
	ck_assert_int_eq(query_sums(db, &sel, part, 1, &sums), -CPI_ECORRUPT);
	ck_assert_int_eq(
		sql_exec(db_handle(db), "UPDATE comm SET n = -1 WHERE epoch = 2"), 0);
	ck_assert_int_eq(query_comm_sums(db, &sel, part, 1, &sums), -CPI_ECORRUPT);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static int stop(void *ctx, const struct query_profile *row)
{
	++*(int *)ctx;
	return 42;
}

START_TEST(a_callback_stops_the_query)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };
	int calls = 0;

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, stop, &calls, NULL), 42);
	ck_assert_int_eq(calls, 1);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_damaged_blob_is_named)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };
	struct tally sum = { 0 };

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE profile SET counts = x'010203'"
						 " WHERE epoch = 3"),
			 0);
	ck_assert_int_eq(query_profiles(db, &sel, add_row, &sum, NULL), -CPI_ECORRUPT);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "UPDATE profile SET kind = 7, counts = x''"
				  " WHERE epoch = 3 AND kind = 0"),
			 0);
	ck_assert_int_eq(query_profiles(db, &sel, add_row, &sum, NULL), -CPI_ECORRUPT);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE tally SET received = "
						 "9223372036854775807"),
			 0);
	query_epochs_fini(&e);
	ck_assert_int_eq(query_epochs(db, "all", &e), -CPI_ECORRUPT);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(commands_have_totals_by_image)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };
	struct query_comms c;

	ck_assert_int_eq(query_epochs(db, "1..2", &e), 0);
	ck_assert_int_eq(query_comms(db, &sel, &c), 0);
	ck_assert_uint_eq(c.nr, 3);
	ck_assert_str_eq(c.comm[0].comm, "cc1");
	ck_assert_str_eq(c.comm[0].image.desc.name, "/usr/bin/cc1");
	ck_assert_uint_eq(c.comm[0].n, 30);
	ck_assert_str_eq(c.comm[1].comm, "make");
	ck_assert_str_eq(c.comm[1].image.desc.name, "[kernel]");
	ck_assert_uint_eq(c.comm[1].n, 15);
	ck_assert_str_eq(c.comm[2].comm, "make");
	ck_assert_int_eq(c.comm[2].image.id, 0);
	ck_assert_str_eq(c.comm[2].image.desc.name, "[unknown]");
	ck_assert_uint_eq(c.comm[2].n, 3);
	query_comms_fini(&c);
	sel.context[CONTEXT_COMM] = "m*";
	sel.image = "*kernel*";
	ck_assert_int_eq(query_comms(db, &sel, &c), 0);
	ck_assert_uint_eq(c.nr, 1);
	ck_assert_uint_eq(c.comm[0].n, 15);
	query_comms_fini(&c);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(contexts_have_totals_and_so_has_what_is_in_none)
{
	static const struct {
		const char *comm, *image;
		uint64_t n;
	} want[] = {
		{ "", "/usr/bin/cc1", 10 },
		{ "", "[kernel]", 15 },
		{ "", "[kernel]", 21 },
		{ "label=nightly", "/usr/bin/cc1", 20 },
	};
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };
	struct query_comms c;

	ck_assert_int_eq(query_epochs(db, "1..2", &e), 0);
	ck_assert_int_eq(query_contexts(db, &sel, 1u << CONTEXT_LABEL, &c), 0);
	ck_assert_uint_eq(c.nr, NR(want));
	for (size_t i = 0; i < NR(want); i++) {
		ck_assert_str_eq(c.comm[i].comm, want[i].comm);
		ck_assert_str_eq(c.comm[i].image.desc.name, want[i].image);
		ck_assert_uint_eq(c.comm[i].n, want[i].n);
	}
	query_comms_fini(&c);
	sel.context[CONTEXT_LABEL] = "*";
	ck_assert_int_eq(query_contexts(db, &sel, 1u << CONTEXT_LABEL, &c), 0);
	ck_assert_uint_eq(c.nr, 1);
	query_comms_fini(&c);
	ck_assert_int_eq(query_contexts(db, &sel, 1u << CONTEXT_PROCESS, &c),
			 -CPI_EEMPTY);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static int find_kernel(void *ctx, const struct query_profile *row)
{
	*(int64_t *)ctx = row->image.id;
	return 0;
}

static int list_row(void *ctx, const struct query_profile *row)
{
	buf_printf(ctx, "%s %s %d\n", row->image.desc.name,
		   row->context ? row->context : "-", (int)profile_total(row->profile));
	return 0;
}

START_TEST(contexts_apart_come_before_everybody)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e, .apart = 1u << CONTEXT_LABEL };
	struct buf rows = { 0 };

	ck_assert_int_eq(query_epochs(db, "1..2", &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, list_row, &rows, NULL), 0);
	ck_assert_str_eq(buf_str(&rows), "/usr/bin/cc1 label=nightly 20\n"
					 "/usr/bin/cc1 - 30\n"
					 "[kernel] - 15\n"
					 "[kernel] - 21\n");
	buf_reset(&rows);
	sel.context[CONTEXT_LABEL] = "*";
	ck_assert_int_eq(query_profiles(db, &sel, list_row, &rows, NULL), 0);
	ck_assert_str_eq(buf_str(&rows), "/usr/bin/cc1 label=nightly 20\n");
	ck_assert_int_eq(query_need_contexts(db, &e, 1u << CONTEXT_LABEL), 0);
	ck_assert_int_eq(query_need_contexts(db, &e, 1u << CONTEXT_PROCESS),
			 -CPI_EEMPTY);
	sel.context[CONTEXT_LABEL] = NULL;
	sel.apart = 1u << CONTEXT_PROCESS;
	ck_assert_int_eq(query_profiles(db, &sel, list_row, &rows, NULL), -CPI_EEMPTY);
	buf_fini(&rows);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/*
 * 130 samples of an image: 30 in contexts of several kinds, 100 in none; and 9 in a
 * context that are of no image.
 */
static struct db *make_contexts(struct dbtest *t)
{
	static const char *const names[] = { "", "comm=cc1\ncgroup=/a\n",
					     "comm=cc1\ncgroup=/b\n",
					     "comm=make\ncgroup=/a\nlabel=l\n",
					     "comm=kthread\n" };
	struct flush_stream stream = test_stream;
	struct flush_profile profiles[NR(names) + 1];
	struct flush_loss loss = { 0, LOSS_UNKNOWN, "anonymous", 9 };
	struct flush f = { .seq = 1,
			   .from_ns = 1001 * SEC,
			   .to_ns = 1002 * SEC,
			   .duration_ns = SEC,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = profiles,
			   .nr_profiles = NR(names) + 1,
			   .losses = &loss,
			   .nr_losses = 1 };
	struct store *s;
	struct db *db = dbtest_make(t, &s);

	for (size_t i = 0; i < NR(names); i++) {
		profiles[i] = (struct flush_profile){ &test_image, 0, names[i],
						      profile_new() };
		profile_add(profiles[i].profile,
			    &(struct count){ .offset = 1, .n = i ? 1 << i : 130 });
	}
	profiles[NR(names)] = (struct flush_profile){ NULL, 0, "comm=jit\ncgroup=/j\n",
						      profile_new() };
	profile_add(profiles[NR(names)].profile,
		    &(struct count){ .offset = STACK_UNKNOWN_ANONYMOUS, .n = 9 });
	stream.received = 139;
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i <= NR(names); i++)
		profile_free(profiles[i].profile);
	store_free(s);
	return db;
}

static const struct {
	const char *comm, *cgroup, *label, *process;
	unsigned int apart; /* of the totals */
	int err;
	uint64_t samples, in_none;
	size_t rows; /* of the totals, that of samples in none included */
} together[] = {
	{ .comm = "cc1", .samples = 6, .rows = 2 },
	{ .cgroup = "/a", .samples = 10, .rows = 2 },
	{ .comm = "cc1", .cgroup = "/a", .samples = 2, .rows = 1 },
	{ .comm = "c*", .cgroup = "*", .samples = 6, .rows = 2 },
	{ .comm = "*", .samples = 30, .rows = 4 },
	{ .comm = "*", .cgroup = "*", .samples = 14, .rows = 3 },
	{ .comm = "make", .label = "l", .samples = 8, .rows = 1 },
	{ .comm = "cc1", .label = "l", .samples = 0, .rows = 0 },
	{ .comm = "cc1", .process = "*", .err = -CPI_EEMPTY },
	{ .cgroup = "/a", .apart = 1u << CONTEXT_COMM, .samples = 10, .rows = 2 },
	/* Samples without the kind that is asked for are in one of its rows. */
	{ .cgroup = "/a", .apart = 1u << CONTEXT_LABEL, .samples = 10, .rows = 2 },
	{ .apart = 1u << CONTEXT_COMM | 1u << CONTEXT_CGROUP,
	  .samples = 130,
	  .in_none = 100,
	  .rows = 5 },
	{ .apart = 1u << CONTEXT_LABEL, .samples = 130, .in_none = 122, .rows = 2 },
};

START_TEST(kinds_of_contexts_combine)
{
	struct dbtest t;
	struct db *db = make_contexts(&t);
	struct query_epochs e;
	struct query_selection sel = {
		.epochs = &e,
		.context = { together[_i].comm, together[_i].cgroup, together[_i].label,
			     together[_i].process },
	};
	struct query_comms c = { 0 };
	struct tally sum = { 0 };
	uint64_t total = 0, in_none = 0;
	size_t rows = 0;

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_contexts(db, &sel, together[_i].apart, &c),
			 together[_i].err);
	for (size_t i = 0; i < c.nr; i++) {
		if (!c.comm[i].image.id)
			continue;
		rows++;
		total += c.comm[i].n;
		in_none += *c.comm[i].comm ? 0 : c.comm[i].n;
	}
	ck_assert_uint_eq(total, together[_i].samples);
	ck_assert_uint_eq(in_none, together[_i].in_none);
	ck_assert_uint_eq(rows, together[_i].rows);
	query_comms_fini(&c);
	ck_assert_int_eq(query_profiles(db, &sel, add_row, &sum, NULL),
			 together[_i].err);
	ck_assert_uint_eq(sum.samples, together[_i].samples);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* In older databases "comm=make" and "label=nightly" may be of the same samples. */
START_TEST(kinds_that_were_kept_apart_do_not_combine)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e, .context = { "cc1", NULL, "n*" } };
	struct tally sum = { 0 };
	struct query_comms c;

	ck_assert_int_eq(query_epochs(db, "2", &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, add_row, &sum, NULL), -CPI_EEMPTY);
	sel.context[CONTEXT_LABEL] = NULL;
	ck_assert_int_eq(query_contexts(db, &sel, 1u << CONTEXT_LABEL, &c),
			 -CPI_EEMPTY);
	ck_assert_int_eq(query_profiles(db, &sel, add_row, &sum, NULL), 0);
	ck_assert_uint_eq(sum.samples, 20);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Image 0 has the samples of a context that are of no image. */
START_TEST(samples_of_no_image_are_read_where_they_are_asked_for)
{
	struct dbtest t;
	struct db *db = make_contexts(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e, .context = { "jit" } };
	struct query_comms c;
	struct buf rows = { 0 };

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, list_row, &rows, NULL), 0);
	ck_assert_str_eq(buf_str(&rows), "");
	sel.unknown = true;
	ck_assert_int_eq(query_profiles(db, &sel, list_row, &rows, NULL), 0);
	ck_assert_str_eq(buf_str(&rows), "[unknown] - 9\n");
	sel.image = "/usr/*";
	buf_reset(&rows);
	ck_assert_int_eq(query_profiles(db, &sel, list_row, &rows, NULL), 0);
	ck_assert_str_eq(buf_str(&rows), "");
	sel.image = NULL;
	ck_assert_int_eq(query_contexts(db, &sel, 1u << CONTEXT_CGROUP, &c), 0);
	ck_assert_uint_eq(c.nr, 1);
	ck_assert_int_eq(c.comm[0].image.id, 0);
	ck_assert_uint_eq(c.comm[0].n, 9);
	query_comms_fini(&c);
	buf_fini(&rows);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(captures_come_back_in_unsigned_order)
{
	struct dbtest t;
	struct db *db = make_epochs(&t);
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e, .image = "*kernel*" };
	struct query_capture c;
	int64_t kernel = 0;

	ck_assert_int_eq(query_epochs(db, "last", &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, find_kernel, &kernel, NULL), 0);
	ck_assert_int_eq(query_capture(db, kernel, &c), 0);
	ck_assert_uint_eq(c.nr_symbols, 3);
	ck_assert_str_eq(c.symbol[0].name, "entry");
	ck_assert_str_eq(c.symbol[1].name, "schedule");
	ck_assert_uint_eq(c.symbol[1].size, 16);
	ck_assert_uint_eq(c.symbol[2].start, 0xffffffffffffff00);
	ck_assert_uint_eq(c.nr_codes, 2);
	ck_assert_uint_eq(c.code[0].size, 0);
	ck_assert_uint_eq(c.code[1].size, 2);
	ck_assert_mem_eq(c.code[1].bytes, "\x90\xc3", 2);
	query_capture_fini(&c);
	ck_assert_int_eq(query_capture(db, 999, &c), 0);
	ck_assert_uint_eq(c.nr_symbols + c.nr_codes, 0);
	query_capture_fini(&c);
	query_epochs_fini(&e);
	ck_assert_int_eq(db_check(db), 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	uint64_t from, to;
	size_t nr;
} gap_ranges[] = {
	{ 0, 10, 0 },  { 0, 11, 1 },  { 12, 13, 1 }, { 19, 20, 1 },
	{ 20, 30, 0 }, { 30, 31, 1 }, { 0, 100, 2 }, { 29, 30, 0 },
};

START_TEST(gaps_that_overlap_are_found)
{
	struct dbtest t;
	struct query_gaps g;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO gap (from_ns, to_ns, reason)"
				  " VALUES (10, 20, 'a'), (30, 30, 'b')"),
			 0);
	ck_assert_int_eq(query_gaps(db, gap_ranges[_i].from, gap_ranges[_i].to, &g), 0);
	ck_assert_uint_eq(g.nr, gap_ranges[_i].nr);
	query_gaps_fini(&g);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static int no_profile(void *ctx, const struct query_profile *row)
{
	return -EIO;
}

static int no_edges(void *ctx, const struct query_edges *row)
{
	return -EIO;
}

static int list_edges(void *ctx, const struct query_edges *row)
{
	buf_printf(ctx, "%s: %s to %s\n", edges_kind_str(row->kind),
		   row->image.desc.name, row->target.desc.name);
	return 0;
}

/* The image's id and, of all kinds, edges within it, from it and to it. */
static int64_t flush_edges(struct db *db, struct store *s, const struct image_desc *own)
{
	static const struct image_desc other = { .kind = IMAGE_FILE, .name = "/other" };
	const struct image_desc *ends[][2] = { { own, own },
					       { own, &other },
					       { &other, own } };
	const struct flush_stream stream = test_stream;
	struct flush_edges edges[EDGES_NR_KINDS * NR(ends)];
	struct flush f = { .seq = 1,
			   .streams = &stream,
			   .nr_streams = 1,
			   .edges = edges,
			   .nr_edges = NR(edges) };
	int64_t id;

	for (size_t i = 0; i < NR(edges); i++) {
		edges[i] = (struct flush_edges){ ends[i % NR(ends)][0],
						 ends[i % NR(ends)][1], 0,
						 (enum edges_kind)(i / NR(ends)),
						 edges_new() };
		ck_assert_int_eq(
			edges_add(edges[i].edges, &(struct edge){ 4, 8, .n = 7 }), 0);
	}
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i < NR(edges); i++)
		edges_free(edges[i].edges);
	ck_assert_int_eq(sql_get(db_handle(db), &id,
				 "SELECT id FROM image WHERE name = ?", "s", own->name),
			 0);
	return id;
}

START_TEST(an_images_pairs_may_have_begun_in_another)
{
	static const struct image_desc own = { .kind = IMAGE_FILE, .name = "/own" };
	struct query_epochs e;
	const struct query_selection sel = { .epochs = &e };
	struct buf rows = { 0 };
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	const int64_t id = flush_edges(db, s, &own);

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_edges(db, &sel, id, list_edges, &rows), 0);
	ck_assert_str_eq(buf_str(&rows), "pace start: /own to /other\n"
					 "branch: /own to /own\n"
					 "run: /own to /own\n"
					 "pace: /own to /own\n"
					 "pace start: /own to /own\n");
	buf_fini(&rows);
	query_epochs_fini(&e);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static int no_stack(void *ctx, const struct query_stack *row)
{
	return -EIO;
}

static int no_windows(void *ctx, const struct query_windows *row)
{
	return -EIO;
}

START_TEST(an_epoch_that_retention_works_on_is_refused)
{
	struct query_epochs e;
	const struct query_selection sel = { .epochs = &e };
	struct query_comms comms;
	struct dbtest t;
	struct db *db = make_epochs(&t);

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(
		sql_exec(db_handle(db), "INSERT INTO roll VALUES (2, NULL, 0, 0)"), 0);
	ck_assert_int_eq(query_profiles(db, &sel, no_profile, NULL, NULL), -EAGAIN);
	ck_assert_int_eq(query_edges(db, &sel, 0, no_edges, NULL), -EAGAIN);
	ck_assert_int_eq(query_stacks(db, &sel, no_stack, NULL), -EAGAIN);
	ck_assert_int_eq(query_windows(db, &sel, no_windows, NULL), -EAGAIN);
	ck_assert_int_eq(query_comms(db, &sel, &comms), -EAGAIN);
	ck_assert_int_eq(query_contexts(db, &sel, 1 << CONTEXT_COMM, &comms), -EAGAIN);
	query_epochs_fini(&e);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(an_empty_database_has_no_epochs)
{
	struct query_epochs e;
	struct dbtest t;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(query_epochs(db, NULL, &e), -ENOENT);
	ck_assert_int_eq(query_epochs(db, "all", &e), -ENOENT);
	ck_assert_int_eq(query_epochs(db, "..", &e), -ENOENT);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("query");
	TCase *tc = tcase_create("query");

	tcase_add_loop_test(tc, epochs_are_named_in_many_ways, 0, NR(specs));
	tcase_add_loop_test(tc, times_count_from_now, 0, NR(relative));
	tcase_add_loop_test(tc, marks_choose_what_is_before_or_after_them, 0,
			    NR(at_marks));
	tcase_add_test(tc, marks_are_those_of_the_machines_and_the_time);
	tcase_add_loop_test(tc, times_choose_the_minutes_that_they_name, 0,
			    NR(minutes));
	tcase_add_loop_test(tc, epochs_are_chosen_by_machine_and_in_order_of_time, 0,
			    NR(machines));
	tcase_add_loop_test(tc, a_specification_asks_for_times_or_not, 0, NR(asked));
	tcase_add_test(tc, an_epoch_tells_its_time_machine_and_samples);
	tcase_add_test(tc, streams_and_losses_add_up_over_epochs);
	tcase_add_loop_test(tc, selections_restrict_profiles, 0, NR(selections));
	tcase_add_loop_test(tc, sums_are_those_of_the_profiles, 0, NR(selections));
	tcase_add_test(tc, parts_of_a_selection_are_summed_apart);
	tcase_add_test(tc, damaged_totals_are_refused);
	tcase_add_test(tc, a_callback_stops_the_query);
	tcase_add_test(tc, a_damaged_blob_is_named);
	tcase_add_test(tc, commands_have_totals_by_image);
	tcase_add_test(tc, contexts_have_totals_and_so_has_what_is_in_none);
	tcase_add_test(tc, contexts_apart_come_before_everybody);
	tcase_add_loop_test(tc, kinds_of_contexts_combine, 0, NR(together));
	tcase_add_test(tc, samples_of_no_image_are_read_where_they_are_asked_for);
	tcase_add_test(tc, kinds_that_were_kept_apart_do_not_combine);
	tcase_add_test(tc, captures_come_back_in_unsigned_order);
	tcase_add_loop_test(tc, gaps_that_overlap_are_found, 0, NR(gap_ranges));
	tcase_add_test(tc, an_images_pairs_may_have_begun_in_another);
	tcase_add_test(tc, an_epoch_that_retention_works_on_is_refused);
	tcase_add_test(tc, an_empty_database_has_no_epochs);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
