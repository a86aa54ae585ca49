/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placesums.h - sums of an hour by procedure
 */
#ifndef CPI_DB_CLICKHOUSE_PLACESUMS_H
#define CPI_DB_CLICKHOUSE_PLACESUMS_H

#include "db/clickhouse/store.h"

/*
 * Adds up the samples of the complete shipments of an hour by the captured symbols that
 * the store has now. Inserts the sums as rows of a lot in hour_place. within is a
 * condition on the column at, " at >= …". Code that no symbol covers keeps its offsets,
 * so symbols that are captured later still apply to it. Exception: if a symbol is
 * captured later and lies inside a known one, as an alias may, its samples stay with
 * the known one. Returns 0, -CPI_ELIMIT for more than 2^25 places, or an error of
 * store.h; both are logged.
 */
int placesums_make(struct ch_store *s, uint64_t hour, uint64_t lot, const char *within);

#endif
