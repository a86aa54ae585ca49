/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strings.c - a table that stores each different string once, and numbers it
 *
 * A hash map finds the number of a text, an array the text of a number. Export formats
 * contain these numbers.
 */
#include "config.h"

#include "report/calls/strings.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"

struct string {
	struct hnode node;
	uint32_t nr;
	char text[];
};

static struct string *find_string(const struct strings *s, const char *text,
				  uint64_t hash)
{
	for (struct hnode *n = hmap_first(&s->map, hash); n; n = hmap_next(n)) {
		struct string *known = container_of(n, struct string, node);

		if (!strcmp(known->text, text))
			return known;
	}
	return NULL;
}

int strings_add(struct strings *s, const char *text, uint32_t *out)
{
	const size_t len = strlen(text);
	const uint64_t hash = hash_bytes(0, text, len);
	struct string *string = find_string(s, text, hash);

	if (string) {
		*out = string->nr;
		return 0;
	}
	if (s->nr == UINT32_MAX)
		return -CPI_ELIMIT;
	if (GROW(s->at, s->nr))
		return -ENOMEM;
	if (!s->memory.limit)
		arena_init(&s->memory, 0);
	string = arena_alloc(&s->memory, sizeof(*string) + len + 1);
	if (!string)
		return -ENOMEM;
	memcpy(string->text, text, len);
	string->nr = (uint32_t)s->nr;
	if (hmap_insert(&s->map, &string->node, hash))
		return -ENOMEM;
	s->at[s->nr++] = string;
	*out = string->nr;
	return 0;
}

const char *strings_at(const struct strings *s, uint32_t i)
{
	return s->at[i]->text;
}

void strings_fini(struct strings *s)
{
	hmap_fini(&s->map);
	free(s->at);
	arena_fini(&s->memory);
	memset(s, 0, sizeof(*s));
}
