/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rowbinary.c - rows as ClickHouse exchanges them, written and read
 *
 * A row is decoded when all of its bytes have come. Until then they are kept, and each
 * further piece decodes the row from its beginning. That costs little, because nearly
 * all rows are short.
 */
#include "config.h"

#include "db/clickhouse/rowbinary.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/varint.h"

static size_t size_of(char type)
{
	switch (type) {
	case 'f':
	case 'i':
		return sizeof(uint64_t);
	case 't':
		return sizeof(uint32_t);
	default:
		return (size_t)(type - '0');
	}
}

void rowbinary_put(struct buf *out, char type, uint64_t bits)
{
	const uint64_t le = htole64(bits);

	buf_put(out, &le, size_of(type));
}

void rowbinary_put_string(struct buf *out, const void *text, size_t len)
{
	uint64_t left = len;

	for (; left >= 0x80; left >>= 7)
		buf_putc(out, (char)(left | 0x80));
	buf_putc(out, (char)left);
	if (len)
		buf_put(out, text, len);
}

/*
 * Decodes a string's length, which takes *used bytes. Returns 0, -EAGAIN if not all of
 * them are there, or -CPI_ELIMIT.
 */
static int get_length(const uint8_t *p, size_t left, uint64_t *len, size_t *used)
{
	uint64_t n = 0;

	for (size_t i = 0; i < left; i++) {
		if (i == 5)
			return -CPI_ELIMIT;
		n |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] & 0x80)
			continue;
		*len = n;
		*used = i + 1;
		return n > ROWBINARY_MAX_STRING ? -CPI_ELIMIT : 0;
	}
	return -EAGAIN;
}

static int get_cell(char type, const uint8_t *p, size_t left,
		    struct rowbinary_cell *cell, size_t *used)
{
	uint64_t len, le = 0;
	int err;

	if (type != 's' && type != 'b') {
		*used = size_of(type);
		if (left < *used)
			return -EAGAIN;
		memcpy(&le, p, *used);
		cell->n = le64toh(le);
		return 0;
	}
	err = get_length(p, left, &len, used);
	if (err)
		return err;
	if (left - *used < len)
		return -EAGAIN;
	cell->text = (const char *)p + *used;
	cell->len = len;
	*used += len;
	return 0;
}

int rowbinary_skip(char type, const void *data, size_t left, size_t *size)
{
	struct rowbinary_cell cell;
	int err = get_cell(type, data, left, &cell, size);

	return err == -EAGAIN ? -CPI_ETRUNCATED : err;
}

/* Decodes one row: its size in *used. -EAGAIN if it is not complete. */
static int get_row(const char *types, const uint8_t *p, size_t left,
		   struct rowbinary_cell *cells, size_t *used)
{
	size_t at = 0, step = 0;
	int err = 0;

	for (int i = 0; types[i] && !err; i++) {
		err = get_cell(types[i], p + at, left - at, &cells[i], &step);
		if (!err)
			at += step;
	}
	if (!err)
		*used = at;
	return err;
}

/* Calls fn for the complete rows of some bytes. *done: how many bytes they are. */
static int each_row(const char *types, const uint8_t *p, size_t size, size_t *done,
		    rowbinary_fn fn, void *ctx)
{
	struct rowbinary_cell cells[ROWBINARY_MAX_COLUMNS];
	size_t at = 0, used;
	int err = 0;

	while (at < size) {
		memset(cells, 0, sizeof(cells));
		err = get_row(types, p + at, size - at, cells, &used);
		if (err)
			break;
		at += used;
		err = fn(ctx, cells);
		if (err)
			return err;
	}
	*done = at;
	return err == -EAGAIN ? 0 : err;
}

int rowbinary_feed(struct rowbinary_reader *r, const void *data, size_t size,
		   rowbinary_fn fn, void *ctx)
{
	size_t done = 0, left;
	int err;

	if (!size)
		return 0;
	if (!r->rest.len) {
		err = each_row(r->types, data, size, &done, fn, ctx);
		if (!err && done < size)
			buf_put(&r->rest, (const char *)data + done, size - done);
		return err ? err : r->rest.err;
	}
	buf_put(&r->rest, data, size);
	if (r->rest.err)
		return r->rest.err;
	err = each_row(r->types, (const uint8_t *)r->rest.data, r->rest.len, &done, fn,
		       ctx);
	left = r->rest.len - done;
	if (done)
		memmove(r->rest.data, r->rest.data + done, left);
	r->rest.len = left;
	return err;
}

int rowbinary_take_number(void *ctx, const struct rowbinary_cell *cells)
{
	uint64_t *n = ctx;

	*n = cells[0].n;
	return 0;
}

int rowbinary_end(const struct rowbinary_reader *r)
{
	return r->rest.len ? -CPI_ETRUNCATED : 0;
}

void rowbinary_fini(struct rowbinary_reader *r)
{
	buf_fini(&r->rest);
}
