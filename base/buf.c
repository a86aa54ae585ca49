/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf.c - a growing run of bytes: when it is full, its capacity doubles
 */
#include "config.h"

#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_fini(struct buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->err = 0;
}

void *buf_reserve(struct buf *b, size_t len)
{
	size_t cap = b->cap ? b->cap : 64;
	char *data;

	if (b->err)
		return NULL;
	if (len > SIZE_MAX / 4 || b->len > SIZE_MAX / 4) {
		b->err = -ENOMEM;
		return NULL;
	}
	while (cap < b->len + len)
		cap *= 2;
	if (cap != b->cap) {
		data = realloc(b->data, cap);
		if (!data) {
			b->err = -ENOMEM;
			return NULL;
		}
		b->data = data;
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_put(struct buf *b, const void *data, size_t len)
{
	void *to = buf_reserve(b, len);

	if (!to || !len)
		return;
	memcpy(to, data, len);
	b->len += len;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *to;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->err = -ENOMEM; /* longer than INT_MAX */
		return;
	}
	to = buf_reserve(b, (size_t)n + 1);
	if (!to)
		return;
	va_start(ap, fmt);
	vsnprintf(to, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += n;
}

const char *buf_str(struct buf *b)
{
	char *end = buf_reserve(b, 1);

	if (!end)
		return "";
	*end = '\0';
	return b->data;
}
