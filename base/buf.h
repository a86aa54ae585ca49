/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf.h - a growing run of bytes
 *
 * A buf starts as { 0 }. Once memory has run out, err stays set and appending does
 * nothing, so a writer needs to check err only once, at the end.
 */
#ifndef CPI_BASE_BUF_H
#define CPI_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* NULL while empty */
	size_t len;
	size_t cap;
	int err; /* 0 or -ENOMEM, sticky */
};

void buf_fini(struct buf *b);  /* frees the bytes; b is empty again */
void buf_reset(struct buf *b); /* keeps the memory */

void buf_put(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Makes room for len more bytes and returns where they go, or NULL (err set). */
void *buf_reserve(struct buf *b, size_t len);

/* The bytes with a NUL behind them; "" when empty or out of memory. */
const char *buf_str(struct buf *b);

#endif
