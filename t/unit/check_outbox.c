/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flushes that cannot be stored yet, and what is behind them. */
#include "config.h"

#include "daemon/store/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "db/core/sql.h"
#include "t/unit/dbtest.h"
#include "t/unit/unit_images.h"

/* A flush of n samples at offset 4 of test_image. */
static void add_flush(struct outbox *o, struct known_image *image, uint32_t n)
{
	const struct tally_run run = { .image = image, .comm = "test" };
	const struct cpi_entry e = { cpi_entry_word0(4, 0, 0),
				     (uint64_t)n << CPI_COUNT_SHIFT };
	struct flush_stream stream = test_stream;
	struct outbox_flush f = { .tally = tally_new(),
				  .streams = &stream,
				  .nr_streams = 1,
				  .from_ns = 1000 * SEC,
				  .to_ns = 1001 * SEC,
				  .duration_ns = SEC };

	tally_add(f.tally, &run, &e, 1);
	ck_assert_uint_eq(tally_kept(f.tally), n);
	stream.received = n;
	ck_assert_int_eq(outbox_add_flush(o, &f), 0);
}

static int64_t number(struct db *db, const char *sql)
{
	int64_t n;

	ck_assert_int_eq(sql_get(db_handle(db), &n, sql, ""), 0);
	return n;
}

