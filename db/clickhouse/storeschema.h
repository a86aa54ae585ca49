/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeschema.h - creates the tables of a store, and upgrades them to the newest
 * version
 */
#ifndef CPI_DB_STORESCHEMA_H
#define CPI_DB_STORESCHEMA_H

#include "db/clickhouse/store.h"

#define STORESCHEMA_VERSION 6

/*
 * Creates the database and its tables, or upgrades an older version. It may be called
 * again at any time, also by several processes at once. *before is the version before,
 * 0 if there was none. 0; -CPI_EVERSION for a newer one; or an error of store.h. All
 * are logged.
 */
int storeschema_init(struct ch_store *s, unsigned int *before);

/*
 * Checks that the store has the version of this program. Returns 0; -ENOENT if it has
 * no tables or an older version ("cpi fleet init" creates or upgrades them);
 * -CPI_EVERSION for a newer version; logged.
 */
int storeschema_check(struct ch_store *s);

#endif
