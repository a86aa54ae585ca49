/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daysums.h - a store's sums of whole days, over all hosts
 *
 * A lot is the sums of all complete shipments that begin in a day. It carries their
 * number and a hash of their addresses. A report uses a lot only where the shipments
 * that it selects of that day have the same number and hash; so its figures are those
 * of the rows, to the digit, whatever came later or became void.
 */
#ifndef CPI_DB_CLICKHOUSE_DAYSUMS_H
#define CPI_DB_CLICKHOUSE_DAYSUMS_H

#include "base/buf.h"
#include "db/clickhouse/store.h"

/* A condition on rows of table epoch: they are complete and not void. */
#define DAYSUMS_VALID " (host, at, nr) NOT IN (SELECT host, at, nr FROM void)"

/*
 * Makes lots of the days that ended an hour ago and have none that fits. *nr is how
 * many. 0, or an error of store.h, logged.
 */
int daysums_make(struct ch_store *s, size_t *nr);

/*
 * Of the days of the epochs that meet a condition (" WHERE …"): *nr is how many, and
 * *nr_lots how many of them have a lot that fits. Appends to days and lots what lies
 * between the parentheses of "toDate(at) IN ()" and of "(day, lot) IN ()". 0, or an
 * error of store.h, logged.
 */
int daysums_find(struct ch_store *s, const char *where, size_t *nr, size_t *nr_lots,
		 struct buf *days, struct buf *lots);

#endif
