/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daysums.h - a store's sums of whole days and hours, over all hosts
 *
 * A lot is the sums of all complete shipments that begin in a period: a day or an hour
 * of UTC. It carries their number and a hash of their addresses. A report uses a lot
 * only where the shipments that it selects of that period have the same number and
 * hash; so its figures are those of the rows, to the digit, whatever came later or
 * became void.
 *
 * A day's lot has samples by offset, by command and by procedure; an hour's, by
 * procedure alone. Hours are for days that have no lot that fits, and make the day's.
 */
#ifndef CPI_DB_CLICKHOUSE_DAYSUMS_H
#define CPI_DB_CLICKHOUSE_DAYSUMS_H

#include "base/buf.h"
#include "db/clickhouse/store.h"

/* A condition on rows of table epoch: they are complete and not void. */
#define DAYSUMS_VALID " (host, at, nr) NOT IN (SELECT host, at, nr FROM void)"

/* What a row with the address of a shipment is of: a number of days, of hours. */
#define DAYSUMS_DAY  "intDiv(toUInt32(at), 86400)"
#define DAYSUMS_HOUR "intDiv(toUInt32(at), 3600)"

/* What was made, and removed. */
struct daysums_made {
	size_t days, hours, removed; /* removed: lots that no report takes any more */
};

/*
 * Makes lots of the hours and days that ended an hour ago and have none that fits, and
 * removes those that others replaced an hour ago, or that were never completed. 0, or
 * an error of store.h, logged.
 */
int daysums_make(struct ch_store *s, struct daysums_made *made);

/* Lots that fit, as what lies between parentheses: "DAY IN ()", "(day, lot) IN ()". */
struct daysums_lots {
	struct buf periods, lots;
	size_t nr, nr_periods; /* lots; days or hours with epochs */
};

void daysums_lots_fini(struct daysums_lots *l);

/*
 * Finds the lots of the epochs that meet a condition (" WHERE …"): of days, and of
 * hours of other days if hours is not NULL. 0, or an error of store.h, logged.
 */
int daysums_find(struct ch_store *s, const char *where, struct daysums_lots *days,
		 struct daysums_lots *hours);

#endif
