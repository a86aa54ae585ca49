/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema.h - which version a database has, and how it gets to ours
 *
 * PRAGMA application_id says that a file is CPI's, user_version which version
 * it has. A version is reached by the steps before it, in order.
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
 * The version of an attached database, "main" or another, which is only read: 0 for an
 * empty one. Returns 0, -CPI_EFORMAT for another program's, -CPI_EVERSION for a newer
 * one, -CPI_ECORRUPT for an impossible one (all logged), or what SQLite reports.
 */
int schema_version(sqlite3 *h, const char *name, const struct schema *schema,
		   int *version);

/*
 * Migrates a database to the schema's version in one transaction. If two processes do
 * so at once, the second finds nothing left to do.
 */
int schema_migrate(sqlite3 *h, const struct schema *schema);

/*
 * Gives a connection that only reads an older version temporary views with the newest
 * version's tables. The file does not change. -CPI_EFORMAT if it is too old for that.
 */
int schema_read_older(sqlite3 *h, int version);

#endif
