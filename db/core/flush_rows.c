/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_rows.c - reads rows of table flush, and adds up neighbours
 */
#include "config.h"

#include "db/core/flush_rows.h"

#include "db/core/rows.h"

int flush_row_read(sqlite3_stmt *st, struct flush_row *out)
{
	int err = rows_check_columns(st, 0, "nnnnnnnnn");

	if (err)
		return err;
	*out = (struct flush_row){
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

static bool is_near(int64_t end_ns, int64_t begin_ns)
{
	int64_t apart;

	return !__builtin_sub_overflow(begin_ns, end_ns, &apart) &&
	       apart < FLUSH_ROWS_NEAR_NS && apart > -FLUSH_ROWS_NEAR_NS;
}

bool flush_row_append(struct flush_row *a, const struct flush_row *b)
{
	struct flush_row sum = *b;

	if (a->merged < 0 || a->seq < 0 || b->merged < 0 || b->merged >= b->seq)
		return false; /* a damaged row */
	if (a->run != b->run || b->seq - b->merged - 1 != a->seq ||
	    !is_near(a->to_ns, b->from_ns) || b->to_ns < b->from_ns ||
	    a->to_ns < a->from_ns)
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
