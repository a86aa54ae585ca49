/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.c - reference-counted texts, each stored once
 *
 * A hash map has the texts. A text is freed with its last reference.
 */
#include "config.h"

#include "daemon/os/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static size_t size_of(const char *text)
{
	return sizeof(struct name) + strlen(text) + 1;
}

struct name *names_get(struct names *table, const char *text)
{
	const uint64_t hash = hash_bytes(0, text, strlen(text));
	const size_t size = size_of(text);
	struct name *name;
	struct hnode *n;

	for (n = hmap_first(&table->by_text, hash); n; n = hmap_next(n)) {
		name = container_of(n, struct name, node);
		if (!strcmp(name->text, text))
			return name_hold(name);
	}
	if (size > NAMES_MAX_BYTES - table->bytes)
		return NULL;
	name = malloc(size);
	if (!name || hmap_insert(&table->by_text, &name->node, hash)) {
		free(name);
		return NULL;
	}
	name->table = table;
	name->nr_users = 1;
	strcpy(name->text, text);
	table->bytes += size;
	return name;
}

struct name *name_hold(struct name *n)
{
	if (n)
		n->nr_users++;
	return n;
}

void name_put(struct name *n)
{
	if (!n || --n->nr_users)
		return;
	n->table->bytes -= size_of(n->text);
	hmap_remove(&n->table->by_text, &n->node);
	free(n);
}

void names_fini(struct names *table)
{
	assert(!table->by_text.nr);
	hmap_fini(&table->by_text);
}
