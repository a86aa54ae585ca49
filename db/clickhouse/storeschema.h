/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeschema.h - creates the tables of a store, and upgrades them to the newest
 * version
 */
#ifndef CPI_DB_STORESCHEMA_H
#define CPI_DB_STORESCHEMA_H

#include "db/clickhouse/store.h"

#define STORESCHEMA_VERSION 10

/*
 * Creates the database and its tables, or upgrades an older version. If cluster is not
 * NULL, they are on all servers of that cluster (storecluster.h). It may be called
 * again at any time, also by several processes at once. *before is the version before,
 * 0 if there was none. Servers that were added to the cluster get the tables, and
 * *added is their number (storegrow.h). 0; -CPI_EVERSION for a newer one; -EEXIST if
 * the tables are somewhere else; or an error of store.h or storecluster_choose(). All
 * are logged.
 */
int storeschema_init(struct ch_store *s, const char *cluster, unsigned int *before,
		     uint64_t *added);

/*
 * Checks that the store has the version of this program, and finds out whether it is on
 * a cluster. Returns 0; -ENOENT if it has no tables or an older version ("cpi fleet
 * init" creates or upgrades them); -CPI_EVERSION for a newer version; logged.
 */
int storeschema_check(struct ch_store *s);

#endif
