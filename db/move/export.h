/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - epochs in a file of their own
 */
#ifndef CPI_DB_EXPORT_H
#define CPI_DB_EXPORT_H

#include <stdbool.h>

#include "db/core/db.h"
#include "db/profile/selection.h"

/*
 * Writes epochs of db and everything that they refer to into a new database (0640),
 * which appears at path when it is complete. Ids stay the same. -EEXIST if path exists,
 * unless force replaces a regular file; -ENODEV if it is not a regular file; -EINVAL if
 * it is db itself; -EBUSY if there is a -wal file with content for path. Errors are
 * logged.
 */
int export_epochs(struct db *db, const struct query_epochs *e, const char *path,
		  bool force);

#endif
