/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.h - reads how much the epochs of a rolled-up day differed
 *
 * In a day of 24 epochs each procedure had 24 values of its time, and the merged
 * profile has only their sum. So a roll-up stores n, Σ x, Σ x² and Σ x T for each hot
 * procedure, where x is its time in an epoch and T the total time of that event in the
 * epoch. These give the mean and variance of its time, and of its share p:
 *
 *	Σ (x - p T)² = Σ x² - 2 p Σ x T + p² Σ T²
 *
 * Time is samples * mean_period in the event's unit, added over the event's streams.
 */
#ifndef CPI_DB_SPREAD_H
#define CPI_DB_SPREAD_H

#include "db/core/db.h"
#include "db/profile/selection.h"

/* One of the epochs from which an epoch was rolled up. */
struct query_part {
	int64_t epoch; /* the epoch that contains it now */
	uint64_t from_ns, to_ns;
	double time; /* without the time of idle CPUs */
};

/*
 * A procedure, according to captured symbols. Code without symbols is divided into
 * blocks of ROLLUP_SPREAD_BLOCK bytes. Procedures with less than ROLLUP_SPREAD_LEAST of
 * the epoch's time are not stored (rollup.h).
 */
struct query_spread {
	int64_t epoch, image;
	uint64_t start, size; /* image offsets */
	uint64_t n; /* number of epochs, including those without its samples */
	double sum, squares, cross;
};

/*
 * Call fn for each part, or each procedure, of the selected epochs, in ascending order;
 * event is an event's name. Rows are copied before the first call. They return 0, fn's
 * non-zero return, -errno or -CPI_E….
 */
typedef int (*query_part_fn)(void *ctx, const struct query_part *row);
int query_parts(struct db *db, const struct query_epochs *e, const char *event,
		query_part_fn fn, void *ctx);

typedef int (*query_spread_fn)(void *ctx, const struct query_spread *row);
int query_spreads(struct db *db, const struct query_epochs *e, const char *event,
		  query_spread_fn fn, void *ctx);

#endif
