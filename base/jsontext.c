/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jsontext.c - text as a JSON string
 *
 * Control characters are escaped, and text_next() replaces bytes that are not UTF-8.
 * So any name becomes valid JSON.
 */
#include "config.h"

#include "base/jsontext.h"

#include <inttypes.h>

#include "base/text.h"

/* UTF-16, as JSON has it. */
static void put_escape(struct buf *b, uint32_t code)
{
	if (code > 0xffff) {
		code -= 0x10000;
		buf_printf(b, "\\u%04" PRIx32, 0xd800 | code >> 10);
		code = 0xdc00 | (code & 0x3ff);
	}
	buf_printf(b, "\\u%04" PRIx32, code);
}

void jsontext_put(struct buf *b, const char *s)
{
	uint32_t code;

	buf_putc(b, '"');
	while ((code = text_next(&s))) {
		if (code == '"' || code == '\\')
			buf_printf(b, "\\%c", (char)code);
		else if (text_is_control(code))
			put_escape(b, code);
		else
			text_put(b, code);
	}
	buf_putc(b, '"');
}
