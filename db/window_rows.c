/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_rows.c - one set for each (epoch, image of the starts, stream, context)
 *
 * Sets name images by the numbers that stacks have for them (stacks_store.h).
 */
#include "config.h"

#include "db/window_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "db/edge_rows.h"
#include "db/intern.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/stacks_store.h"
#include "db/tallies.h"

int window_rows_add_up(const struct flush_windows *f, uint64_t *stored)
{
	for (size_t i = 0; i < f->nr_sets; i++) {
		const struct flush_window_set *s = &f->sets[i];

		if (!tallies_have(&f->streams, s->stream))
			return -EINVAL;
		if (!*s->context)
			stored[s->stream] += windows_seen(s->windows);
	}
	for (size_t i = 0; i < f->nr_edges; i++) {
		if (!tallies_have(&f->streams, f->edges[i].stream))
			return -EINVAL;
	}
	return 0;
}

/* Adds the blob in a column to set. */
static int read_set(sqlite3_stmt *st, int column, int64_t epoch, struct windows *set)
{
	size_t size;
	const void *blob = sql_blob(st, column, &size);
	int err = windows_decode(blob, size, set);

	if (err && err != -ENOMEM) {
		log_err("db: %s: windows of epoch %" PRId64
			": %s: begin a new epoch to go on",
			sqlite3_db_filename(sqlite3_db_handle(st), "main"), epoch,
			err_str(err));
		err = -CPI_ECORRUPT;
	}
	return err;
}

struct stored {
	int64_t epoch;
	struct windows *set;
};

static int add_stored(sqlite3_stmt *st, void *ctx)
{
	const struct stored *s = ctx;

	return read_set(st, 0, s->epoch, s->set);
}

int window_rows_read(sqlite3 *h, const struct window_key *key, struct windows *set)
{
	struct stored stored = { key->epoch, set };

	return sql_each(h, add_stored, &stored,
			"SELECT windows FROM window_set WHERE epoch = ?1 AND image = ?2"
			" AND stream = ?3 AND context = ?4",
			"iiii", key->epoch, key->image, key->stream, key->context);
}

/* Adds set to a row, which may be new; its images are numbered there as map says. */
static int add_to_row(sqlite3 *h, const struct window_key *key, struct windows *set,
		      const uint32_t *map, uint32_t nr_map)
{
	static const char put[] =
		"INSERT INTO window_set (epoch, image, stream, context, seen, kept,"
		" windows) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE"
		" SET seen = excluded.seen, kept = excluded.kept,"
		" windows = excluded.windows";
	/* Not as the set before was thinned out. */
	struct windows *sum =
		windows_new(WINDOWS_LIMIT,
			    windows_seen(set) << 20 ^ key->image << 40 ^ key->epoch);
	struct buf blob = { 0 };
	int err = sum ? window_rows_read(h, key, sum) : -ENOMEM;

	if (!err)
		err = windows_merge(sum, set, map, nr_map);
	if (!err)
		err = windows_encode(sum, &blob);
	if (!err && blob.len)
		err = sql_do(h, put, "iiiiiib", key->epoch, key->image, key->stream,
			     key->context, windows_seen(sum), windows_kept(sum),
			     (const void *)blob.data, blob.len);
	buf_fini(&blob);
	windows_free(sum);
	return err;
}

/* What a flush's images and streams are called in the database. */
struct merging {
	sqlite3 *h;
	int64_t epoch;
	const struct flush_windows *f;
	sqlite3_stmt *search;
	int64_t *stream;
	uint32_t *map;
};

/* Image 0 is the unknown one. */
static int find_image(struct merging *m, const struct image_desc *desc, int64_t *id)
{
	*id = 0;
	return desc ? intern_image(m->search, desc, id) : 0;
}

static int merge_set(struct merging *m, const struct flush_window_set *s)
{
	struct window_key key = { .epoch = m->epoch, .stream = m->stream[s->stream] };
	int err = find_image(m, s->image, &key.image);

	if (!err && *s->context) /* "" is context 0 */
		err = intern_context(m->h, s->context, &key.context);
	if (!err)
		err = add_to_row(m->h, &key, s->windows, m->map, m->f->nr_images);
	return err;
}

static int merge_edges(struct merging *m, const struct flush_edges *e)
{
	struct edge_key key = { .epoch = m->epoch,
				.stream = m->stream[e->stream],
				.kind = e->kind };
	int err = find_image(m, e->image, &key.image);

	if (!err)
		err = find_image(m, e->target, &key.target);
	return err ? err : edge_rows_add(m->h, &key, e->edges);
}

