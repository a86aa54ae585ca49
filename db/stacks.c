/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.c - the trees that a selection names, added up and taken apart again
 *
 * Rows are listed first; then a (stream, context) at a time is in memory, with all its
 * epochs, and nobody's write has to wait for the caller's function.
 */
#include "config.h"

#include "db/stacks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "db/image_list.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/stacks_store.h"

/* More than a stored tree may have: several epochs are added up. */
#define MAX_NODES (4 * STACK_MAX_NODES)

/* A row of table stack. */
struct row {
	int64_t epoch, stream, context;
	size_t name; /* the context's, in names */
};

struct reader {
	sqlite3 *h;
	const struct query_selection *sel;
	query_stack_fn fn;
	void *ctx;
	struct row *row; /* by stream and context */
	size_t nr;
	struct buf names;
	struct image_list images; /* of all epochs: numbers in sums */
	const struct row *at;     /* what is handed out */
	struct query_frame frames[STACK_MAX_FRAMES];
};

/* By default each stack once, so as store_flush() is given them. */
static bool context_matches(const struct query_selection *sel, const char *name)
{
	const char *value;

	if (!sel->context)
		return !*name || context_value(name, CONTEXT_COMM);
	value = context_value(name, sel->kind);
	return value && !fnmatch(sel->context, value, 0);
}

/* epoch, stream, context, its name */
static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct reader *r = ctx;
	const char *name = sql_text(st, 3);
	struct row *grown;

	if (!context_matches(r->sel, name))
		return 0;
	grown = rows_grow(r->row, r->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->row = grown;
	r->row[r->nr++] = (struct row){
		sqlite3_column_int64(st, 0),
		sqlite3_column_int64(st, 1),
		sqlite3_column_int64(st, 2),
		r->names.len,
	};
	buf_put(&r->names, name, strlen(name) + 1);
	return r->names.err;
}

static int list(struct reader *r, const char *epochs)
{
	static const char rows[] =
		"SELECT k.epoch, k.stream, k.context, c.name FROM stack k"
		" JOIN stream s ON s.id = k.stream JOIN context c ON c.id = k.context"
		" WHERE k.epoch IN (SELECT value FROM json_each(?1))"
		" AND (?2 IS NULL OR s.event = ?2)"
		" ORDER BY " ROWS_STREAM_ORDER ", c.name, k.epoch";
	int err = sql_each(r->h, read_row, r, rows, "ss", epochs, r->sel->event);

	return err ? err : image_list_read(r->h, epochs, &r->images);
}

static int hand_out(void *ctx, const struct stack_frame *frames, size_t nr,
		    enum stack_mark mark, uint64_t n)
{
	struct reader *r = ctx;
	const struct query_stack row = {
		.stream = r->at->stream,
		.context = r->names.data + r->at->name,
		.mark = mark,
		.frames = r->frames,
		.nr_frames = nr,
		.n = n,
	};

	if (!rows_image_matches(r->sel,
				nr ? r->images.image[frames[0].image].desc.name : ""))
		return 0;
	for (size_t i = 0; i < nr; i++)
		r->frames[i] = (struct query_frame){ &r->images.image[frames[i].image],
						     frames[i].offset };
	return r->fn(r->ctx, &row);
}

/* The images are asked for when the tree was read: they are at least the tree's. */
static int add_row(struct reader *r, const struct row *row, struct stack_tree *sum)
{
	const int64_t key[3] = { row->epoch, row->stream, row->context };
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	struct stack_images im = { 0 };
	int err = t ? stacks_read(r->h, key, t) : -ENOMEM;

	if (!err)
		err = image_list_map(&r->images, row->epoch, &im);
	if (!err)
		err = stack_tree_merge(sum, t, im.map, im.nr);
	stacks_images_fini(&im);
	stack_tree_free(t);
	return err;
}

/* Rows of one stream and context. */
static int hand_out_rows(struct reader *r, const struct row *row, size_t nr)
{
	struct stack_tree *sum = stack_tree_new(MAX_NODES);
	int err = sum ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = add_row(r, &row[i], sum);
	r->at = row;
	if (!err)
		err = stack_tree_each(sum, hand_out, r);
	stack_tree_free(sum);
	return err;
}

static int hand_out_all(struct reader *r)
{
	size_t nr;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr; i += nr) {
		const struct row *row = &r->row[i];

		for (nr = 1; i + nr < r->nr && row[nr].stream == row->stream &&
			     row[nr].context == row->context;)
			nr++;
		err = hand_out_rows(r, row, nr);
	}
	return err;
}

int query_stacks(struct db *db, const struct query_selection *sel, query_stack_fn fn,
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
		err = hand_out_all(&r);
	if (!err)
		err = rows_check_whole(r.h, epochs.data);
	image_list_fini(&r.images);
	free(r.row);
	buf_fini(&r.names);
	buf_fini(&epochs);
	return err;
}
