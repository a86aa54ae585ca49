/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storegrow.h - servers that were added to the cluster of a store
 *
 * Rows that are there stay on their shards, and new ones are divided among all shards.
 * Reports ask all shards, so it does not matter on which one a row is.
 */
#ifndef CPI_DB_CLICKHOUSE_STOREGROW_H
#define CPI_DB_CLICKHOUSE_STOREGROW_H

#include "db/clickhouse/store.h"

/*
 * If the cluster of a store has servers without its tables, makes the tables there, and
 * waits until these servers have a copy of all small tables. *added is the number of
 * such servers; 0: there are none, or the store is not on a cluster. The URL must name
 * all servers, and each must know all of them. If it does not, and less than a shard
 * has no tables, these may be servers that do not come back: that is only a warning.
 * It may be called again after any failure. Returns 0; -EINVAL if the URL or a server's
 * configuration is not as it must be; -EEXIST if a server has other tables; -ETIMEDOUT
 * if a server does not get the copies; or an error of store.h. All are logged.
 */
int storegrow_find(struct ch_store *s, uint64_t *added);

#endif
