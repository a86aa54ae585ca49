/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeschema.h - makes the tables of a store, and brings them to the newest version
 */
#ifndef CPI_DB_STORESCHEMA_H
#define CPI_DB_STORESCHEMA_H

#include "db/clickhouse/store.h"

#define STORESCHEMA_VERSION 5

/*
 * Makes the database and its tables, or the steps that an older one lacks. May be
 * called again at any time, also by several at once. *before is the version that was
 * there, 0 for none. 0; -CPI_EVERSION for a newer one; or an error of store.h. All are
 * logged.
 */
int storeschema_init(struct ch_store *s, unsigned int *before);

/*
 * Checks that the store has this version. 0; -ENOENT if there is none or an older one
 * ("cpi fleet init" makes it); -CPI_EVERSION for a newer one; logged.
 */
int storeschema_check(struct ch_store *s);

#endif
