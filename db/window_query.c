/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_query.c - the windows of a selection, merged over its epochs
 *
 * As stacks.c: rows are listed first, and those of one image and stream are in memory.
 */
#include "config.h"

#include "db/window_query.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "db/image_list.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/window_rows.h"

struct reader {
	sqlite3 *h;
	const struct query_selection *sel;
	query_windows_fn fn;
	void *ctx;
	struct window_key *row; /* by image and stream */
	size_t nr;
	struct query_image image; /* of the rows that are handed out */
	struct image_list images; /* of all epochs: numbers in sums */
};

static bool context_matches(const struct query_selection *sel, const char *name)
{
	const char *value;

	if (!sel->context)
		return !*name;
	value = context_value(name, sel->kind);
	return value && !fnmatch(sel->context, value, 0);
}

/* epoch, image, stream, context, the context's name, the image's name */
static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct reader *r = ctx;
	struct window_key *grown;

	if (!context_matches(r->sel, sql_text(st, 4)) ||
	    !rows_image_matches(r->sel, sql_text(st, 5)))
		return 0;
	grown = rows_grow(r->row, r->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->row = grown;
	r->row[r->nr++] = (struct window_key){
		sqlite3_column_int64(st, 0),
		sqlite3_column_int64(st, 1),
		sqlite3_column_int64(st, 2),
		sqlite3_column_int64(st, 3),
	};
	return 0;
}

static int list(struct reader *r, const char *epochs)
{
	static const char sql[] =
		"SELECT w.epoch, w.image, w.stream, w.context, c.name, i.name"
		" FROM window_set w JOIN stream s ON s.id = w.stream"
		" JOIN context c ON c.id = w.context JOIN image i ON i.id = w.image"
		" WHERE w.epoch IN (SELECT value FROM json_each(?1))"
		" AND (?2 IS NULL OR s.event = ?2)"
		" ORDER BY " ROWS_IMAGE_ORDER ", " ROWS_STREAM_ORDER
		", w.stream, w.epoch, c.name";

	return sql_each(r->h, read_row, r, sql, "ss", epochs, r->sel->event);
}

static int add_row(struct reader *r, const struct window_key *key, struct windows *sum)
{
	struct windows *set = windows_new(WINDOWS_LIMIT, 0);
	struct stack_images im = { 0 };
	int err = set ? window_rows_read(r->h, key, set) : -ENOMEM;

	if (!err)
		err = image_list_map(&r->images, key->epoch, &im);
	if (!err)
		err = windows_merge(sum, set, im.map, im.nr);
	stacks_images_fini(&im);
	windows_free(set);
	return err;
}

static int read_start(sqlite3_stmt *st, void *ctx)
{
	struct reader *r = ctx;

	return rows_image(st, 0, &r->image);
}

/* Rows of one image and stream. */
static int hand_out(struct reader *r, const struct window_key *key, size_t nr)
{
	static const char sql[] =
		"SELECT " ROWS_IMAGE_COLUMNS " FROM image i WHERE i.id = ?1";
	struct windows *sum = windows_new(WINDOWS_LIMIT, key->image);
	int err = sum ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = add_row(r, &key[i], sum);
	if (!err)
		err = sql_each(r->h, read_start, r, sql, "i", key->image);
	if (!err) {
		const struct query_windows row = { &r->image, key->stream, sum,
						   r->images.image, r->images.nr };

		err = r->fn(r->ctx, &row);
	}
	rows_image_fini(&r->image);
	memset(&r->image, 0, sizeof(r->image));
	windows_free(sum);
	return err;
}

static int hand_out_all(struct reader *r)
{
	size_t nr;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr; i += nr) {
		const struct window_key *key = &r->row[i];

		for (nr = 1; i + nr < r->nr && key[nr].image == key->image &&
			     key[nr].stream == key->stream;)
			nr++;
		err = hand_out(r, key, nr);
	}
	return err;
}

int query_windows(struct db *db, const struct query_selection *sel, query_windows_fn fn,
		  void *ctx)
{
	struct reader r = { .h = db_handle(db), .sel = sel, .fn = fn, .ctx = ctx };
	struct buf epochs = { 0 };
	int err = rows_epoch_ids(sel->epochs, &epochs);

	if (!err)
		err = rows_check_whole(r.h, epochs.data);
	if (!err)
		err = list(&r, epochs.data);
	if (!err)
		err = image_list_read(r.h, epochs.data, &r.images);
	if (!err)
		err = hand_out_all(&r);
	if (!err)
		err = rows_check_whole(r.h, epochs.data);
	image_list_fini(&r.images);
	free(r.row);
	buf_fini(&epochs);
	return err;
}
