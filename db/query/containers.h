/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers.h - reads the names of containers
 */
#ifndef CPI_DB_CONTAINERS_H
#define CPI_DB_CONTAINERS_H

#include <stddef.h>

#include "db/core/db.h"

/*
 * Copies the name of the container with this id, of 64 digits; a longer name is
 * truncated to size bytes with its NUL. Returns 0, -ENOENT, -CPI_ECORRUPT (logged) or
 * SQLite's error; then name is untouched.
 */
int query_container_name(struct db *db, const char *id, char *name, size_t size);

#endif
