/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_merge.h - checks a flush and merges it, for store_flush()
 */
#ifndef CPI_DB_FLUSH_MERGE_H
#define CPI_DB_FLUSH_MERGE_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/store/store.h"

/*
 * Checks that f keeps I1 of store.h, and that its rows refer only to its streams.
 * Returns 0, or -EINVAL (logged with the numbers and the database's path).
 */
int flush_check(const struct flush *f, const char *path);

/*
 * Adds f to an epoch. The caller has begun a write transaction. On failure the
 * caller rolls back. The stored counts of only one image are in memory at a time.
 */
int flush_merge(sqlite3 *h, int64_t run, int64_t epoch, const struct flush *f);

#endif
