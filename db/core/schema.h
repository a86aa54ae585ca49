/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema.h - the version of a database, and migration to the current one
 *
 * PRAGMA application_id identifies CPI's files; user_version is the version. A database
 * is migrated by applying the missing steps in order.
 */
#ifndef CPI_DB_SCHEMA_H
#define CPI_DB_SCHEMA_H

#include <sqlite3.h>

#define SCHEMA_APPLICATION_ID 0x43504931 /* "CPI1" */

/* step[i] is the SQL that takes a database from version i to version i + 1. */
struct schema {
	const char *const *step;
	int version; /* number of steps */
};

extern const struct schema schema_current;

/*
 * Gets the version of an attached database, "main" or another; 0 for an empty one. Does
 * not change it. Returns 0, -CPI_EFORMAT for another program's database, -CPI_EVERSION
 * for a newer version, -CPI_ECORRUPT for an impossible one (all logged), or SQLite's
 * error.
 */
int schema_version(sqlite3 *h, const char *name, const struct schema *schema,
		   int *version);

/*
 * Migrates a database to the schema's version in one transaction. If two processes do
 * this at once, the second one has nothing left to do.
 */
int schema_migrate(sqlite3 *h, const struct schema *schema);

/*
 * Creates temporary views, so that a read-only connection to an older version sees the
 * newest version's tables. The file does not change. Returns -CPI_EFORMAT if the
 * version is too old for this.
 */
int schema_read_older(sqlite3 *h, int version);

#endif
