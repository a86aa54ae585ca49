/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.c - text as XML 1.0 can hold it
 *
 * Some characters cannot be written at all, not even escaped; they are replaced.
 */
#include "config.h"

#include "tools/ui/xml.h"

#include <stdbool.h>

#include "base/text.h"

/* Of what UTF-8 can say, XML 1.0 has no U+FFFE and U+FFFF, in no plane. */
static bool is_forbidden(uint32_t code)
{
	return text_is_control(code) || (code & 0xfffe) == 0xfffe;
}

void xml_put(struct buf *out, const char *s)
{
	s = s ? s : "?";
	for (uint32_t c; (c = text_next(&s));) {
		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			buf_printf(out, "&#%u;", c);
		else
			text_put(out, is_forbidden(c) ? '?' : c);
	}
}
