/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/text.h"

#include <string.h>

/* Length that the first byte announces, and the bits of the code in it. */
static unsigned int lead_length(uint8_t c, uint32_t *bits)
{
	if (c >= 0xc2 && c <= 0xdf) {
		*bits = c & 0x1f;
		return 2;
	}
	if (c >= 0xe0 && c <= 0xef) {
		*bits = c & 0x0f;
		return 3;
	}
	if (c >= 0xf0 && c <= 0xf4) {
		*bits = c & 0x07;
		return 4;
	}
	return 0;
}

uint32_t text_next(const char **s)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)*s;
	uint32_t code = 0;
	unsigned int len;

	if (*p < 0x80) {
		*s += *p != 0;
		return *p;
	}
	len = lead_length(*p, &code);
	*s += 1;
	for (unsigned int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return TEXT_INVALID;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (!len || code < least[len] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return TEXT_INVALID;
	*s += len - 1;
	return code;
}

bool text_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

void text_put(struct buf *b, uint32_t code)
{
	if (code < 0x80) {
		buf_putc(b, code);
		return;
	}
	if (code < 0x800) {
		buf_putc(b, 0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			buf_putc(b, 0xe0 | code >> 12);
		} else {
			buf_putc(b, 0xf0 | code >> 18);
			buf_putc(b, 0x80 | (code >> 12 & 0x3f));
		}
		buf_putc(b, 0x80 | (code >> 6 & 0x3f));
	}
	buf_putc(b, 0x80 | (code & 0x3f));
}

void text_put_clean(struct buf *b, const char *s)
{
	uint32_t code;

	while ((code = text_next(&s)))
		text_put(b, code == TEXT_INVALID || text_is_control(code) ? '?' : code);
}

size_t text_width(const char *s)
{
	size_t n = 0;

	while (text_next(&s))
		n++;
	return n;
}

size_t text_prefix(const char *s, size_t width)
{
	const char *p = s;

	while (width-- && text_next(&p))
		continue;
	return p - s;
}
