/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storekeep.h - removes days that a store no longer keeps
 *
 * A day is a partition of each table, so that removing it costs little, on every
 * version. Table epoch loses it first: the other rows then no longer count. Table
 * attempt loses it last: until then no shipper takes an address whose rows may be
 * there. cpi-ship does not send epochs that are older than the store keeps, so a
 * removed day stays empty.
 */
#ifndef CPI_DB_CLICKHOUSE_STOREKEEP_H
#define CPI_DB_CLICKHOUSE_STOREKEEP_H

#include <stddef.h>

#include "db/clickhouse/storesettings.h"

/*
 * Removes the days that ended more than a day before what the store keeps; cpi-ship may
 * still be sending epochs of the day between. Adds their number to *nr. Returns 0, or
 * an error of store.h, logged.
 */
int store_keep(struct ch_store *s, const struct store_settings *settings, size_t *nr);

#endif
