/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema.c - the version of a database, and migration to the current one
 *
 * The steps are the .sql files beside this one, which the build turns into strings. A
 * new database runs all of them; an older one runs those that it lacks.
 */
#include "config.h"

#include "db/core/schema.h"

#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "db/core/schema_sql.h"
#include "db/core/sql.h"

static const char *const steps[] = {
	schema_sql,   schema_2_sql, schema_3_sql, schema_4_sql, schema_5_sql,
	schema_6_sql, schema_7_sql, schema_8_sql, schema_9_sql,
};

const struct schema schema_current = {
	.step = steps,
	.version = sizeof(steps) / sizeof(steps[0]),
};

int schema_read_older(sqlite3 *h, int version)
{
	static const struct {
		int version;
		const char *views;
	} step[] = { { 3, schema_read_3_sql },
		     { 4, schema_read_4_sql },
		     { 5, schema_read_5_sql },
		     { 6, schema_read_6_sql },
		     { 8, schema_read_8_sql } };
	int err = version < step[0].version ? -CPI_EFORMAT : 0;

	for (size_t i = 0; !err && i < sizeof(step) / sizeof(step[0]); i++) {
		if (version <= step[i].version)
			err = sql_exec(h, step[i].views);
	}
	return err;
}

/* Reads a number from an attached database. */
static int get_number(sqlite3 *h, const char *statement, const char *name,
		      const char *item, int64_t *out)
{
	char text[128];

	snprintf(text, sizeof(text), "%s %s.%s", statement, name, item);
	return sql_get(h, out, text, "");
}

int schema_version(sqlite3 *h, const char *name, const struct schema *schema,
		   int *version)
{
	const char *path = sqlite3_db_filename(h, name);
	int64_t application, user, tables;
	int err;

	err = get_number(h, "PRAGMA", name, "application_id", &application);
	if (!err)
		err = get_number(h, "PRAGMA", name, "user_version", &user);
	if (!err)
		err = get_number(h, "SELECT count(*) FROM", name, "sqlite_schema",
				 &tables);
	if (err)
		return err;
	if (application != SCHEMA_APPLICATION_ID && (application || user || tables)) {
		log_err("db: %s: an SQLite database of another program: name another "
			"file",
			path);
		return -CPI_EFORMAT;
	}
	if (user > schema->version) {
		log_err("db: %s: has version %d, this program knows %d: use a newer "
			"CPI",
			path, (int)user, schema->version);
		return -CPI_EVERSION;
	}
	if (user < 0 || (application && !user)) {
		log_err("db: %s: has no valid version: restore it or name another file",
			path);
		return -CPI_ECORRUPT;
	}
	*version = user;
	return 0;
}

static int run_steps(sqlite3 *h, const struct schema *schema)
{
	char mark[128];
	int version, err;

	err = schema_version(h, "main", schema, &version);
	if (err || version == schema->version)
		return err;
	if (version)
		log_info("db: %s: migrating from version %d to %d",
			 sqlite3_db_filename(h, "main"), version, schema->version);
	for (int i = version; i < schema->version; i++) {
		err = sql_exec(h, schema->step[i]);
		if (err)
			return err;
	}
	snprintf(mark, sizeof(mark),
		 "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 SCHEMA_APPLICATION_ID, schema->version);
	return sql_exec(h, mark);
}

int schema_migrate(sqlite3 *h, const struct schema *schema)
{
	int err = sql_exec(h, "BEGIN IMMEDIATE");

	if (!err)
		err = run_steps(h, schema);
	if (!err)
		err = sql_exec(h, "COMMIT");
	if (err)
		sql_rollback(h);
	return err;
}
