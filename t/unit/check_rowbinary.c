/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "db/clickhouse/rowbinary.h"
#include "t/unit/unit.h"

#define NR_ROWS 200

/* What a row of "1248fsb" has. */
struct row {
	uint64_t n[4];
	double real;
	char text[2][300];
	size_t len[2];
};

struct rows {
	struct row row[NR_ROWS];
	size_t nr, stop_at;
};

static uint64_t seed;

static uint64_t random_of(int bytes)
{
	return unit_random(&seed) >> (64 - 8 * bytes);
}

static struct row random_row(void)
{
	struct row r = { .n = { random_of(1), random_of(2), random_of(4),
				random_of(8) },
			 .real = (double)random_of(4) / 7 };

	for (int i = 0; i < 2; i++) {
		r.len[i] = random_of(4) % sizeof(r.text[i]);
		for (size_t k = 0; k < r.len[i]; k++)
			r.text[i][k] = (char)random_of(1);
	}
	return r;
}

static void put_row(struct buf *out, const struct row *r)
{
	static const char types[] = "1248";
	uint64_t bits;

	for (int i = 0; i < 4; i++)
		rowbinary_put(out, types[i], r->n[i]);
	memcpy(&bits, &r->real, sizeof(bits));
	rowbinary_put(out, 'f', bits);
	for (int i = 0; i < 2; i++)
		rowbinary_put_string(out, r->text[i], r->len[i]);
}

static int check_row(void *ctx, const struct rowbinary_cell *cells)
{
	struct rows *rows = ctx;
	const struct row *r = &rows->row[rows->nr];
	double real;

	ck_assert_uint_lt(rows->nr, NR_ROWS);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(cells[i].n, r->n[i]);
	memcpy(&real, &cells[4].n, sizeof(real));
	ck_assert_double_eq(real, r->real);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(cells[5 + i].len, r->len[i]);
		ck_assert_mem_eq(cells[5 + i].text, r->text[i], r->len[i]);
	}
	rows->nr++;
	return rows->nr == rows->stop_at ? 7 : 0;
}

static void make(struct rows *rows, struct buf *out)
{
	seed = unit_seed();
	for (size_t i = 0; i < NR_ROWS; i++) {
		rows->row[i] = random_row();
		put_row(out, &rows->row[i]);
	}
}

START_TEST(rows_come_back_from_pieces_of_any_size)
{
	struct rowbinary_reader r = { .types = "1248fsb" };
	static struct rows rows;
	struct buf out = { 0 };

	rows.nr = rows.stop_at = 0;
	make(&rows, &out);
	for (size_t at = 0, n; at < out.len; at += n) {
		n = random_of(4) % (_i ? 20 : 2000) + 1;
		n = n < out.len - at ? n : out.len - at;
		ck_assert_int_eq(rowbinary_feed(&r, out.data + at, n, check_row, &rows),
				 0);
	}
	ck_assert_int_eq(rowbinary_end(&r), 0);
	ck_assert_uint_eq(rows.nr, NR_ROWS);
	rowbinary_fini(&r);
	buf_fini(&out);
}
END_TEST

START_TEST(rows_that_end_too_early_are_refused)
{
	struct rowbinary_reader r = { .types = "1248fsb" };
	static struct rows rows;
	struct buf out = { 0 };

	rows.nr = rows.stop_at = 0;
	make(&rows, &out);
	ck_assert_int_eq(rowbinary_feed(&r, out.data, out.len - 1, check_row, &rows),
			 0);
	ck_assert_int_eq(rowbinary_end(&r), -CPI_ETRUNCATED);
	ck_assert_uint_eq(rows.nr, NR_ROWS - 1);
	rowbinary_fini(&r);
	buf_fini(&out);
}
END_TEST

START_TEST(a_return_of_the_callback_ends_reading)
{
	struct rowbinary_reader r = { .types = "1248fsb" };
	static struct rows rows;
	struct buf out = { 0 };

	rows.nr = 0;
	rows.stop_at = 3;
	make(&rows, &out);
	ck_assert_int_eq(rowbinary_feed(&r, out.data, out.len, check_row, &rows), 7);
	ck_assert_uint_eq(rows.nr, 3);
	rowbinary_fini(&r);
	buf_fini(&out);
}
END_TEST

static int refuse(void *ctx, const struct rowbinary_cell *cells)
{
	ck_abort_msg("there is no row");
	return 0;
}

static const struct {
	const char *bytes;
	size_t size;
} lengths[] = {
	{ "\xff\xff\xff\xff\xff\x01", 6 }, /* six bytes of a length */
	{ "\x81\x80\x80\x20", 4 },         /* one more than a string may have */
};

START_TEST(strings_beyond_the_bound_are_refused)
{
	struct rowbinary_reader r = { .types = "s" };

	ck_assert_int_eq(rowbinary_feed(&r, lengths[_i].bytes, lengths[_i].size, refuse,
					NULL),
			 -CPI_ELIMIT);
	rowbinary_fini(&r);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("rowbinary");
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(tc, rows_come_back_from_pieces_of_any_size, 0, 2);
	tcase_add_test(tc, rows_that_end_too_early_are_refused);
	tcase_add_test(tc, a_return_of_the_callback_ends_reading);
	tcase_add_loop_test(tc, strings_beyond_the_bound_are_refused, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
