/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varint.c - writes and reads LEB128 numbers of more than one byte
 */
#include "config.h"

#include "base/varint.h"

#include "base/err.h"

void varint_put(struct buf *b, uint64_t v)
{
	uint8_t bytes[10];
	int n = 0;

	while (v >= 0x80) {
		bytes[n++] = 0x80 | (v & 0x7f);
		v >>= 7;
	}
	bytes[n++] = v;
	buf_put(b, bytes, n);
}

int varint_get_long(const uint8_t **pos, const uint8_t *end, uint64_t *v)
{
	uint64_t value = 0;

	for (const uint8_t *p = *pos; p < end; p++) {
		int shift = (int)(p - *pos) * 7;

		if (shift > 63 || (shift == 63 && *p > 1))
			return -CPI_ECORRUPT;
		value |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80)) {
			*pos = p + 1;
			*v = value;
			return 0;
		}
	}
	return -CPI_ETRUNCATED;
}

uint64_t varint_take(const uint8_t **pos, const uint8_t *end, uint64_t most, int *err)
{
	uint64_t v = 0;

	if (!*err)
		*err = varint_get(pos, end, &v);
	if (!*err && v > most)
		*err = -CPI_ECORRUPT;
	return *err ? 0 : v;
}
