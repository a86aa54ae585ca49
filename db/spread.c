/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.c - reads what roll-ups noted; rollup_group.c writes it
 */
#include "config.h"

#include "db/spread.h"

#include <errno.h>
#include <stdlib.h>

#include "db/rows.h"
#include "db/sql.h"

struct parts {
	struct query_part *part;
	size_t nr;
};

struct spreads {
	struct query_spread *spread;
	size_t nr;
};

static int read_part(sqlite3_stmt *st, void *ctx)
{
	struct parts *list = ctx;
	struct query_part *grown = rows_grow(list->part, list->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->part = grown;
	list->part[list->nr++] = (struct query_part){
		.epoch = sqlite3_column_int64(st, 0),
		.from_ns = sqlite3_column_int64(st, 1),
		.to_ns = sqlite3_column_int64(st, 2),
		.time = sqlite3_column_double(st, 3),
	};
	return 0;
}

int query_parts(struct db *db, const struct query_epochs *e, const char *event,
		query_part_fn fn, void *ctx)
{
	static const char sql[] = "SELECT epoch, from_ns, to_ns, time FROM rolled"
				  " WHERE epoch IN (SELECT value FROM json_each(?1))"
				  " AND event = ?2 ORDER BY epoch, from_ns";
	struct parts list = { 0 };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = sql_each(db_handle(db), read_part, &list, sql, "ss", ids.data,
			       event);
	for (size_t i = 0; !err && i < list.nr; i++)
		err = fn(ctx, &list.part[i]);
	free(list.part);
	buf_fini(&ids);
	return err;
}

static int read_spread(sqlite3_stmt *st, void *ctx)
{
	struct spreads *list = ctx;
	struct query_spread *grown = rows_grow(list->spread, list->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->spread = grown;
	list->spread[list->nr++] = (struct query_spread){
		.epoch = sqlite3_column_int64(st, 0),
		.image = sqlite3_column_int64(st, 1),
		.start = sqlite3_column_int64(st, 2),
		.size = sqlite3_column_int64(st, 3),
		.n = sqlite3_column_int64(st, 4),
		.sum = sqlite3_column_double(st, 5),
		.squares = sqlite3_column_double(st, 6),
		.cross = sqlite3_column_double(st, 7),
	};
	return 0;
}

int query_spreads(struct db *db, const struct query_epochs *e, const char *event,
		  query_spread_fn fn, void *ctx)
{
	static const char sql[] =
		"SELECT epoch, image, start, size, n, sum, squares, cross FROM spread"
		" WHERE epoch IN (SELECT value FROM json_each(?1)) AND event = ?2"
		" ORDER BY epoch, image, start";
	struct spreads list = { 0 };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = sql_each(db_handle(db), read_spread, &list, sql, "ss", ids.data,
			       event);
	for (size_t i = 0; !err && i < list.nr; i++)
		err = fn(ctx, &list.spread[i]);
	free(list.spread);
	buf_fini(&ids);
	return err;
}
