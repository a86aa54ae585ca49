/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/strings.h"

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

static struct string *find(const struct strings *s, const char *text, uint64_t hash)
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
	struct string *string = find(s, text, hash), **grown;

	if (string) {
		*out = string->nr;
		return 0;
	}
	if (s->nr == UINT32_MAX)
		return -CPI_ELIMIT;
	grown = grow(s->at, s->nr, &s->cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->at = grown;
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