int window_rows_merge(sqlite3 *h, int64_t epoch, const struct flush_windows *f,
		      sqlite3_stmt *search)
{
	struct merging m = { .h = h, .epoch = epoch, .f = f, .search = search };
	uint64_t *stored = calloc(f->streams.nr + 1, sizeof(*stored));
	int err;

	m.stream = calloc(f->streams.nr + 1, sizeof(*m.stream));
	m.map = calloc(f->nr_images + 1, sizeof(*m.map));
	err = m.stream && stored && m.map ? window_rows_add_up(f, stored) : -ENOMEM;
	if (!err)
		err = tallies_add(h, TALLIES_WINDOWS, epoch, &f->streams, stored,
				  m.stream);
	if (!err)
		err = stacks_number_all(h, epoch, f->images, f->nr_images, search,
					m.map);
	for (size_t i = 0; !err && i < f->nr_sets; i++)
		err = merge_set(&m, &f->sets[i]);
	for (size_t i = 0; !err && i < f->nr_edges; i++)
		err = merge_edges(&m, &f->edges[i]);
	free(stored);
	free(m.stream);
	free(m.map);
	return err;
}

struct row {
	struct window_key key;
	int64_t seen;
};

struct list {
	int64_t epoch;
	struct row *row;
	size_t nr;
};

static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct list *list = ctx;
	struct row *grown = rows_grow(list->row, list->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->row = grown;
	list->row[list->nr++] = (struct row){
		{ list->epoch, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
		  sqlite3_column_int64(st, 2) },
		sqlite3_column_int64(st, 3),
	};
	return 0;
}

static int list_some(sqlite3 *h, int64_t epoch, struct list *out)
{
	*out = (struct list){ .epoch = epoch };
	return sql_each(h, read_row, out,
			"SELECT image, stream, context, seen FROM window_set"
			" WHERE epoch = ?1 LIMIT 64",
			"i", epoch);
}

static int remove_row(sqlite3 *h, const struct row *row)
{
	const struct window_key *key = &row->key;
	int err = sql_do(h,
			 "DELETE FROM window_set WHERE epoch = ?1 AND image = ?2"
			 " AND stream = ?3 AND context = ?4",
			 "iiii", key->epoch, key->image, key->stream, key->context);

	if (err || key->context)
		return err;
	return tallies_take(h, TALLIES_WINDOWS, key->epoch, key->stream, row->seen);
}

/* The epoch's numbers of images become the target's. */
static int add_to(sqlite3 *h, const struct window_key *key, int64_t target)
{
	struct window_key to = *key;
	struct windows *set = windows_new(WINDOWS_LIMIT, key->epoch);
	struct stack_images im = { 0 };
	int err = set ? window_rows_read(h, key, set) : -ENOMEM;

	to.epoch = target;
	if (!err)
		err = stacks_images(h, key->epoch, &im);
	for (uint32_t i = 0; !err && i < im.nr; i++)
		err = stacks_number(h, target, im.id[i], &im.map[i]);
	if (!err)
		err = add_to_row(h, &to, set, im.map, im.nr);
	stacks_images_fini(&im);
	windows_free(set);
	return err;
}

static int move_row(sqlite3 *h, int64_t target, const struct row *row)
{
	int err = add_to(h, &row->key, target);

	if (!err && !row->key.context)
		err = tallies_give(h, TALLIES_WINDOWS, target, row->key.stream,
				   row->seen);
	return err ? err : remove_row(h, row);
}

int window_rows_move(struct slice *s, int64_t epoch, int64_t target)
{
	struct list list;
	bool moved = false;
	int err = list_some(s->h, epoch, &list);

	for (size_t i = 0; !err && i < list.nr && !(moved && slice_is_full(s)); i++) {
		err = move_row(s->h, target, &list.row[i]);
		moved |= !err;
		if (err == -CPI_ECORRUPT)
			err = 0;
	}
	free(list.row);
	return err ? err : moved;
}

int window_rows_remove(struct slice *s, int64_t epoch)
{
	struct list list;
	int err = list_some(s->h, epoch, &list);

	for (size_t i = 0; !err && i < list.nr; i++)
		err = remove_row(s->h, &list.row[i]);
	free(list.row);
	return err ? err : list.nr > 0;
}

static int check_row(sqlite3_stmt *st, void *ctx)
{
	const int64_t epoch = sqlite3_column_int64(st, 0);
	struct windows *set = windows_new(WINDOWS_LIMIT, 0);
	int err = set ? read_set(st, 3, epoch, set) : -ENOMEM;

	if (!err && (windows_seen(set) != (uint64_t)sqlite3_column_int64(st, 1) ||
		     windows_kept(set) != (uint64_t)sqlite3_column_int64(st, 2))) {
		log_err("db: %s: windows of epoch %" PRId64 " are not as many as said",
			sqlite3_db_filename(sqlite3_db_handle(st), "main"), epoch);
		err = -CPI_ECORRUPT;
	}
	windows_free(set);
	return err;
}

int window_rows_check(sqlite3 *h)
{
	return sql_each(h, check_row, NULL,
			"SELECT epoch, seen, kept, windows FROM window_set", "");
}
