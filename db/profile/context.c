/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.c - makes and reads the names of contexts, and lists of kinds
 */
#include "config.h"

#include "db/profile/context.h"

#include <errno.h>
#include <stdint.h>
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

	if (!strcmp(text, CONTEXT_NONE)) {
		*kinds = 0;
		return 0;
	}
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

/* Appends "KIND=VALUE\n", and returns where it ends. */
static char *put_part(char *out, const char *kind, const char *value)
{
	const size_t len = strlen(kind);

	memcpy(out, kind, len);
	out += len;
	*out++ = '=';
	for (; *value; value++)
		*out++ = *value == '\n' ? ' ' : *value;
	*out++ = '\n';
	return out;
}

size_t context_make(const char *const values[NR_CONTEXT_KINDS],
		    char out[CONTEXT_NAME_SIZE])
{
	char *at = out;

	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++) {
		const char *value = values[kind];

		if (!value)
			continue;
		if (strnlen(value, CONTEXT_VALUE_MAX + 1) > CONTEXT_VALUE_MAX)
			value = CONTEXT_OTHER;
		at = put_part(at, context_kind_str(kind), value);
	}
	*at = '\0';
	return (size_t)(at - out);
}

size_t context_make_try(const char *const values[NR_CONTEXT_KINDS], int try,
			char out[CONTEXT_NAME_SIZE])
{
	const bool chosen = values[CONTEXT_COMM] || values[CONTEXT_PROCESS] ||
			    values[CONTEXT_THREAD];
	const unsigned int others[CONTEXT_TRIES] = { 0, chosen ? CONTEXT_CHOSEN : ~0u,
						     ~0u };
	const char *kept[NR_CONTEXT_KINDS];

	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++)
		kept[kind] = values[kind] && others[try] & 1u << kind ? CONTEXT_OTHER
								      : values[kind];
	return context_make(kept, out);
}

size_t context_bound(int try, size_t nr)
{
	const size_t bounds[CONTEXT_TRIES] = { nr, nr + nr / 4, SIZE_MAX };

	return bounds[try];
}

/* The value that begins a line of a name, and its length; NULL: not of this kind. */
static const char *line_value(const char *line, enum context_kind kind, size_t *len)
{
	const char *text = context_kind_str(kind);
	const size_t before = strlen(text);

	if (strncmp(line, text, before) != 0 || line[before] != '=')
		return NULL;
	*len = strcspn(line + before + 1, "\n");
	return line + before + 1;
}

static const char *find_value(const char *name, enum context_kind kind, size_t *len)
{
	for (const char *line = name; line && *line; line = strchr(line, '\n')) {
		const char *value;

		line += *line == '\n';
		value = line_value(line, kind, len);
		if (value)
			return value;
	}
	return NULL;
}

const char *context_value(const char *name, enum context_kind kind,
			  char out[CONTEXT_VALUE_MAX + 1])
{
	size_t len;
	const char *value = find_value(name, kind, &len);

	if (!value)
		return NULL;
	if (len > CONTEXT_VALUE_MAX)
		len = CONTEXT_VALUE_MAX;
	memcpy(out, value, len);
	out[len] = '\0';
	return out;
}

unsigned int context_kinds(const char *name)
{
	unsigned int set = 0;
	size_t len;

	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++)
		set |= find_value(name, kind, &len) ? 1u << kind : 0;
	return set;
}

bool context_is_whole(const char *name)
{
	return strchr(name, '\n') != NULL;
}
