/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.c - parses "KIND=VALUE" and lists of kinds
 */
#include "config.h"

#include "db/profile/context.h"

#include <errno.h>
#include <string.h>

const char *context_kind_str(enum context_kind kind)
{
	static const char *const text[] = {
#define CONTEXT_KIND_TEXT(name, text) [CONTEXT_##name] = (text),
		CONTEXT_KINDS(CONTEXT_KIND_TEXT)
#undef CONTEXT_KIND_TEXT
	};

	return text[kind];
}

/* The kind that len bytes of text name, or NR_CONTEXT_KINDS. */
static unsigned int parse_kind(const char *text, size_t len)
{
	unsigned int kind = 0;

	while (kind < NR_CONTEXT_KINDS && (strlen(context_kind_str(kind)) != len ||
					   memcmp(context_kind_str(kind), text, len)))
		kind++;
	return kind;
}

int context_parse_kinds(const char *text, unsigned int *kinds)
{
	unsigned int set = 0, kind;

	for (;; text++) {
		size_t len = strcspn(text, ",");

		kind = parse_kind(text, len);
		if (kind == NR_CONTEXT_KINDS)
			return -EINVAL;
		set |= 1u << kind;
		text += len;
		if (!*text)
			break;
	}
	*kinds = set;
	return 0;
}

const char *context_value(const char *name, enum context_kind kind)
{
	const char *text = context_kind_str(kind);
	const size_t len = strlen(text);

	return !strncmp(name, text, len) && name[len] == '=' ? name + len + 1 : NULL;
}
