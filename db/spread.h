/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.h - how much what was rolled up had varied
 *
 * A day that was 24 epochs has 24 times for each procedure, of which the merged
 * profile keeps the sum alone. So a roll-up notes, per hot procedure, n, Σ x, Σ x² and
 * Σ x T of the epochs' times x, T being all of an epoch's time of that event. From
 * these follow mean and variance of its time, and those of its share: Σ (x - p T)² = Σ
 * x² - 2 p Σ x T + p² Σ T².
 *
 * Time is samples * mean_period, streams of one event added, in the event's unit.
 */
#ifndef CPI_DB_SPREAD_H
#define CPI_DB_SPREAD_H

#include "db/query.h"

/* One of the epochs that an epoch was rolled up from. */
struct query_part {
	int64_t epoch; /* which it is in now */
	uint64_t from_ns, to_ns;
	double time; /* without that of idle CPUs */
};

/*
 * A procedure by the symbols that were captured; where there are none, a block of
 * SPREAD_BLOCK bytes of code. Those with less than SPREAD_LEAST of the epoch's time
 * are left out.
 */
struct query_spread {
	int64_t epoch, image;
	uint64_t start, size; /* image offsets */
	uint64_t n;           /* epochs, also those in which it has no samples */
	double sum, squares, cross;
};

#define SPREAD_BLOCK 4096
#define SPREAD_LEAST 0.001

/*
 * fn for each part, or procedure, of the selected epochs, ascending; event is an
 * event's name. Rows are copied first: fn may take its time. 0, fn's non-zero return,
 * -errno or -CPI_E….
 */
typedef int (*query_part_fn)(void *ctx, const struct query_part *row);
int query_parts(struct db *db, const struct query_epochs *e, const char *event,
		query_part_fn fn, void *ctx);

typedef int (*query_spread_fn)(void *ctx, const struct query_spread *row);
int query_spreads(struct db *db, const struct query_epochs *e, const char *event,
		  query_spread_fn fn, void *ctx);

#endif
