/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "db/core/sql.h"
#include "db/query/containers.h"
#include "t/unit/dbtest.h"

static int count_interval(void *ctx, const struct query_interval *row)
{
	struct query_interval *sum = ctx;

	ck_assert_uint_eq(row->received, row->stored + row->lost);
	ck_assert_uint_le(row->from_ns, row->to_ns);
	sum->received += row->received;
	sum->stored += row->stored;
	sum->lost += row->lost;
	sum->seq++;
	return 0;
}

static struct query_interval sum_intervals(struct db *db)
{
	struct query_interval sum = { 0 };
	struct query_epochs e;

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_intervals(db, &e, count_interval, &sum), 0);
	query_epochs_fini(&e);
	return sum;
}

START_TEST(a_flush_that_comes_again_changes_nothing)
{
	struct dbtest t;
	struct db *db;
	struct store *s;
	struct profile *p;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 10), 0);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 10), 0);
	ck_assert_int_eq(dbtest_flush(s, 2, 4, 5), 0);
	ck_assert_int_eq(dbtest_flush(s, 1, 8, 1), 0);
	p = dbtest_all(db);
	ck_assert_uint_eq(profile_at(p, 4).n, 15);
	ck_assert_uint_eq(profile_total(p), 15);
	ck_assert_uint_eq(sum_intervals(db).seq, 2);
	ck_assert_int_eq(store_end(s, 1010 * SEC), 0);
	ck_assert_int_eq(db_check(db), 0);
	profile_free(p);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static int64_t number(struct db *db, const char *sql)
{
	int64_t n;

	ck_assert_int_eq(sql_get(db_handle(db), &n, sql, ""), 0);
	return n;
}

START_TEST(a_mark_is_stored_once_and_the_newest_are_kept)
{
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(store_mark(s, 1000 * SEC, "release 1"), 0);
		ck_assert_int_eq(store_mark(s, 1000 * SEC, "release 2"), 0);
	}
	ck_assert_int_eq(store_mark_newest(db, 1001 * SEC, "x", "another"), 0);
	ck_assert_int_eq(
		number(db, "SELECT count(*) FROM mark WHERE host = 'testhost'"), 3);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO mark VALUES ('other', 1, 'old')"),
			 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "BEGIN"), 0);
	for (uint64_t i = 2; i <= STORE_MAX_MARKS; i++)
		ck_assert_int_eq(sql_do(db_handle(db),
					"INSERT INTO mark VALUES ('testhost', ?1, 'm')",
					"i", (1000 + i) * SEC),
				 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "COMMIT"), 0);
	ck_assert_int_eq(store_mark(s, 9000 * SEC, "last"), 0);
	ck_assert_int_eq(number(db,
				"SELECT count(*) FROM mark WHERE host = 'testhost'"),
			 STORE_MAX_MARKS);
	ck_assert_int_eq(number(db, "SELECT min(at_ns) FROM mark WHERE text != 'old'"),
			 1002 * SEC);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM mark WHERE host = 'other'"),
			 1);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(without_an_epoch_a_mark_is_of_the_named_machine)
{
	struct dbtest t;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(store_mark_newest(db, SEC, "x", "named"), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM mark WHERE host = 'named'"),
			 1);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *text;
	bool valid;
} mark_texts[] = {
	{ "", false },
	{ "x", true },
	{ "release 4.2 \xc3\xa9", true },
	{ "two\nlines", false },
	{ "\x1b[31m", false },
	{ "\xff", false },
	{ "012345678901234567890123456789012345678901234567890123456789012", true },
	{ "0123456789012345678901234567890123456789012345678901234567890123", false },
};

START_TEST(a_mark_is_a_short_and_harmless_text)
{
	ck_assert(store_mark_is_valid(mark_texts[_i].text) == mark_texts[_i].valid);
}
END_TEST

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int store_one(struct store *s, uint64_t at_ns, const char *id, const char *name)
{
	struct store_container c = { .at_ns = at_ns };

	snprintf(c.id, sizeof(c.id), "%s", id);
	snprintf(c.name, sizeof(c.name), "%s", name);
	return store_containers(s, &c, 1);
}

