/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - checks a database: pages, references, sums and blobs
 */
#include "config.h"

#include "db/core/db.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/core/rows.h"
#include "db/core/set_rows.h"
#include "db/core/sql.h"
#include "db/core/tallies.h"

/* Runs SQLite's own check; each row that is not "ok" is a fault. */
static int check_pages(sqlite3 *h)
{
	sqlite3_stmt *st = NULL;
	int faults = 0, err = sql_prepare(h, "PRAGMA integrity_check(10)", &st);

	while (!err && (err = sql_step(st)) == 1) {
		err = 0;
		if (!strcmp(sql_text(st, 0), "ok"))
			continue;
		log_err("db: %s: %s", sqlite3_db_filename(h, "main"), sql_text(st, 0));
		faults++;
	}
	sqlite3_finalize(st);
	return err ? err : faults ? -CPI_ECORRUPT : 0;
}

/*
 * Runs a query that finds faults. If it returns a row, logs fault, which says what this
 * means.
 */
static int check_none(sqlite3 *h, const char *sql, const char *fault)
{
	int64_t where;
	int err = sql_get(h, &where, sql, "");

	if (err)
		return err == -ENOENT ? 0 : err;
	log_err("db: %s: %s %" PRId64, sqlite3_db_filename(h, "main"), fault, where);
	return -CPI_ECORRUPT;
}

#define LOST ROWS_SUM("l.n")

/* Checks a row of epoch, received, stored, lost. */
static int check_account(sqlite3_stmt *st, void *ctx)
{
	if (tallies_row_adds_up(st, 1))
		return 0;
	log_err("db: %s: samples received are not stored or lost in epoch %" PRId64,
		sqlite3_db_filename(ctx, "main"), (int64_t)sqlite3_column_int64(st, 0));
	return -CPI_ECORRUPT;
}

static int check_accounts(sqlite3 *h)
{
	return sql_each(h, check_account, h,
			"SELECT t.epoch, t.received, t.stored, (SELECT " LOST
			" FROM loss l WHERE l.epoch = t.epoch AND l.kind = t.kind"
			" AND l.stream = t.stream) FROM tally t",
			"");
}

static int check_sums(sqlite3 *h)
{
	static const char stored[] =
		"SELECT t.epoch FROM tally t WHERE stored != coalesce(CASE kind"
		" WHEN 0 THEN (SELECT sum(total) FROM profile p WHERE p.epoch = t.epoch"
		" AND p.stream = t.stream AND p.kind = 0 AND p.context = 0)"
		" WHEN 1 THEN (SELECT sum(total) FROM stack s"
		" JOIN context c ON c.id = s.context"
		" WHERE s.epoch = t.epoch AND s.stream = t.stream"
		" AND (c.name = '' OR c.name GLOB 'comm=*'))"
		" WHEN 2 THEN (SELECT sum(seen) FROM window_set w"
		" WHERE w.epoch = t.epoch AND w.stream = t.stream AND w.context = 0)"
		" END, 0)";
	static const char keys[] = "SELECT count(*) FROM pragma_foreign_key_check"
				   " HAVING count(*) > 0";
	static const char twice[] =
		"SELECT f.epoch FROM flush f JOIN flush g ON g.run = f.run"
		" AND g.seq < f.seq AND g.seq >= f.seq - f.merged LIMIT 1";
	int err = check_none(h, keys, "references that lead nowhere:");

	if (!err)
		err = check_none(h, twice, "flushes are stored twice, again in epoch");
	if (!err)
		err = check_none(h, stored,
				 "profiles, stacks or windows do not add up to what "
				 "was stored in epoch");
	return err ? err : check_accounts(h);
}

int db_check(struct db *db)
{
	sqlite3 *h = db_handle(db);
	int err = check_pages(h);

	if (!err)
		err = set_rows_check(h, &profile_set);
	for (size_t i = 0; !err && i < NR_SET_KINDS; i++)
		err = set_rows_check(h, set_kinds[i]);
	return err ? err : check_sums(h);
}
