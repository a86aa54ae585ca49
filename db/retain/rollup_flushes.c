/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_flushes.c - merges the flush rows of a rolled-up epoch, without loss
 *
 * Each minute has at least one flush row, and the profiles of an hour are hardly
 * larger than those of a minute. So without merging, most of an old database
 * would be flush rows.
 * flush_rows.h says which rows may become one.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "db/core/flush_rows.h"
#include "db/core/sql.h"
#include "db/retain/rollup_private.h"

struct flush_rows {
	struct flush_row *row; /* by run and seq */
	size_t nr;
};

static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct flush_rows *list = ctx;
	struct flush_row row;
	int err = flush_row_read(st, &row);

	if (err)
		return err;
	if (GROW(list->row, list->nr))
		return -ENOMEM;
	list->row[list->nr++] = row;
	return 0;
}

/* The last of the merged rows gets their sums; the others are deleted. */
static int write_row(sqlite3 *h, int64_t first_seq, const struct flush_row *r)
{
	static const char remove[] =
		"DELETE FROM flush WHERE run = ?1 AND seq >= ?2 AND seq < ?3";
	static const char set[] =
		"UPDATE flush SET merged = ?3, from_ns = ?4, to_ns = ?5,"
		" duration_ns = ?6, received = ?7, stored = ?8, lost = ?9"
		" WHERE run = ?1 AND seq = ?2";
	int err = sql_do(h, remove, "iii", r->run, first_seq, r->seq);

	if (!err)
		err = sql_do(h, set, "iiiiiiiii", r->run, r->seq, r->merged, r->from_ns,
			     r->to_ns, r->duration_ns, r->received, r->stored, r->lost);
	return err;
}

static int write_merged(sqlite3 *h, const struct flush_rows *list)
{
	int err = 0;

	for (size_t i = 0, next; !err && i < list->nr; i = next) {
		struct flush_row sum = list->row[i];

		for (next = i + 1;
		     next < list->nr && flush_row_append(&sum, &list->row[next]);)
			next++;
		if (next > i + 1)
			err = write_row(h, list->row[i].seq, &sum);
	}
	return err;
}

int rollup_merge_flushes(sqlite3 *h, int64_t epoch)
{
	static const char sql[] = "SELECT " FLUSH_ROW_COLUMNS " FROM flush"
				  " WHERE epoch = ?1 ORDER BY run, seq";
	struct flush_rows list = { 0 };
	int err = sql_each(h, read_row, &list, sql, "i", epoch);

	if (!err)
		err = write_merged(h, &list);
	free(list.row);
	return err;
}
