/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native.c - makes blocks of rows: each column's cells follow each other
 *
 * A block is the number of columns and that of rows, as LEB128; then of each column its
 * name, its type, and its cells, which are as RowBinary has them.
 */
#include "config.h"

#include "db/clickhouse/native.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "db/clickhouse/rowbinary.h"

static const char *type_name(char type)
{
	switch (type) {
	case '1':
		return "UInt8";
	case '2':
		return "UInt16";
	case '4':
		return "UInt32";
	case 't':
		return "DateTime";
	case '8':
		return "UInt64";
	case 'i':
		return "Int64";
	case 'f':
		return "Float64";
	default:
		return "String";
	}
}

static void put_number(struct buf *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		buf_putc(out, (char)(n | 0x80));
	buf_putc(out, (char)n);
}

/* The next of the names "(a, b)"; NULL behind the last one. */
static const char *next_name(const char *at, size_t *len)
{
	at += strspn(at, ", (");
	*len = strcspn(at, ",)");
	return *len ? at : NULL;
}

/* Appends the cells of as many rows as fit, each to its column. */
static int split(const char *types, const void *rows, size_t size, struct buf *column,
		 size_t *nr, size_t *used)
{
	const char *p = rows;
	size_t len, at = 0;
	int err = 0;

	for (*nr = 0; at < size && *nr < NATIVE_MAX_ROWS; ++*nr) {
		for (int i = 0; types[i]; i++) {
			err = rowbinary_skip(types[i], p + at, size - at, &len);
			if (err)
				return err;
			buf_put(&column[i], p + at, len);
			at += len;
		}
	}
	*used = at;
	return 0;
}

static int put_columns(const char *columns, const char *types, const struct buf *column,
		       struct buf *out)
{
	const char *name = columns + strcspn(columns, "(");
	size_t len;

	for (int i = 0; types[i]; i++) {
		const char *type = type_name(types[i]);

		name = next_name(name, &len);
		if (!name)
			return -EINVAL;
		if (column[i].err)
			return column[i].err;
		rowbinary_put_string(out, name, len);
		rowbinary_put_string(out, type, strlen(type));
		buf_put(out, column[i].data, column[i].len);
		name += len;
	}
	return next_name(name, &len) ? -EINVAL : out->err;
}

int native_put(const char *columns, const char *types, const void *rows, size_t size,
	       size_t *used, struct buf *out)
{
	struct buf column[ROWBINARY_MAX_COLUMNS] = { { 0 } };
	const size_t had = out->len, nr_columns = strlen(types);
	size_t nr = 0, took = 0;
	int err;

	if (!nr_columns || nr_columns > ROWBINARY_MAX_COLUMNS)
		return -EINVAL;
	err = split(types, rows, size, column, &nr, &took);
	if (!err) {
		put_number(out, nr_columns);
		put_number(out, nr);
		err = put_columns(columns, types, column, out);
	}
	for (size_t i = 0; i < nr_columns; i++)
		buf_fini(&column[i]);
	if (err)
		out->len = had;
	else
		*used = took;
	return err;
}
