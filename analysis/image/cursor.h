/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cursor.h - reads the numbers of unwind tables
 */
#ifndef CPI_ANALYSIS_CURSOR_H
#define CPI_ANALYSIS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/elffile.h"

/* A read position. A read beyond the end sets bad; after that all reads return 0. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
	bool big_endian;
	bool wide; /* 8-byte addresses */
};

/* Reads bytes[0..size) as f's numbers are written. */
struct cursor cursor_of(const struct elffile *f, const uint8_t *bytes, size_t size);

/* The next size bytes; NULL if there are fewer. */
const uint8_t *cursor_take(struct cursor *c, size_t size);

uint64_t cursor_number(struct cursor *c, size_t size);
uint64_t cursor_uleb(struct cursor *c);
void cursor_skip_leb(struct cursor *c);

/* A number in the format half of a DW_EH_PE encoding. */
uint64_t cursor_encoded(struct cursor *c, int encoding);

#endif
