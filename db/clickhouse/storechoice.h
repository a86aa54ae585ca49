/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storechoice.h - selects shipments of a store by host, cluster, machine type and
 * release
 */
#ifndef CPI_DB_STORECHOICE_H
#define CPI_DB_STORECHOICE_H

#include <stdbool.h>

#include "base/buf.h"
#include "db/clickhouse/store.h"

/* Globs as those of fnmatch(3) without flags; NULL does not restrict. */
struct store_choice {
	const char *host, *cluster, *release, *machine;
};

/*
 * Appends a condition on rows of table epoch: " AND …", or nothing. The store is asked
 * for the names that a glob may match. 0, or an error of store.h, logged.
 */
int store_choice_put(struct ch_store *s, const struct store_choice *c, struct buf *sql);

/* Whether anything but the host is restricted. */
bool store_choice_by_origin(const struct store_choice *c);

#endif