START_TEST(a_container_has_its_last_name_and_those_seen_last_are_kept)
{
	char name[8] = "unset", id[65];
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	ck_assert_int_eq(query_container_name(db, ID, name, sizeof(name)), -ENOENT);
	ck_assert_str_eq(name, "unset");
	ck_assert_int_eq(store_one(s, SEC, ID, "old"), 0);
	ck_assert_int_eq(store_one(s, 2 * SEC, ID, "a longer name"), 0);
	ck_assert_int_eq(query_container_name(db, ID, name, sizeof(name)), 0);
	ck_assert_str_eq(name, "a longe");
	ck_assert_int_eq(number(db, "SELECT seen_ns FROM container"), 2 * SEC);
	ck_assert_int_eq(sql_exec(db_handle(db), "BEGIN"), 0);
	for (int i = 1; i < STORE_MAX_CONTAINERS; i++) {
		snprintf(id, sizeof(id), "%064d", i);
		ck_assert_int_eq(sql_do(db_handle(db),
					"INSERT INTO container VALUES (?1, 'x', ?2)",
					"si", id, (3 + (uint64_t)i) * SEC),
				 0);
	}
	ck_assert_int_eq(sql_exec(db_handle(db), "COMMIT"), 0);
	snprintf(id, sizeof(id), "%064d", 1);
	ck_assert_int_eq(store_one(s, 99999 * SEC, id, "again"), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM container"),
			 STORE_MAX_CONTAINERS);
	ck_assert_int_eq(query_container_name(db, ID, name, sizeof(name)), 0);
	snprintf(id, sizeof(id), "%064d", 0);
	ck_assert_int_eq(store_one(s, 99999 * SEC, id, "new"), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM container"),
			 STORE_MAX_CONTAINERS);
	ck_assert_int_eq(query_container_name(db, ID, name, sizeof(name)), -ENOENT);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(the_same_number_in_another_run_is_another_flush)
{
	struct dbtest t;
	struct db *db;
	struct profile *p;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	for (int run = 0; run < 3; run++) {
		struct store *s = dbtest_begin(db);

		ck_assert_int_eq(dbtest_flush(s, 1, 4, 10), 0);
		ck_assert_int_eq(store_end(s, 1002 * SEC), 0);
	}
	p = dbtest_all(db);
	ck_assert_uint_eq(profile_total(p), 30);
	profile_free(p);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *what;
	uint64_t received, stored, lost;
	int stream, err;
} sums[] = {
	{ "it adds up", 10, 7, 3, 0, 0 },
	{ "nothing at all", 0, 0, 0, 0, 0 },
	{ "a sample vanished", 11, 7, 3, 0, -EINVAL },
	{ "a sample too many", 9, 7, 3, 0, -EINVAL },
	{ "a stream that is not there", 10, 7, 3, 1, -EINVAL },
	{ "a negative stream", 10, 7, 3, -1, -EINVAL },
	{ "more than SQLite holds", 1ULL << 63, 1, (1ULL << 63) - 1, 0, -EINVAL },
};

START_TEST(a_flush_that_does_not_add_up_is_refused)
{
	struct dbtest t;
	struct db *db;
	struct store *s;
	struct flush_stream stream = test_stream;
	struct flush_profile fp = { &test_image, sums[_i].stream, "", profile_new() };
	struct flush_loss loss = { sums[_i].stream, LOSS_LOST, "ring_lost",
				   sums[_i].lost };
	struct flush f = { .seq = 1,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = &fp,
			   .nr_profiles = 1,
			   .losses = &loss,
			   .nr_losses = 1 };

	db = dbtest_make(&t, &s);
	stream.received = sums[_i].received;
	profile_add(fp.profile, &(struct count){ 4, sums[_i].stored, 0, 0 });
	ck_assert_msg(store_flush(s, &f) == sums[_i].err, "%s", sums[_i].what);
	ck_assert_uint_eq(sum_intervals(db).seq, !sums[_i].err);
	ck_assert_int_eq(db_check(db), 0);
	store_free(s);
	db_close(db);
	profile_free(fp.profile);
	dbtest_fini(&t);
}
END_TEST

/* The same offsets, stream and context: only the image differs. */
START_TEST(a_flush_keeps_its_images_apart)
{
	const struct image_desc other = { .kind = IMAGE_FILE,
					  .name = "/usr/bin/other" };
	struct flush_profile fp[] = { { &test_image, 0, "", profile_new() },
				      { &other, 0, "", profile_new() },
				      { &test_image, 0, "comm=a\n", profile_new() } };
	struct flush_stream stream = test_stream;
	const struct flush f = { .seq = 1,
				 .streams = &stream,
				 .nr_streams = 1,
				 .profiles = fp,
				 .nr_profiles = 3 };
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	stream.received = 12;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(profile_add(fp[i].profile,
					     &(struct count){ 4, i == 1 ? 7 : 5, 0,
							      0 }),
				 0);
	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_int_eq(number(db,
				"SELECT total FROM profile JOIN image ON id = image "
				"WHERE name = '/usr/bin/test' AND context = 0"),
			 5);
	ck_assert_int_eq(number(db,
				"SELECT total FROM profile JOIN image ON id = image "
				"WHERE name = '/usr/bin/other'"),
			 7);
	store_free(s);
	db_close(db);
	for (int i = 0; i < 3; i++)
		profile_free(fp[i].profile);
	dbtest_fini(&t);
}
END_TEST

START_TEST(the_newest_text_of_an_instruction_is_kept)
{
	struct flush_instruction in[] = { { &test_image, 4, "nop" },
					  { &test_image, 5, "ret" } };
	const struct flush f = { .seq = 1, .instructions = in, .nr_instructions = 2 };
	const struct flush next = { .seq = 2,
				    .instructions = in,
				    .nr_instructions = 1 };
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_int_eq(number(db,
				"SELECT count(*) FROM instruction WHERE (start, text) "
				"IN (VALUES (4, 'nop'), (5, 'ret'))"),
			 2);
	in[0].text = "hlt";
	ck_assert_int_eq(store_flush(s, &next), 0);
	ck_assert_int_eq(number(db,
				"SELECT count(*) FROM instruction WHERE (start, text) "
				"IN (VALUES (4, 'hlt'), (5, 'ret'))"),
			 2);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(windows_of_a_stream_that_there_is_not_are_refused)
{
	struct flush_stream stream = test_stream;
	struct flush_window_set set = { &test_image, 1, "",
					windows_new(WINDOWS_LIMIT, 1), NULL };
	const struct flush_windows windows = { .streams = { &stream, 1, NULL, 0 },
					       .sets = &set,
					       .nr_sets = 1 };
	const struct flush f = { .seq = 1, .windows = &windows };
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);

	ck_assert_int_eq(store_flush(s, &f), -EINVAL);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM flush"), 0);
	store_free(s);
	db_close(db);
	windows_free(set.windows);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_a_database_does_not_know_is_no_error_or_not_found)
{
	struct platform_desc other = test_platform;
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	uint64_t value = 1;

	ck_assert_int_eq(store_clock_rate(db, &test_platform, &value), 0);
	ck_assert_uint_eq(value, test_platform.clock_hz);
	other.cpu = "Other CPU";
	ck_assert_int_eq(store_clock_rate(db, &other, &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(store_newest(db, 7, 9, &value), 0);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(store_label_epoch(db, 99, "x"), -ENOENT);
	ck_assert_int_eq(store_label_epoch(db, 1, "x"), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch WHERE label = 'x'"), 1);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* [_text] at two addresses: offsets count from it, so the boots are one image. */
START_TEST(two_boots_merge_into_one_image)
{
	static const struct image_desc kernel = { .kind = IMAGE_KERNEL,
						  .name = "[kernel]",
						  .build_id_size = 20,
						  .device = 0 };
	static const uint64_t text[] = { 0xffffffff81000000, 0xffffffffa7200000 };
	struct platform_desc platform = test_platform;
	struct flush_stream stream = test_stream;
	struct dbtest t;
	struct db *db;
	struct profile *p;
	int64_t images;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	for (int boot = 0; boot < 2; boot++) {
		uint64_t pc = text[boot] + 0x1234;
		struct flush_profile fp = { &kernel, 0, "", profile_new() };
		struct flush f = { .seq = 1,
				   .streams = &stream,
				   .nr_streams = 1,
				   .profiles = &fp,
				   .nr_profiles = 1 };
		struct store *s;

		platform.boot_id = boot ? "second" : "first";
		stream.received = 5;
		profile_add(fp.profile, &(struct count){ pc - text[boot], 5, 2, 3 });
		ck_assert_int_eq(store_begin(db, &platform, boot, &s), 0);
		ck_assert_int_eq(store_epoch(s, boot, 0, NULL), 0);
		ck_assert_int_eq(store_flush(s, &f), 0);
		ck_assert_int_eq(store_end(s, boot), 0);
		profile_free(fp.profile);
	}
	p = dbtest_all(db);
	ck_assert_uint_eq(profile_nr(p), 1);
	ck_assert_uint_eq(profile_at(p, 0x1234).n, 10);
	ck_assert_uint_eq(profile_at(p, 0x1234).taken, 4);
	ck_assert_uint_eq(profile_at(p, 0x1234).not_taken, 6);
	sql_get(db_handle(db), &images, "SELECT count(*) FROM image WHERE kind = 1",
		"");
	ck_assert_int_eq(images, 1);
	profile_free(p);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *what;
	struct image_desc a, b;
	bool same;
} identities[] = {
	{ "equal", { .name = "x", .device = 1 }, { .name = "x", .device = 1 }, true },
	{ "another name", { .name = "x" }, { .name = "y" }, false },
	{ "another kind", { .name = "x" }, { .name = "x", .kind = IMAGE_BPF }, false },
	{ "another inode",
	  { .name = "x", .inode = 1 },
	  { .name = "x", .inode = 2 },
	  false },
	{ "another mtime",
	  { .name = "x", .mtime_ns = 1 },
	  { .name = "x", .mtime_ns = 2 },
	  false },
	{ "another inode, same build id",
	  { .name = "x", .inode = 1, .build_id = { 1 }, .build_id_size = 20 },
	  { .name = "x", .inode = 2, .build_id = { 1 }, .build_id_size = 20 },
	  true },
	{ "another inode, same content",
	  { .name = "x", .inode = 1, .has_content = true, .content = { 7 } },
	  { .name = "x", .inode = 2, .has_content = true, .content = { 7 } },
	  true },
	{ "a forged build id",
	  { .name = "x",
	    .build_id = { 1 },
	    .build_id_size = 20,
	    .has_content = true,
	    .content = { 7 } },
	  { .name = "x",
	    .build_id = { 1 },
	    .build_id_size = 20,
	    .has_content = true,
	    .content = { 8 } },
	  false },
	{ "a shorter build id",
	  { .name = "x", .build_id_size = 20 },
	  { .name = "x", .build_id_size = 8 },
	  false },
};

START_TEST(images_are_told_apart_by_what_identifies_them)
{
	struct flush_stream stream = test_stream;
	struct flush_profile fp[2] = {
		{ &identities[_i].a, 0, "", profile_new() },
		{ &identities[_i].b, 0, "", profile_new() },
	};
	struct flush f = { .seq = 1,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = fp,
			   .nr_profiles = 2 };
	struct dbtest t;
	struct db *db;
	struct store *s;
	int64_t images;

	db = dbtest_make(&t, &s);
	stream.received = 2;
	for (int i = 0; i < 2; i++)
		profile_add(fp[i].profile, &(struct count){ 4, 1, 0, 0 });
	ck_assert_int_eq(store_flush(s, &f), 0);
	sql_get(db_handle(db), &images, "SELECT count(*) FROM image WHERE id != 0", "");
	ck_assert_msg(images == 2 - identities[_i].same, "%s", identities[_i].what);
	store_free(s);
	db_close(db);
	for (int i = 0; i < 2; i++)
		profile_free(fp[i].profile);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *what;
	bool clean;
	uint64_t flushes, next_ns; /* when the next run begins */
	uint64_t from_ns, to_ns;   /* of the gap; 0: none */
	const char *reason;
} ends[] = {
	{ "a clean end", true, 2, 2000 * SEC, 0, 0, NULL },
	{ "a crash", false, 2, 2000 * SEC, 1003 * SEC, 2000 * SEC,
	  "the collector died" },
	{ "a crash before the first flush", false, 0, 2000 * SEC, 1000 * SEC,
	  2000 * SEC, "the collector died" },
	{ "a crash and a step back", false, 2, 500 * SEC, 1003 * SEC, 1003 * SEC,
	  "the collector died and the clock stepped back" },
	{ "a clean end and a step back", true, 2, 500 * SEC, 0, 0, NULL },
};

START_TEST(an_unclean_end_leaves_a_gap)
{
	struct dbtest t;
	struct db *db;
	struct store *s;
	struct query_gaps gaps;
	struct query_epochs e;

	db = dbtest_make(&t, &s);
	for (uint64_t seq = 1; seq <= ends[_i].flushes; seq++)
		ck_assert_int_eq(dbtest_flush(s, seq, 4, 1), 0);
	if (ends[_i].clean)
		ck_assert_int_eq(store_end(s, 1004 * SEC), 0);
	else
		store_free(s);
	ck_assert_int_eq(store_begin(db, &test_platform, ends[_i].next_ns, &s), 0);
	ck_assert_int_eq(query_gaps(db, 0, UINT64_MAX, &gaps), 0);
	ck_assert_msg(gaps.nr == !!ends[_i].reason, "%s", ends[_i].what);
	ck_assert_uint_eq(store_last_gap_ns(s), ends[_i].reason ? ends[_i].next_ns : 0);
	if (gaps.nr) {
		ck_assert_str_eq(gaps.gap[0].reason, ends[_i].reason);
		ck_assert_uint_eq(gaps.gap[0].from_ns, ends[_i].from_ns);
		ck_assert_uint_eq(gaps.gap[0].to_ns, ends[_i].to_ns);
	}
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_uint_eq(e.nr, 1);
	ck_assert(!e.epoch[0].open);
	if (!ends[_i].clean)
		ck_assert_uint_eq(e.epoch[0].to_ns,
				  (1000 * SEC) + (ends[_i].flushes ? 3 * SEC : 0));
	query_epochs_fini(&e);
	query_gaps_fini(&gaps);
	ck_assert_int_eq(store_end(s, 3000 * SEC), 0);
	ck_assert_int_eq(store_begin(db, &test_platform, 4000 * SEC, &s), 0);
	ck_assert_uint_eq(store_last_gap_ns(s), ends[_i].to_ns);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(no_interval_is_negative_when_the_clock_steps_back)
{
	struct flush f = { .seq = 1,
			   .from_ns = 1100 * SEC,
			   .to_ns = 900 * SEC,
			   .duration_ns = 10 * SEC };
	struct dbtest t;
	struct db *db;
	struct store *s;
	struct query_gaps gaps;
	struct query_epochs e;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_uint_eq(store_last_gap_ns(s), 900 * SEC);
	ck_assert_uint_eq(sum_intervals(db).seq, 1);
	ck_assert_int_eq(query_gaps(db, 1000 * SEC, 1200 * SEC, &gaps), 0);
	ck_assert_uint_eq(gaps.nr, 1);
	ck_assert_str_eq(gaps.gap[0].reason, "the clock stepped back");
	ck_assert_uint_eq(gaps.gap[0].from_ns, gaps.gap[0].to_ns);
	ck_assert_int_eq(store_epoch(s, 910 * SEC, 0, NULL), 0);
	ck_assert_int_eq(store_end(s, 905 * SEC), 0);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_uint_eq(e.nr, 2);
	for (size_t i = 0; i < e.nr; i++)
		ck_assert_uint_le(e.epoch[i].from_ns, e.epoch[i].to_ns);
	query_epochs_fini(&e);
	query_gaps_fini(&gaps);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_flush_without_room_is_rolled_back_and_stored_later)
{
	struct image_desc images[2] = { test_image, test_image };
	struct flush_stream stream = test_stream;
	struct flush_profile fp[2] = { { &images[0], 0, "", profile_new() },
				       { &images[1], 0, "", profile_new() } };
	struct flush f = { .seq = 2,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = fp,
			   .nr_profiles = 2 };
	uint64_t state = 1;
	struct dbtest t;
	struct db *db;
	struct store *s;
	struct profile *p;

	images[0].name = "/usr/bin/new";
	images[1].name = "/usr/bin/newer";
	for (int i = 0; i < 20000; i++)
		profile_add(fp[i % 2].profile,
			    &(struct count){ unit_random(&state) >> 20, 1, 0, 0 });
	stream.received = profile_total(fp[0].profile) + profile_total(fp[1].profile);
	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 1), 0);
	/* Not below what it has, but no page more. */
	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA max_page_count = 1"), 0);
	ck_assert_int_eq(store_flush(s, &f), -ENOSPC);
	ck_assert_int_eq(store_flush(s, &f), -ENOSPC);
	ck_assert_uint_eq(sum_intervals(db).received, 1);
	ck_assert_int_eq(dbtest_flush(s, 3, 4, 1), 0); /* this one has room */
	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA max_page_count = 100000"), 0);
	/* The images' order changes, and with it the ids that they get. */
	images[0].name = "/usr/bin/newer";
	images[1].name = "/usr/bin/new";
	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_uint_eq(sum_intervals(db).received, stream.received + 2);
	p = dbtest_all(db);
	ck_assert_uint_eq(profile_total(p), stream.received + 2);
	ck_assert_int_eq(db_check(db), 0);
	profile_free(p);
	store_free(s);
	db_close(db);
	for (int i = 0; i < 2; i++)
		profile_free(fp[i].profile);
	dbtest_fini(&t);
}
END_TEST

/* Σ n of all edges, and that they decode to it. */
static int64_t count_edges(struct db *db)
{
	int64_t total;

	ck_assert_int_eq(sql_get(db_handle(db), &total,
				 "SELECT coalesce(sum(total), 0) FROM edge", ""),
			 0);
	ck_assert_int_eq(db_check(db), 0);
	return total;
}

START_TEST(edges_without_room_are_stored_once_however_often_they_fail)
{
	static const uint8_t bytes[256 << 10] = { 1 };
	const struct flush_code code = { &test_image, 0, bytes, sizeof(bytes) };
	const struct flush_stream stream = test_stream;
	struct flush_edges edges = { &test_image, &test_image, 0, EDGES_BRANCH,
				     edges_new() };
	struct flush f = { .seq = 1,
			   .streams = &stream,
			   .nr_streams = 1,
			   .edges = &edges,
			   .nr_edges = 1,
			   .codes = &code };
	const struct edge edge = { .from = 4, .to = 8, .n = 7 };
	struct dbtest t;
	struct db *db;
	struct store *s;

	ck_assert_int_eq(edges_add(edges.edges, &edge), 0);
	db = dbtest_make(&t, &s);
	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_int_eq(count_edges(db), 7);
	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA max_page_count = 1"), 0);
	f.seq = 2;
	f.nr_codes = 1;
	ck_assert_int_eq(store_flush(s, &f), -ENOSPC);
	ck_assert_int_eq(store_flush(s, &f), -ENOSPC);
	ck_assert_uint_eq(edges_total(edges.edges), 7);
	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA max_page_count = 100000"), 0);
	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_int_eq(count_edges(db), 14);
	ck_assert_uint_eq(edges_total(edges.edges), 7);
	store_free(s);
	db_close(db);
	edges_free(edges.edges);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_damaged_profile_stops_the_flush_and_a_new_epoch_goes_on)
{
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 4, 1), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE profile SET counts = x'00ff'"),
			 0);
	ck_assert_int_eq(dbtest_flush(s, 2, 4, 1), -CPI_ETRUNCATED);
	ck_assert_int_eq(db_check(db), -CPI_ECORRUPT);
	ck_assert_uint_eq(sum_intervals(db).seq, 1);
	ck_assert_int_eq(store_epoch(s, 1100 * SEC, 0, NULL), 0);
	ck_assert_int_eq(dbtest_flush(s, 2, 4, 1), 0);
	ck_assert_uint_eq(sum_intervals(db).seq, 2);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What flush seq of any run brings: reproducible, so that readers can tell. */
static struct count killed_count(uint64_t seq)
{
	return (struct count){ .offset = seq % 997 * 4, .n = 1 + seq % 7 };
}

/* Flushes until it is killed, each one twice now and then. */
static void flush_for_ever(struct dbtest *t, int ready)
{
	struct db *db = dbtest_open(t, DB_COLLECT);
	struct store *s = NULL;

	if (store_begin(db, &test_platform, time_real_ns(), &s) ||
	    store_epoch(s, time_real_ns(), 0, "killed"))
		_exit(1);
	for (uint64_t seq = 1;; seq++) {
		struct count c = killed_count(seq);

		if (seq % 50 == 0 && store_epoch(s, time_real_ns(), 0, "killed"))
			_exit(1);
		for (int times = seq % 3 ? 1 : 2; times; times--) {
			if (dbtest_flush(s, seq, c.offset, c.n))
				_exit(1);
		}
		if (seq == 1 && write(ready, "x", 1) != 1)
			_exit(1);
	}
}

static void kill_at_a_random_moment(struct dbtest *t, uint64_t *state)
{
	struct timespec wait = { .tv_nsec = unit_random(state) % 40000000 };
	int fds[2], status;
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		flush_for_ever(t, fds[1]);
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &c, 1), 1);
	close(fds[0]);
	nanosleep(&wait, NULL); /* the moment is the test's, not a way to wait */
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
}

static int expect_interval(void *ctx, const struct query_interval *row)
{
	struct count c = killed_count(row->seq);

	ck_assert_uint_eq(row->received, c.n);
	return profile_add(ctx, &c);
}

/* The stored intervals of every epoch, and nothing else, are in its profile. */
static void expect_exactly_once(struct db *db, uint64_t seed)
{
	struct query_epochs all;

	ck_assert_int_eq(query_epochs(db, "all", &all), 0);
	for (size_t i = 0; i < all.nr; i++) {
		struct query_epochs one = { &all.epoch[i], 1 };
		struct query_selection sel = { .epochs = &one };
		struct profile *want = profile_new(), *got = profile_new();
		const struct count *a, *b;
		size_t nr_a, nr_b;

		ck_assert_int_eq(query_intervals(db, &one, expect_interval, want), 0);
		ck_assert_int_eq(query_profiles(db, &sel, dbtest_sum, got, NULL), 0);
		a = profile_sorted(want, &nr_a);
		b = profile_sorted(got, &nr_b);
		ck_assert_msg(nr_a == nr_b &&
				      (!nr_a || !memcmp(a, b, nr_a * sizeof(*a))),
			      "seed %llu, epoch %zu", (unsigned long long)seed, i);
		profile_free(want);
		profile_free(got);
	}
	query_epochs_fini(&all);
}

START_TEST(kill_9_neither_loses_nor_doubles_a_stored_interval)
{
	const char *kills = getenv("KILLS");
	const int nr = kills ? atoi(kills) : 10;
	uint64_t seed = unit_seed(), state = seed | 1;
	struct query_interval before = { 0 }, now;
	struct query_gaps gaps;
	struct dbtest t;
	struct db *db;

	ck_assert_int_gt(nr, 0);
	dbtest_init(&t);
	for (int i = 0; i < nr; i++) {
		kill_at_a_random_moment(&t, &state);
		db = dbtest_open(&t, DB_READ);
		now = sum_intervals(db);
		ck_assert_int_gt(now.seq, before.seq);
		before = now;
		expect_exactly_once(db, seed);
		ck_assert_int_eq(db_check(db), 0);
		ck_assert_int_eq(query_gaps(db, 0, UINT64_MAX, &gaps), 0);
		ck_assert_uint_eq(gaps.nr, i); /* one after each kill but the last */
		query_gaps_fini(&gaps);
		db_close(db);
	}
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, a_flush_that_comes_again_changes_nothing);
	tcase_add_test(tc, a_mark_is_stored_once_and_the_newest_are_kept);
	tcase_add_test(tc, without_an_epoch_a_mark_is_of_the_named_machine);
	tcase_add_loop_test(tc, a_mark_is_a_short_and_harmless_text, 0, NR(mark_texts));
	tcase_add_test(tc, a_container_has_its_last_name_and_those_seen_last_are_kept);
	tcase_add_test(tc, the_same_number_in_another_run_is_another_flush);
	tcase_add_loop_test(tc, a_flush_that_does_not_add_up_is_refused, 0, NR(sums));
	tcase_add_test(tc, a_flush_keeps_its_images_apart);
	tcase_add_test(tc, the_newest_text_of_an_instruction_is_kept);
	tcase_add_test(tc, windows_of_a_stream_that_there_is_not_are_refused);
	tcase_add_test(tc, what_a_database_does_not_know_is_no_error_or_not_found);
	tcase_add_test(tc, two_boots_merge_into_one_image);
	tcase_add_loop_test(tc, images_are_told_apart_by_what_identifies_them, 0,
			    NR(identities));
	tcase_add_loop_test(tc, an_unclean_end_leaves_a_gap, 0, NR(ends));
	tcase_add_test(tc, no_interval_is_negative_when_the_clock_steps_back);
	tcase_add_test(tc, a_flush_without_room_is_rolled_back_and_stored_later);
	tcase_add_test(tc, edges_without_room_are_stored_once_however_often_they_fail);
	tcase_add_test(tc, a_damaged_profile_stops_the_flush_and_a_new_epoch_goes_on);
	tcase_add_test(tc, kill_9_neither_loses_nor_doubles_a_stored_interval);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
