/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.c - writes text that XML 1.0 can hold
 *
 * Some characters are not allowed even if escaped; they are replaced.
 */
#include "config.h"

#include "tools/ui/xml.h"

#include <stdbool.h>

#include "base/text.h"

/* XML 1.0 does not allow U+FFFE and U+FFFF, nor their counterparts in other planes. */
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
