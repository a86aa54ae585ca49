/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.c - reads how much the epochs of a rolled-up day differed; rollup_group.c
 * writes it
 */
#include "config.h"

#include "db/query/spread.h"

#include "db/core/rows.h"

static int read_part(sqlite3_stmt *st, void *row)
{
	*(struct query_part *)row = (struct query_part){
		.epoch = sqlite3_column_int64(st, 0),
		.from_ns = sqlite3_column_int64(st, 1),
		.to_ns = sqlite3_column_int64(st, 2),
		.time = sqlite3_column_double(st, 3),
	};
	return rows_check_columns(st, 0, "nnn");
}

int query_parts(struct db *db, const struct query_epochs *e, const char *event,
		query_part_fn fn, void *ctx)
{
	static const char sql[] = "SELECT epoch, from_ns, to_ns, time FROM rolled"
				  " WHERE epoch IN (SELECT value FROM json_each(?1))"
				  " AND event = ?2 ORDER BY epoch, from_ns";
	const struct query_part *row;
	struct buf rows = { 0 };
	int err = rows_copy(db, e, event, sql, read_part, sizeof(*row), &rows);

	row = (const struct query_part *)rows.data;
	for (size_t i = 0; !err && i < rows.len / sizeof(*row); i++)
		err = fn(ctx, &row[i]);
	buf_fini(&rows);
	return err;
}

static int read_spread(sqlite3_stmt *st, void *row)
{
	*(struct query_spread *)row = (struct query_spread){
		.epoch = sqlite3_column_int64(st, 0),
		.image = sqlite3_column_int64(st, 1),
		.start = sqlite3_column_int64(st, 2),
		.size = sqlite3_column_int64(st, 3),
		.n = sqlite3_column_int64(st, 4),
		.sum = sqlite3_column_double(st, 5),
		.squares = sqlite3_column_double(st, 6),
		.cross = sqlite3_column_double(st, 7),
	};
	return rows_check_columns(st, 0, "nniin");
}

int query_spreads(struct db *db, const struct query_epochs *e, const char *event,
		  query_spread_fn fn, void *ctx)
{
	static const char sql[] =
		"SELECT epoch, image, start, size, n, sum, squares, cross FROM spread"
		" WHERE epoch IN (SELECT value FROM json_each(?1)) AND event = ?2"
		" ORDER BY epoch, image, start";
	const struct query_spread *row;
	struct buf rows = { 0 };
	int err = rows_copy(db, e, event, sql, read_spread, sizeof(*row), &rows);

	row = (const struct query_spread *)rows.data;
	for (size_t i = 0; !err && i < rows.len / sizeof(*row); i++)
		err = fn(ctx, &row[i]);
	buf_fini(&rows);
	return err;
}
