/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "db/clickhouse/native.h"
#include "db/clickhouse/rowbinary.h"
#include "t/unit/unit.h"

#define TYPES   "124t8ifs"
#define COLUMNS "things (a, b, c, d, e, f, g, h)"

/* Two blocks, one of them whole. */
#define NR_ROWS (NATIVE_MAX_ROWS + 100)

static const char *const type_names[] = {
	"UInt8", "UInt16", "UInt32", "DateTime", "UInt64", "Int64", "Float64", "String",
};
static const size_t sizes[] = { 1, 2, 4, 4, 8, 8, 8 };

static uint64_t seed = 5;

/* Rows, and of each column of numbers its cells, one behind another. */
static void make_rows(struct buf *rows, struct buf *column)
{
	char text[200];

	for (int r = 0; r < NR_ROWS; r++) {
		for (int i = 0; i < 7; i++) {
			const uint64_t n = unit_random(&seed);

			rowbinary_put(rows, TYPES[i], n);
			rowbinary_put(&column[i], TYPES[i], n);
		}
		memset(text, (int)unit_random(&seed), sizeof(text));
		rowbinary_put_string(rows, text, unit_random(&seed) % sizeof(text));
	}
}

static uint64_t get_number(const uint8_t **p)
{
	uint64_t n = 0;

	for (int shift = 0;; shift += 7) {
		n |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return n;
	}
}

static void expect_text(const uint8_t **p, const char *text)
{
	const size_t len = get_number(p);

	ck_assert_uint_eq(len, strlen(text));
	ck_assert_mem_eq(*p, text, len);
	*p += len;
}

/* Reads a block, and appends its columns' cells. Returns the rows. */
static uint64_t read_block(const uint8_t **p, struct buf *column)
{
	const uint64_t nr_columns = get_number(p), nr = get_number(p);

	ck_assert_uint_eq(nr_columns, 8);
	for (int i = 0; i < 8; i++) {
		const char name[] = { (char)('a' + i), '\0' };

		expect_text(p, name);
		expect_text(p, type_names[i]);
		for (uint64_t r = 0; r < nr; r++) {
			const uint8_t *begin = *p;

			if (i < 7)
				*p += sizes[i];
			else
				*p += get_number(p);
			buf_put(&column[i], begin, (size_t)(*p - begin));
		}
	}
	return nr;
}

/* The strings of rows, as they are there. */
static void strings_of(const struct buf *rows, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)rows->data, *end = p + rows->len;

	while (p < end) {
		const uint8_t *begin;

		p += 1 + 2 + 4 + 4 + 8 + 8 + 8;
		begin = p;
		p += get_number(&p);
		buf_put(out, begin, (size_t)(p - begin));
	}
}

START_TEST(columns_have_the_cells_of_rows)
{
	struct buf rows = { 0 }, want[8] = { { 0 } }, got[8] = { { 0 } }, out = { 0 };
	const uint8_t *p;
	size_t used;

	make_rows(&rows, want);
	strings_of(&rows, &want[7]);
	ck_assert_int_eq(native_put(COLUMNS, TYPES, rows.data, rows.len, &used, &out),
			 0);
	ck_assert_uint_lt(used, rows.len);
	ck_assert_int_eq(native_put(COLUMNS, TYPES, rows.data + used, rows.len - used,
				    &used, &out),
			 0);
	p = (const uint8_t *)out.data;
	ck_assert_uint_eq(read_block(&p, got), NATIVE_MAX_ROWS);
	ck_assert_uint_eq(read_block(&p, got), NR_ROWS - NATIVE_MAX_ROWS);
	ck_assert_ptr_eq(p, out.data + out.len);
	for (int i = 0; i < 8; i++) {
		ck_assert_uint_eq(got[i].len, want[i].len);
		ck_assert_mem_eq(got[i].data, want[i].data, want[i].len);
		buf_fini(&got[i]);
		buf_fini(&want[i]);
	}
	buf_fini(&rows);
	buf_fini(&out);
}
END_TEST

static const struct {
	const char *columns, *types, *rows;
	size_t size;
	int err;
} refused[] = {
	{ "t (a)", "44", "\1\2\3\4\1\2\3\4", 8, -EINVAL },
	{ "t (a, b, c)", "44", "\1\2\3\4\1\2\3\4", 8, -EINVAL },
	{ "t", "4", "\1\2\3\4", 4, -EINVAL },
	{ "t (a)", "", "\1", 1, -EINVAL },
	{ "t (a, b)", "44", "\1\2\3\4\1\2\3", 7, -CPI_ETRUNCATED },
	{ "t (a)", "s", "\5abcd", 5, -CPI_ETRUNCATED },
	{ "t (a)", "s", "\xff\xff\xff\xff\xff\x01", 6, -CPI_ELIMIT },
};

START_TEST(what_does_not_fit_is_refused)
{
	struct buf out = { 0 };
	size_t used = 77;

	buf_puts(&out, "before");
	ck_assert_int_eq(native_put(refused[_i].columns, refused[_i].types,
				    refused[_i].rows, refused[_i].size, &used, &out),
			 refused[_i].err);
	ck_assert_uint_eq(used, 77);
	ck_assert_str_eq(buf_str(&out), "before");
	buf_fini(&out);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("native");
	TCase *tc = tcase_create("blocks");

	tcase_add_test(tc, columns_have_the_cells_of_rows);
	tcase_add_loop_test(tc, what_does_not_fit_is_refused, 0, NR(refused));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
