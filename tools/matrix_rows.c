/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/matrix_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint64_t hash_text(uint64_t seed, const char *s)
{
	return hash_bytes(seed, s ? s : "", s ? strlen(s) : 0);
}

static uint64_t key_hash(const struct matrix_key *k)
{
	uint64_t h = hash_u64(2 * (uint64_t)k->line + k->unknown);

	h = hash_u64(h ^ (uint64_t)k->image_id);
	h = hash_text(hash_text(h, k->image), k->procedure);
	return hash_text(hash_text(h, k->whom), k->file);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_key(const struct matrix_row *r, const struct matrix_key *k)
{
	return r->unknown == k->unknown && r->image_id == k->image_id &&
	       r->line == k->line && same_text(r->image, k->image) &&
	       same_text(r->procedure, k->procedure) && same_text(r->whom, k->whom) &&
	       same_text(r->file, k->file);
}

static int copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int copy_container(const struct matrix_key *k, struct matrix_row *r)
{
	if (!k->container)
		return 0;
	r->container = malloc(sizeof(*r->container));
	if (!r->container)
		return -ENOMEM;
	*r->container = *k->container;
	return 0;
}

static void row_free(struct matrix_row *r)
{
	if (!r)
		return;
	free(r->image);
	free(r->procedure);
	free(r->whom);
	free(r->container);
	free(r->file);
	free(r);
}

static struct matrix_row *row_new(const struct matrix_key *k)
{
	struct matrix_row *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->unknown = k->unknown;
	r->image_id = k->image_id;
	r->line = k->line;
	if (copy_text(k->image, &r->image) || copy_text(k->procedure, &r->procedure) ||
	    copy_text(k->whom, &r->whom) || copy_text(k->file, &r->file) ||
	    copy_container(k, r)) {
		row_free(r);
		return NULL;
	}
	return r;
}

static int append_row(struct matrix *m, struct matrix_row *r, uint64_t hash)
{
	struct matrix_row **grown = m->row;

	if (!(m->nr_rows & (m->nr_rows - 1)))
		grown = realloc(m->row, (2 * m->nr_rows + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->row = grown;
	if (hmap_insert(&m->map, &r->node, hash))
		return -ENOMEM;
	r->index = m->nr_rows;
	m->row[m->nr_rows++] = r;
	return 0;
}

int matrix_row(struct matrix *m, const struct matrix_key *key, bool add,
	       struct matrix_row **out)
{
	const uint64_t hash = key_hash(key);
	struct matrix_row *r;
	struct hnode *n;

	for (n = hmap_first(&m->map, hash); n; n = hmap_next(n)) {
		r = container_of(n, struct matrix_row, node);
		if (same_key(r, key)) {
			*out = r;
			return 0;
		}
	}
	if (!add)
		return -ENOENT;
	r = row_new(key);
	if (!r)
		return -ENOMEM;
	if (append_row(m, r, hash)) {
		row_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void matrix_rows_fini(struct matrix *m)
{
	for (size_t i = 0; i < m->nr_rows; i++)
		row_free(m->row[i]);
	free(m->row);
	hmap_fini(&m->map);
}
