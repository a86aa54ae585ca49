/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_rows.c - the rows of a matrix, found by their names
 *
 * A row is found by a hash of its names. Its index never changes, so columns are plain
 * arrays by row.
 */
#include "config.h"

#include "report/compare/matrix_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "report/select/cgroupname.h"
#include "report/select/optional_text.h"

static uint64_t key_hash(const struct matrix_key *k)
{
	uint64_t h = hash_u64(2 * (uint64_t)k->line + k->unknown);

	h = hash_u64(h ^ k->image_hash);
	h = optional_text_hash(optional_text_hash(h, k->image), k->procedure);
	return optional_text_hash(optional_text_hash(h, k->context), k->file);
}

static bool same_key(const struct matrix_row *r, const struct matrix_key *k)
{
	return r->unknown == k->unknown && r->image_hash == k->image_hash &&
	       r->line == k->line && optional_text_same(r->image, k->image) &&
	       optional_text_same(r->procedure, k->procedure) &&
	       optional_text_same(r->context, k->context) &&
	       optional_text_same(r->file, k->file);
}

static void row_free(struct matrix_row *r)
{
	if (!r)
		return;
	free(r->image);
	free(r->procedure);
	free(r->context);
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
	r->image_hash = k->image_hash;
	r->line = k->line;
	if (optional_text_copy(k->image, &r->image) ||
	    optional_text_copy(k->procedure, &r->procedure) ||
	    optional_text_copy(k->context, &r->context) ||
	    optional_text_copy(k->file, &r->file) ||
	    cgroupname_copy(k->container, &r->container)) {
		row_free(r);
		return NULL;
	}
	return r;
}

static int append_row(struct matrix *m, struct matrix_row *r, uint64_t hash)
{
	if (GROW(m->row, m->nr_rows))
		return -ENOMEM;
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
