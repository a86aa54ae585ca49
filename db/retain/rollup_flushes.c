/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_flushes.c - merges the flush rows of a rolled-up epoch, without loss
 *
 * Each minute has at least one flush row, and the profiles of an hour are hardly
 * larger than those of a minute. So without merging, most of an old database
 * would be flush rows.
 *
 * Consecutive flushes are merged if there is no hole in their numbers or in time.
 * Then one row covers the same time with the same sums, and a flush that is stored
 * again is still found by its number. Flushes around a step of the clock stay apart.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/retain/rollup_private.h"

/* A row of table flush, without its epoch. */
struct flush_row {
	int64_t run, seq, merged, from_ns, to_ns;
	int64_t duration_ns, received, stored, lost;
};

struct flush_rows {
	struct flush_row *row; /* by run and seq */
	size_t nr;
};

static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct flush_rows *list = ctx;
	int err = rows_check_columns(st, 0, "nnnnnnnnn");

	if (err)
		return err;
	if (GROW(list->row, list->nr))
		return -ENOMEM;
	list->row[list->nr++] = (struct flush_row){
		.run = sqlite3_column_int64(st, 0),
		.seq = sqlite3_column_int64(st, 1),
		.merged = sqlite3_column_int64(st, 2),
		.from_ns = sqlite3_column_int64(st, 3),
		.to_ns = sqlite3_column_int64(st, 4),
		.duration_ns = sqlite3_column_int64(st, 5),
		.received = sqlite3_column_int64(st, 6),
		.stored = sqlite3_column_int64(st, 7),
		.lost = sqlite3_column_int64(st, 8),
	};
	return 0;
}

/* Adds b, which follows a, to a. false: it does not follow, or a sum is too large. */
static bool append(struct flush_row *a, const struct flush_row *b)
{
	struct flush_row sum = *b;

	if (a->merged < 0 || a->seq < 0 || b->merged < 0 || b->merged >= b->seq)
		return false; /* a damaged row */
	if (a->run != b->run || b->seq - b->merged - 1 != a->seq ||
	    b->from_ns != a->to_ns || b->to_ns < b->from_ns || a->to_ns < a->from_ns)
		return false;
	if (__builtin_add_overflow(a->merged, b->merged + 1, &sum.merged) ||
	    __builtin_add_overflow(a->duration_ns, b->duration_ns, &sum.duration_ns) ||
	    __builtin_add_overflow(a->received, b->received, &sum.received) ||
	    __builtin_add_overflow(a->stored, b->stored, &sum.stored) ||
	    __builtin_add_overflow(a->lost, b->lost, &sum.lost))
		return false;
	sum.from_ns = a->from_ns;
	*a = sum;
	return true;
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

		for (next = i + 1; next < list->nr && append(&sum, &list->row[next]);)
			next++;
		if (next > i + 1)
			err = write_row(h, list->row[i].seq, &sum);
	}
	return err;
}

int rollup_merge_flushes(sqlite3 *h, int64_t epoch)
{
	static const char sql[] = "SELECT run, seq, merged, from_ns, to_ns, "
				  "duration_ns, received, stored,"
				  " lost FROM flush WHERE epoch = ?1 ORDER BY run, seq";
	struct flush_rows list = { 0 };
	int err = sql_each(h, read_row, &list, sql, "i", epoch);

	if (!err)
		err = write_merged(h, &list);
	free(list.row);
	return err;
}
