/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - epochs in a file of their own
 */
#ifndef CPI_DB_EXPORT_H
#define CPI_DB_EXPORT_H

#include <stdbool.h>

#include "db/query.h"

/*
 * Writes the epochs of db, with all that tells of them, to a new database (0640)
 * at path, which is there whole or not at all. Their ids stay. -EEXIST where there
 * is something, unless force replaces a regular file; -ENODEV for what is none.
 * Errors are logged.
 */
int export_epochs(struct db *db, const struct query_epochs *e, const char *path,
		  bool force);

#endif
