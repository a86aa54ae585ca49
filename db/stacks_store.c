/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks_store.c - one tree for each (epoch, stream, context), merged in place
 *
 * Trees name images by numbers that are the epoch's own, in table stack_image: there a
 * copy maps them to another database's without a look into a tree.
 */
#include "config.h"

#include "db/stacks_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/context.h"
#include "db/intern.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/tallies.h"

/* Each stack is in one context of these. */
static bool counts_once(const char *context)
{
	return !*context || context_value(context, CONTEXT_COMM);
}

int stacks_add_up(const struct flush_stacks *f, uint64_t *stored)
{
	for (size_t i = 0; i < f->nr_trees; i++) {
		const struct flush_tree *t = &f->trees[i];

		if (!tallies_have(&f->streams, t->stream))
			return -EINVAL;
		if (counts_once(t->context))
			stored[t->stream] += stack_tree_total(t->tree);
	}
	return 0;
}

static int read_image_id(sqlite3_stmt *st, void *ctx)
{
	struct stack_images *im = ctx;
	int64_t *grown = rows_grow(im->id, im->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	im->id = grown;
	if (sqlite3_column_int64(st, 0) != im->nr || im->nr == UINT32_MAX)
		return -CPI_ECORRUPT;
	im->id[im->nr++] = sqlite3_column_int64(st, 1);
	return 0;
}

int stacks_images(sqlite3 *h, int64_t epoch, struct stack_images *out)
{
	struct stack_images im = { 0 };
	int err = sql_each(
		h, read_image_id, &im,
		"SELECT nr, image FROM stack_image WHERE epoch = ?1 ORDER BY nr", "i",
		epoch);

	if (!err) {
		im.map = calloc((size_t)im.nr + 1, sizeof(*im.map));
		err = im.map ? 0 : -ENOMEM;
	}
	if (err == -CPI_ECORRUPT)
		log_err("db: %s: epoch %" PRId64 ": numbers of stack_image are missing",
			sqlite3_db_filename(h, "main"), epoch);
	if (err)
		stacks_images_fini(&im);
	else
		*out = im;
	return err;
}

void stacks_images_fini(struct stack_images *im)
{
	free(im->id);
	free(im->map);
	memset(im, 0, sizeof(*im));
}

int stacks_number(sqlite3 *h, int64_t epoch, int64_t image, uint32_t *nr)
{
	int64_t found;
	int err = sql_get(h, &found,
			  "SELECT nr FROM stack_image WHERE epoch = ?1 AND image = ?2",
			  "ii", epoch, image);

	if (err == -ENOENT)
		err = sql_get(
			h, &found,
			"INSERT INTO stack_image (epoch, nr, image)"
			" SELECT ?1, count(*), ?2 FROM stack_image WHERE epoch = ?1"
			" RETURNING nr",
			"ii", epoch, image);
	if (!err)
		*nr = found;
	return err;
}

int stacks_read(sqlite3 *h, const int64_t key[3], struct stack_tree *t)
{
	struct stack_images im = { 0 };
	sqlite3_stmt *st = NULL;
	int err = stacks_images(h, key[0], &im);

	for (uint32_t i = 0; !err && i < im.nr; i++)
		im.map[i] = i;
	if (!err)
		err = sql_prepare(h,
				  "SELECT tree FROM stack WHERE epoch = ?1"
				  " AND stream = ?2 AND context = ?3",
				  &st);
	if (!err)
		err = sql_bind(st, "iii", key[0], key[1], key[2]);
	if (!err && (err = sql_step(st)) == 1) {
		size_t size;
		const void *blob = sql_blob(st, 0, &size);

		err = stack_tree_decode(blob, size, im.map, im.nr, t);
		if (err) {
			log_err("db: %s: stacks of epoch %" PRId64
				": %s: begin a new epoch to go on",
				sqlite3_db_filename(h, "main"), key[0], err_str(err));
			if (err != -ENOMEM)
				err = -CPI_ECORRUPT;
		}
	}
	sqlite3_finalize(st);
	stacks_images_fini(&im);
	return err;
}

static int write_tree(sqlite3 *h, const int64_t key[3], const struct stack_tree *t)
{
	struct buf blob = { 0 };
	int err = stack_tree_encode(t, &blob);

	if (!err && blob.len)
		err = sql_do(h,
			     "INSERT INTO stack (epoch, stream, context, total, tree)"
			     " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE"
			     " SET total = excluded.total, tree = excluded.tree",
			     "iiiib", key[0], key[1], key[2], stack_tree_total(t),
			     (const void *)blob.data, blob.len);
	buf_fini(&blob);
	return err;
}

int stacks_add(sqlite3 *h, const int64_t key[3], const struct stack_tree *tree,
	       const uint32_t *map, uint32_t nr_map)
{
	struct stack_tree *sum = stack_tree_new(STACK_MAX_NODES);
	int64_t bytes;
	int err = sum ? stacks_read(h, key, sum) : -ENOMEM;

	if (!err)
		err = sql_get(h, &bytes,
			      "SELECT coalesce(sum(length(tree)), 0) FROM stack"
			      " WHERE epoch = ?1",
			      "i", key[0]);
	if (!err && bytes > STACKS_EPOCH_BYTES)
		stack_tree_limit(sum, stack_tree_nr_nodes(sum));
	if (!err)
		err = stack_tree_merge(sum, tree, map, nr_map);
	if (!err)
		err = write_tree(h, key, sum);
	stack_tree_free(sum);
	return err;
}

int stacks_number_all(sqlite3 *h, int64_t epoch, const struct image_desc *const *images,
		      size_t nr, sqlite3_stmt *search, uint32_t *map)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		int64_t id = 0;

		if (images[i])
			err = intern_image(search, images[i], &id);
		if (!err)
			err = stacks_number(h, epoch, id, &map[i]);
	}
	return err;
}

int stacks_merge(sqlite3 *h, int64_t epoch, const struct flush_stacks *f,
		 sqlite3_stmt *search)
{
	int64_t *stream = calloc(f->streams.nr + 1, sizeof(*stream));
	uint64_t *stored = calloc(f->streams.nr + 1, sizeof(*stored));
	uint32_t *map = calloc(f->nr_images + 1, sizeof(*map));
	int err = stream && stored && map ? stacks_add_up(f, stored) : -ENOMEM;

	if (!err)
		err = tallies_add(h, TALLIES_STACKS, epoch, &f->streams, stored,
				  stream);
	if (!err)
		err = stacks_number_all(h, epoch, f->images, f->nr_images, search, map);
	for (size_t i = 0; !err && i < f->nr_trees; i++) {
		const struct flush_tree *t = &f->trees[i];
		int64_t key[3] = { epoch, stream[t->stream], 0 };

		if (*t->context) /* "" is context 0 */
			err = intern_context(h, t->context, &key[2]);
		if (!err)
			err = stacks_add(h, key, t->tree, map, f->nr_images);
	}
	free(map);
	free(stored);
	free(stream);
	return err;
}