START_TEST(what_an_epoch_cannot_take_is_stored_in_the_next_one)
{
	static const char received[] = "SELECT sum(received) FROM flush WHERE epoch = ";
	struct known_image image = { .desc = test_image };
	struct outbox *o = outbox_new();
	struct dbtest t;
	struct db *db;
	struct store *s;
	char sql[96];

	db = dbtest_make(&t, &s);
	add_flush(o, &image, 1);
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE profile SET counts = x'00ff'"),
			 0);
	add_flush(o, &image, 2);
	ck_assert_int_eq(outbox_store(o, s), -CPI_ETRUNCATED);
	add_flush(o, &image, 4);
	ck_assert_int_eq(outbox_store(o, s), -CPI_ETRUNCATED);
	ck_assert_int_eq(outbox_nr_samples(o, 0), 6);
	ck_assert_int_eq(outbox_add_epoch(o, 1002 * SEC, 2, "next"), 0);
	add_flush(o, &image, 8);
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_int_eq(outbox_nr_samples(o, 0), 0);
	add_flush(o, &image, 16);
	ck_assert_int_eq(outbox_store(o, s), 0);
	snprintf(sql, sizeof(sql), "%s1", received);
	ck_assert_int_eq(number(db, sql), 1);
	snprintf(sql, sizeof(sql), "%s2", received);
	ck_assert_int_eq(number(db, sql), 2 + 4 + 8 + 16);
	ck_assert_int_eq(number(db, "SELECT sum(total) FROM profile WHERE epoch = 2"
				    " AND context = 0 AND kind = 0"),
			 2 + 4 + 8 + 16);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch"), 2);
	outbox_free(o);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(what_fails_in_the_next_epoch_too_takes_no_other)
{
	struct known_image image = { .desc = test_image };
	struct outbox *o = outbox_new();
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	/* What each epoch begins with is damaged. */
	sqlite3_db_config(db_handle(db), SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "CREATE TRIGGER spoil AFTER INSERT ON epoch BEGIN"
				  " INSERT INTO profile SELECT new.id, image, stream,"
				  " context, kind, total, x'00ff' FROM profile"
				  " WHERE epoch = 1; END"),
			 0);
	add_flush(o, &image, 1);
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_int_eq(sql_exec(db_handle(db), "UPDATE profile SET counts = x'00ff'"),
			 0);
	add_flush(o, &image, 2);
	for (uint64_t i = 2; i < 5; i++)
		ck_assert_int_eq(outbox_add_epoch(o, (1000 + i) * SEC, 2, NULL), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(outbox_store(o, s), -CPI_ETRUNCATED);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch"), 2);
	ck_assert_int_eq(outbox_nr_samples(o, 0), 2);
	outbox_free(o);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(marks_wait_in_order_and_only_so_many)
{
	struct outbox *o = outbox_new();
	struct known_image image = { .desc = test_image };
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(outbox_add_mark(o, 1000 * SEC, "first"), 0);
	add_flush(o, &image, 1);
	for (uint64_t i = 1; i < OUTBOX_MAX_MARKS; i++)
		ck_assert_int_eq(outbox_add_mark(o, (1000 + i) * SEC, "more"), 0);
	ck_assert_int_eq(outbox_add_mark(o, 2000 * SEC, "too many"), -ENOBUFS);
	ck_assert_uint_gt(outbox_memory(o), OUTBOX_MAX_MARKS * STORE_MARK_TEXT);
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_uint_eq(outbox_memory(o), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM mark"), OUTBOX_MAX_MARKS);
	ck_assert_int_eq(number(db, "SELECT at_ns FROM mark WHERE text = 'first'"),
			 1000 * SEC);
	ck_assert_int_eq(outbox_add_mark(o, 2000 * SEC, "again there is room"), 0);
	outbox_free(o);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static const char an_id[] =
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

START_TEST(names_of_containers_wait_and_only_so_many)
{
	struct outbox *o = outbox_new();
	struct known_image image = { .desc = test_image };
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	for (uint64_t i = 0; i < OUTBOX_MAX_CONTAINERS; i++)
		ck_assert_int_eq(outbox_add_container(o, i * SEC, an_id, "web"), 0);
	ck_assert_int_eq(outbox_add_container(o, SEC, an_id, "too many"), -ENOBUFS);
	ck_assert_uint_gt(outbox_memory(o), OUTBOX_MAX_CONTAINERS * strlen(an_id));
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_uint_eq(outbox_memory(o), 0);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM container"
				    " WHERE name = 'web'"),
			 1);
	ck_assert_int_eq(outbox_add_container(o, SEC, an_id, "there is room"), 0);
	add_flush(o, &image, 3);
	ck_assert_int_eq(sql_exec(db_handle(db), "DROP TABLE container"), 0);
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_int_eq(number(db, "SELECT sum(received) FROM flush"), 3);
	outbox_free(o);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_mark_that_cannot_be_stored_holds_up_no_samples)
{
	struct known_image image = { .desc = test_image };
	struct outbox *o = outbox_new();
	struct dbtest t;
	struct db *db;
	struct store *s;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(outbox_add_mark(o, 1000 * SEC, "lost"), 0);
	add_flush(o, &image, 3);
	ck_assert_int_eq(outbox_add_epoch(o, 1002 * SEC, 2, "next"), 0);
	ck_assert_int_eq(outbox_add_mark(o, 1002 * SEC, "lost, too"), 0);
	add_flush(o, &image, 4);
	ck_assert_int_eq(sql_exec(db_handle(db), "DROP TABLE mark"), 0);
	ck_assert_int_eq(outbox_store(o, s), 0);
	ck_assert_int_eq(number(db, "SELECT sum(received) FROM flush"), 7);
	ck_assert_int_eq(number(db, "SELECT count(*) FROM epoch"), 2);
	outbox_free(o);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Of this process: it tells of one function at 0x1000, with such a name. */
static struct jit *make_jit(struct images *im, const char *name)
{
	const struct process p = { .tgid = getpid(), .start_ns = 5, .comm = "test" };
	struct jit *j = jit_new(im);
	const uint64_t now_ns = time_mono_ns();
	struct known_image *image;
	char path[64], line[512];
	uint64_t bias;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(line, sizeof(line), "1000 10 %s\n", name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, line, strlen(line)), 0);
	close(fd);
	ck_assert(jit_note(j, &p));
	ck_assert_int_eq(jit_find(j, &p, 0x1008, now_ns, now_ns, &image, &bias),
			 -EAGAIN);
	jit_read_noted(j);
	ck_assert_int_eq(jit_find(j, &p, 0x1008, now_ns, now_ns, &image, &bias), 0);
	unlink(path);
	return j;
}

/* A flush of nothing but what is captured. */
static void add_captures(struct outbox *o, struct jit *j, size_t max_bytes)
{
	struct flush_stream stream = test_stream;
	struct outbox_flush f = {
		.tally = tally_new(),
		.streams = &stream,
		.nr_streams = 1,
		.jit = j,
		.capture_bytes = max_bytes,
	};

	ck_assert_int_eq(outbox_add_flush(o, &f), 0);
}

START_TEST(what_is_captured_of_made_code_is_memory_that_counts)
{
	static const char name[] = "a_function_whose_name_is_rather_a_long_one";
	struct images *im = unit_images();
	struct jit *j = make_jit(im, name);
	struct outbox *with = outbox_new(), *without = outbox_new();

	add_captures(with, j, SIZE_MAX);
	add_captures(without, NULL, SIZE_MAX);
	ck_assert_uint_ge(outbox_memory(with) - outbox_memory(without),
			  sizeof(struct jit_object) + 2 * sizeof(name));
	outbox_free(with);
	outbox_free(without);
	jit_free(j);
	unit_images_free(im);
}
END_TEST

START_TEST(no_more_is_captured_than_there_is_room_for)
{
	static const char name[] = "a_function_whose_name_is_rather_a_long_one";
	struct images *im = unit_images();
	struct jit *j = make_jit(im, name);
	struct outbox *with = outbox_new(), *without = outbox_new();

	add_captures(with, j, sizeof(name));
	add_captures(without, NULL, SIZE_MAX);
	ck_assert_uint_le(outbox_memory(with) - outbox_memory(without), sizeof(name));
	outbox_free(with);
	outbox_free(without);
	jit_free(j);
	unit_images_free(im);
}
END_TEST

START_TEST(a_full_tally_loses_by_name_and_grows_no_more)
{
	struct known_image image = { .desc = test_image };
	const struct tally_run run = { .image = &image, .comm = "test" };
	struct tally *t = tally_new();
	uint64_t n = 0;

	t->limit = tally_memory(t) + 4096;
	for (; n < 10000; n++) {
		const struct cpi_entry e = { cpi_entry_word0(4 * n, 0, 0),
					     1ULL << CPI_COUNT_SHIFT };

		tally_add(t, &run, &e, 1);
	}
	ck_assert_uint_le(tally_memory(t), 2 * t->limit);
	ck_assert_uint_gt(t->loss[0][SAMPLE_NO_SPACE], 0);
	ck_assert_uint_eq(tally_total(t), n);
	tally_free(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("outbox");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, what_an_epoch_cannot_take_is_stored_in_the_next_one);
	tcase_add_test(tc, what_fails_in_the_next_epoch_too_takes_no_other);
	tcase_add_test(tc, marks_wait_in_order_and_only_so_many);
	tcase_add_test(tc, names_of_containers_wait_and_only_so_many);
	tcase_add_test(tc, a_mark_that_cannot_be_stored_holds_up_no_samples);
	tcase_add_test(tc, what_is_captured_of_made_code_is_memory_that_counts);
	tcase_add_test(tc, no_more_is_captured_than_there_is_room_for);
	tcase_add_test(tc, a_full_tally_loses_by_name_and_grows_no_more);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
