/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daysums.h - a store's sums of whole days and hours, over all hosts
 *
 * A lot is the sums of all complete shipments that begin in one period: a day or an
 * hour of UTC. It contains the number of shipments and a hash of their addresses. A
 * report uses a lot only if the shipments that it selects in this period have the same
 * number and the same hash. So its figures are exactly those of the rows, also if
 * shipments arrived later or became void.
 *
 * The lot of a day has samples by offset, by command and by procedure; the lot of an
 * hour has samples by procedure only. Lots of hours are used if the day has no valid
 * lot, and to make the lot of the day.
 */
#ifndef CPI_DB_CLICKHOUSE_DAYSUMS_H
#define CPI_DB_CLICKHOUSE_DAYSUMS_H

#include "base/buf.h"
#include "db/clickhouse/store.h"

/* A condition on rows of table epoch: they are complete and not void. */
#define DAYSUMS_VALID " (host, at, nr) NOT IN (SELECT host, at, nr FROM void)"

/*
 * The period of a row that has a shipment's address: its number of days, or hours,
 * since 1970.
 */
#define DAYSUMS_DAY  "intDiv(toUInt32(at), 86400)"
#define DAYSUMS_HOUR "intDiv(toUInt32(at), 3600)"

/*
 * Calls fn for each hour, counted since 1970, for which daysums_make() would make a
 * lot. Ends if fn returns non-zero, and returns that; else 0, or an error of store.h,
 * logged.
 */
int daysums_each_due(struct ch_store *s, int (*fn)(void *ctx, uint64_t hour),
		     void *ctx);

/* How many lots were made and removed. */
struct daysums_made {
	size_t days, hours, removed; /* removed: lots that no report uses any more */
};

/*
 * Makes lots for hours and days that ended at least an hour ago and have no valid lot.
 * Skips an hour with too many places (placesums.h), and its day. Lots that were
 * replaced at least an hour ago, and the hours of a day whose newest lot is a day old,
 * are not found any more. Removes the rows of lots of that kind, once these are a day
 * old and an earlier run did that, and of lots that were never completed. Returns 0, or
 * an error of store.h, logged.
 */
int daysums_make(struct ch_store *s, struct daysums_made *made);

/*
 * Valid lots, as texts for the parentheses of the conditions "DAY IN ()" and "(day,
 * lot) IN ()".
 */
struct daysums_lots {
	struct buf periods, lots;
	size_t nr, nr_periods; /* number of lots; number of days or hours with epochs */
};

void daysums_lots_fini(struct daysums_lots *l);

/*
 * Finds the valid lots for the epochs that meet a condition (" WHERE …"): lots of days,
 * and, if hours is not NULL, lots of hours of the other days. Returns 0, or an error of
 * store.h, logged.
 */
int daysums_find(struct ch_store *s, const char *where, struct daysums_lots *days,
		 struct daysums_lots *hours);

#endif
