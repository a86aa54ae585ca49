/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema_check.h - checks that a file has exactly the tables that CPI makes
 *
 * A query executes code in the file's schema: generated columns, views and expressions
 * of indexes. So a schema that differs from ours in more than blanks and comments is
 * refused as damaged, even if SQLite accepts it.
 */
#ifndef CPI_DB_SCHEMA_CHECK_H
#define CPI_DB_SCHEMA_CHECK_H

#include <sqlite3.h>

#include "base/buf.h"
#include "db/core/schema.h"

/*
 * Compares the schema of an attached database, "main" or another, with that of a
 * version. Tables of later versions may also exist. Returns 0, -CPI_ECORRUPT, -ENOMEM,
 * or SQLite's error. For -CPI_ECORRUPT appends the difference to *why, and what to do.
 */
int schema_check(sqlite3 *h, const char *name, const struct schema *schema, int version,
		 struct buf *why);

#endif
