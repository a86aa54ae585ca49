/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_rows.h - rows of table flush, and which of them may become one
 *
 * Flushes that follow each other without a hole, in their numbers and in time, are
 * described by one row as well: it covers the same time with the same sums, and each
 * flush is still found by its number. Flushes around a step of the clock stay apart.
 *
 * One flush ends where the next one begins, but each converts that moment to the time
 * of day by itself. So both times may differ by less than FLUSH_ROWS_NEAR_NS.
 */
#ifndef CPI_DB_FLUSH_ROWS_H
#define CPI_DB_FLUSH_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define FLUSH_ROWS_NEAR_NS 1000000

/* A row, without its epoch. Its flushes are seq - merged to seq. */
struct flush_row {
	int64_t run, seq, merged, from_ns, to_ns;
	int64_t duration_ns, received, stored, lost;
};

/* The columns that flush_row_read() takes, in this order. */
#define FLUSH_ROW_COLUMNS \
	"run, seq, merged, from_ns, to_ns, duration_ns, received, stored, lost"

/* 0, or -CPI_ECORRUPT (logged). */
int flush_row_read(sqlite3_stmt *st, struct flush_row *out);

/*
 * Adds b to a if b follows a. false, and a is unchanged, if it does not, if a row is
 * damaged, or if a sum is too large.
 */
bool flush_row_append(struct flush_row *a, const struct flush_row *b);

#endif
