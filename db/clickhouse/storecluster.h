/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storecluster.h - a store on all servers of a ClickHouse cluster
 *
 * Each server has a complete copy of the small tables. The rows of the other tables are
 * divided among the shards: table X is Distributed, and X_local has the rows of one
 * shard. An insert succeeds only if all replicas have the rows. So all servers give the
 * same answers, and a server that fails loses nothing. While a server is down, nothing
 * can be inserted: machines keep their epochs until then.
 */
#ifndef CPI_DB_CLICKHOUSE_STORECLUSTER_H
#define CPI_DB_CLICKHOUSE_STORECLUSTER_H

#include <stdbool.h>

#include "db/clickhouse/store.h"

/* Whether a cluster divides the rows of a table; if not, each server has all of them.
 */
bool storecluster_divides(const char *table);

/*
 * Asks whether the tables of the store are on a cluster, and tells s: inserts then wait
 * for all replicas. Returns 0, or an error of store.h, logged.
 */
int storecluster_find(struct ch_store *s);

/*
 * Checks that the server knows a cluster of this name, and that a store can be on it,
 * and tells s. Returns 0; -ENOENT or -EINVAL if not; or an error of store.h. All are
 * logged.
 */
int storecluster_choose(struct ch_store *s, const char *name);

/*
 * Reads which servers a cluster has by the configuration of the server that is asked.
 * Returns 0; -ENOENT or -EINVAL if there is no such cluster, or no store can be on it;
 * or an error of store.h. All are logged.
 */
int storecluster_shape(struct ch_store *s, const char *name, struct ch_cluster *out);

/* The number of shards, by the configuration of the server that is asked. */
int storecluster_shards(struct ch_store *s, const char *name, uint64_t *nr);

/*
 * Runs a statement that changes tables: CREATE TABLE IF NOT EXISTS, ALTER TABLE or
 * TRUNCATE TABLE, in the form of the files store_*.sql. On a cluster it changes the
 * tables of all servers. The URL must name a server of each shard for ALTER TABLE of a
 * divided table; -EINVAL if not. Returns 0, or an error of store.h. All are logged.
 */
int storecluster_exec(struct ch_store *s, const char *statement);

/* Appends the name of the table of all parts of a table, for FROM. */
void storecluster_put_parts(const struct ch_store *s, const char *table,
			    struct buf *sql);

/* The name under which a part has its table: "X" or "X_local". */
const char *storecluster_suffix(const struct ch_store *s, const char *table);

#endif
