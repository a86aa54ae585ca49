/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rowbinary.h - ClickHouse's format RowBinary, as far as CPI uses it
 *
 * Rows follow each other without separators, so both sides must agree on the columns. A
 * string of types has a letter for each column:
 *	1 2 4 8	UInt8, UInt16, UInt32, UInt64
 *	t i	DateTime, as seconds since 1970 in 32 bits; Int64
 *	f	Float64, as its bits
 *	s b	String, of text or of any bytes: its length as LEB128, then its bytes
 */
#ifndef CPI_DB_ROWBINARY_H
#define CPI_DB_ROWBINARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define ROWBINARY_MAX_COLUMNS 32
#define ROWBINARY_MAX_STRING  (64u << 20) /* bytes; a longer one is refused */

struct rowbinary_cell {
	uint64_t n;       /* the value of a number */
	const char *text; /* the bytes of a string, not terminated; it may contain any
			     bytes */
	size_t len;
};

/* Appends a value of the given type; bits is the number, or the bits of the double. */
void rowbinary_put(struct buf *out, char type, uint64_t bits);
void rowbinary_put_string(struct buf *out, const void *text, size_t len);

/*
 * Sets *size to the size of the cell that begins at data. Returns 0, -CPI_ETRUNCATED if
 * it is larger than left, or -CPI_ELIMIT for a string that is too long.
 */
int rowbinary_skip(char type, const void *data, size_t left, size_t *size);

/*
 * Decodes rows that arrive in pieces of any size. Starts as { .types = "…" }; what a
 * store sends is untrusted.
 */
struct rowbinary_reader {
	const char *types; /* at most ROWBINARY_MAX_COLUMNS */
	struct buf rest;   /* the beginning of an incomplete row */
};

/*
 * Calls fn for each row that is complete; cells are valid only during the call. A
 * non-zero return of fn stops and is returned. 0, -CPI_ECORRUPT, -CPI_ELIMIT for a
 * string that is too long, or -ENOMEM.
 */
typedef int (*rowbinary_fn)(void *ctx, const struct rowbinary_cell *cells);
int rowbinary_feed(struct rowbinary_reader *r, const void *data, size_t size,
		   rowbinary_fn fn, void *ctx);

/*
 * A rowbinary_fn for rows of one number. ctx is a uint64_t, which is set to the last
 * number.
 */
int rowbinary_take_number(void *ctx, const struct rowbinary_cell *cells);

/* After the last piece: 0, or -CPI_ETRUNCATED if a row is incomplete. */
int rowbinary_end(const struct rowbinary_reader *r);
void rowbinary_fini(struct rowbinary_reader *r);

#endif
