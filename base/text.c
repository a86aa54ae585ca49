/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.c - reads UTF-8 and replaces what is not safe to show
 *
 * The decoder accepts only the shortest form of each code point and no surrogates, as
 * terminals do. The table of unsafe code points is ascending.
 */
#include "config.h"

#include "base/text.h"

#include <string.h>

/* The length by the first byte, and the bits of the code point in it. */
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

/* Ascending. */
static const struct {
	uint32_t first, last;
} controls[] = {
	{ 0x00, 0x1f },       /* C0 */
	{ 0x7f, 0x9f },       /* DEL, C1 */
	{ 0xad, 0xad },       /* soft hyphen */
	{ 0x34f, 0x34f },     /* grapheme joiner */
	{ 0x61c, 0x61c },     /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer vowels that are not shown */
	{ 0x180b, 0x180f },   /* Mongolian selectors and separator */
	{ 0x200b, 0x200f },   /* zero width, left-to-right, right-to-left */
	{ 0x2028, 0x202e },   /* line, paragraph, embeddings, overrides */
	{ 0x2060, 0x206f },   /* joiners, isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* Hangul filler of half width */
	{ 0xfff9, 0xfffb },   /* interlinear annotations */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical beams, ties, slurs and phrases */
	{ 0xe0000, 0xe0fff }, /* tags, selectors */
};

bool text_is_control(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		if (code <= controls[i].last)
			return code >= controls[i].first;
	}
	return false;
}

/* Writes code as UTF-8; returns its length. */
static unsigned int encode(uint32_t code, char out[4])
{
	const unsigned int len = code < 0x80      ? 1
				 : code < 0x800   ? 2
				 : code < 0x10000 ? 3
						  : 4;
	static const uint8_t lead[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (unsigned int i = len - 1; i; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(lead[len] | code);
	return len;
}

void text_put(struct buf *b, uint32_t code)
{
	char bytes[4];
	const unsigned int len = encode(code, bytes);

	buf_put(b, bytes, len);
}

static uint32_t clean(uint32_t code)
{
	return code == TEXT_INVALID || text_is_control(code) ? '?' : code;
}

void text_put_clean(struct buf *b, const char *s)
{
	uint32_t code;

	while ((code = text_next(&s)))
		text_put(b, clean(code));
}

bool text_is_clean(const char *s)
{
	uint32_t code;

	while ((code = text_next(&s))) {
		if (clean(code) != code)
			return false;
	}
	return true;
}

/* In place, because no replacement is longer than the text that it replaces. */
void text_clean(char *s)
{
	const char *from = s;
	uint32_t code;

	while ((code = text_next(&from)))
		s += encode(clean(code), s);
	*s = '\0';
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

size_t text_hex_digits(const char *s)
{
	return strspn(s, "0123456789abcdef");
}
