/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain_name.c - names that a reader understands without a manual
 */
#include "config.h"

#include "tools/write/plain_name.h"

#include <string.h>

#include "base/path.h"

const char *plain_unknown(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} plain[] = {
		{ "anonymous", "[JIT or generated code]" },
		{ "no_process", "[process ended before it was seen]" },
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (!strcmp(plain[i].reason, reason))
			return plain[i].text;
	}
	return "[unknown]";
}

void plain_procedure(const char *name, const char *image, struct buf *out)
{
	const size_t len = name ? strlen(name) : 0;

	if (!name)
		return;
	if (!image || len < 5 || strncmp(name, "[0x", 3) != 0 || name[len - 1] != ']')
		buf_puts(out, name);
	else
		buf_printf(out, "%s+%.*s (stripped)", path_base(image), (int)len - 2,
			   name + 1);
}
