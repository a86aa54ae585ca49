/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush.h - what store_flush() does inside its transaction
 */
#ifndef CPI_DB_FLUSH_H
#define CPI_DB_FLUSH_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/store.h"

/*
 * Whether f keeps store.h's I1 and names streams that exist: 0, or -EINVAL, which is
 * logged with the numbers and the database's path.
 */
int flush_check(const struct flush *f, const char *path);

/*
 * Adds f to an epoch. In a write transaction, which the caller rolls back on
 * failure. Holds one image's counts at a time.
 */
int flush_merge(sqlite3 *h, int64_t run, int64_t epoch, const struct flush *f);

#endif
