/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_edges.c - the edges of a selection, merged over its epochs
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "db/db.h"
#include "db/query.h"
#include "db/rows.h"
#include "db/sql.h"

#define TARGET_COLUMNS                                                            \
	"t.id, t.kind, t.name, t.build_id, t.content, t.device, t.inode, t.size," \
	" t.mtime_ns"
#define TARGET_ORDER                                                        \
	"t.name, t.kind, t.build_id, t.content, t.device, t.inode, t.size," \
	" t.mtime_ns, t.id"

/* The columns of a row, in order. */
enum { STREAM, KIND, EDGES, IMAGE, TARGET = IMAGE + 9 };

struct gathering {
	struct query_edges row; /* edges NULL: there is none yet */
	query_edges_fn fn;
	void *ctx;
};

static void forget(struct gathering *g)
{
	edges_free(g->row.edges);
	rows_image_fini(&g->row.image);
	rows_image_fini(&g->row.target);
	memset(&g->row, 0, sizeof(g->row));
}

static int hand_out(struct gathering *g)
{
	int err = g->row.edges ? g->fn(g->ctx, &g->row) : 0;

	forget(g);
	return err;
}

static bool same_row(const struct query_edges *row, sqlite3_stmt *st)
{
	return row->edges && row->stream == sqlite3_column_int64(st, STREAM) &&
	       (int)row->kind == sqlite3_column_int(st, KIND) &&
	       row->image.id == sqlite3_column_int64(st, IMAGE) &&
	       row->target.id == sqlite3_column_int64(st, TARGET);
}

static int begin_row(struct query_edges *row, sqlite3_stmt *st)
{
	int err;

	row->stream = sqlite3_column_int64(st, STREAM);
	row->kind = sqlite3_column_int(st, KIND);
	row->edges = edges_new();
	err = row->edges ? rows_image(st, IMAGE, &row->image) : -ENOMEM;
	return err ? err : rows_image(st, TARGET, &row->target);
}

static int take_row(sqlite3_stmt *st, void *ctx)
{
	struct gathering *g = ctx;
	const void *blob;
	size_t size;
	int err = 0;

	if (!same_row(&g->row, st)) {
		err = hand_out(g);
		if (!err)
			err = begin_row(&g->row, st);
	}
	if (err)
		return err;
	blob = sql_blob(st, EDGES, &size);
	return edges_decode(blob, size, g->row.edges);
}

int query_edges(struct db *db, const struct query_selection *sel, int64_t image,
		query_edges_fn fn, void *ctx)
{
	static const char sql[] =
		"SELECT e.stream, e.kind, e.edges, " ROWS_IMAGE_COLUMNS
		", " TARGET_COLUMNS " FROM edge e JOIN image i ON i.id = e.image"
		" JOIN image t ON t.id = e.target JOIN stream s ON s.id = e.stream"
		" WHERE e.epoch IN (SELECT value FROM json_each(?1)) AND e.context = 0"
		" AND (?2 IS NULL OR s.event = ?2)"
		" AND (?3 = 0 OR (e.image = ?3 AND e.target = ?3))"
		" ORDER BY " ROWS_IMAGE_ORDER ", " TARGET_ORDER ", " ROWS_STREAM_ORDER
		", e.stream, e.kind";
	struct gathering g = { .fn = fn, .ctx = ctx };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(sel->epochs, &ids);

	if (!err)
		err = sql_each(db_handle(db), take_row, &g, sql, "ssi", ids.data,
			       sel->event, image);
	if (!err)
		err = hand_out(&g);
	forget(&g);
	buf_fini(&ids);
	return err;
}
