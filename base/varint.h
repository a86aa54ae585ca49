/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varint.h - LEB128: seven bits a byte, least significant first
 */
#ifndef CPI_BASE_VARINT_H
#define CPI_BASE_VARINT_H

#include <stdint.h>

#include "base/buf.h"

void varint_put(struct buf *b, uint64_t v);

/*
 * Reads a number at *pos that ends before end, and moves *pos past it. Returns 0,
 * -CPI_ETRUNCATED, or -CPI_ECORRUPT for more than 64 bits; on failure *pos and *v are
 * untouched.
 */
int varint_get_long(const uint8_t **pos, const uint8_t *end, uint64_t *v);

static inline int varint_get(const uint8_t **pos, const uint8_t *end, uint64_t *v)
{
	if (*pos < end && **pos < 0x80) { /* nearly all are short */
		*v = *(*pos)++;
		return 0;
	}
	return varint_get_long(pos, end, v);
}

/*
 * For a series of reads with one check at its end: reads as varint_get() unless *err is
 * set; a number above most is -CPI_ECORRUPT. Returns the number; 0 if *err is set now.
 */
uint64_t varint_take(const uint8_t **pos, const uint8_t *end, uint64_t most, int *err);

#endif
