/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - whether a database is what it should be, from pages to sums
 */
#include "config.h"

#include "db/db.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/codec.h"
#include "db/edge_rows.h"
#include "db/sql.h"
#include "db/stacks_store.h"
#include "db/window_rows.h"

/* SQLite's own checks: each row that is not "ok" is a fault. */
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

static int check_profile(sqlite3_stmt *st)
{
	struct profile *p = profile_new();
	const enum profile_kind kind = sqlite3_column_int(st, 2);
	uint64_t total;
	size_t size;
	const void *blob = sql_blob(st, 4, &size);
	int err = p ? codec_decode(blob, size, kind, p) : -ENOMEM;

	if (!err)
		err = codec_total(p, kind, &total);
	if (!err && total != (uint64_t)sqlite3_column_int64(st, 3))
		err = -CPI_ECORRUPT;
	profile_free(p);
	if (err && err != -ENOMEM) {
		log_err("db: %s: profile of image %" PRId64 " in epoch %" PRId64 ": %s",
			sqlite3_db_filename(sqlite3_db_handle(st), "main"),
			(int64_t)sqlite3_column_int64(st, 1),
			(int64_t)sqlite3_column_int64(st, 0), err_str(err));
		err = -CPI_ECORRUPT;
	}
	return err;
}

static int check_profiles(sqlite3 *h)
{
	sqlite3_stmt *st = NULL;
	int err =
		sql_prepare(h, "SELECT epoch, image, kind, total, counts FROM profile",
			    &st);

	while (!err && (err = sql_step(st)) == 1)
		err = check_profile(st);
	sqlite3_finalize(st);
	return err;
}

static int check_stack(sqlite3_stmt *st, void *ctx)
{
	sqlite3 *h = ctx;
	const int64_t key[3] = { sqlite3_column_int64(st, 0),
				 sqlite3_column_int64(st, 1),
				 sqlite3_column_int64(st, 2) };
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	int err = t ? stacks_read(h, key, t) : -ENOMEM;

	if (!err && stack_tree_total(t) != (uint64_t)sqlite3_column_int64(st, 3)) {
		log_err("db: %s: stacks of epoch %" PRId64 " do not add up",
			sqlite3_db_filename(h, "main"), key[0]);
		err = -CPI_ECORRUPT;
	}
	stack_tree_free(t);
	return err;
}

static int check_stacks(sqlite3 *h)
{
	return sql_each(h, check_stack, h,
			"SELECT epoch, stream, context, total FROM stack", "");
}

/* A query that finds faults, and what it means that a row is there. */
static int check_none(sqlite3 *h, const char *sql, const char *fault)
{
	int64_t where;
	int err = sql_get(h, &where, sql, "");

	if (err)
		return err == -ENOENT ? 0 : err;
	log_err("db: %s: %s %" PRId64, sqlite3_db_filename(h, "main"), fault, where);
	return -CPI_ECORRUPT;
}

static int check_sums(sqlite3 *h)
{
	static const char stored[] =
		"SELECT t.epoch FROM tally t WHERE stored != coalesce("
		"(SELECT sum(total) FROM profile p WHERE p.epoch = t.epoch"
		" AND p.stream = t.stream AND p.kind = 0 AND p.context = 0), 0)";
	static const char received[] =
		"SELECT t.epoch FROM tally t WHERE received - stored != coalesce("
		"(SELECT sum(n) FROM loss l WHERE l.epoch = t.epoch"
		" AND l.stream = t.stream), 0)";
	static const char stacks[] =
		"SELECT t.epoch FROM stack_tally t WHERE stored != coalesce("
		"(SELECT sum(total) FROM stack s JOIN context c ON c.id = s.context"
		" WHERE s.epoch = t.epoch AND s.stream = t.stream"
		" AND (c.name = '' OR c.name GLOB 'comm=*')), 0)"
		" OR received - stored != coalesce((SELECT sum(n) FROM stack_loss l"
		" WHERE l.epoch = t.epoch AND l.stream = t.stream), 0)";
	static const char windows[] =
		"SELECT t.epoch FROM window_tally t WHERE stored != coalesce("
		"(SELECT sum(seen) FROM window_set w WHERE w.epoch = t.epoch"
		" AND w.stream = t.stream AND w.context = 0), 0)"
		" OR received - stored != coalesce((SELECT sum(n) FROM window_loss l"
		" WHERE l.epoch = t.epoch AND l.stream = t.stream), 0)";
	static const char anchors[] =
		"SELECT e.id FROM epoch e WHERE coalesce((SELECT visits"
		" FROM anchor_tally t WHERE t.epoch = e.id), 0) != coalesce("
		"(SELECT sum(visits) FROM anchor a WHERE a.epoch = e.id), 0)"
		" + coalesce((SELECT sum(n) FROM anchor_loss l"
		" WHERE l.epoch = e.id), 0)";
	static const char keys[] = "SELECT count(*) FROM pragma_foreign_key_check"
				   " HAVING count(*) > 0";
	int err = check_none(h, keys, "references that lead nowhere:");

	if (!err)
		err = check_none(h, stored,
				 "profiles do not add up to what was stored in epoch");
	if (!err)
		err = check_none(h, received,
				 "samples received are not stored or lost in epoch");
	if (!err)
		err = check_none(h, stacks, "stacks do not add up in epoch");
	if (!err)
		err = check_none(h, windows, "windows do not add up in epoch");
	if (!err)
		err = check_none(h, anchors, "anchors do not add up in epoch");
	return err;
}

int db_check(struct db *db)
{
	sqlite3 *h = db_handle(db);
	int err = check_pages(h);

	if (!err)
		err = check_profiles(h);
	if (!err)
		err = edge_rows_check(h);
	if (!err)
		err = check_stacks(h);
	if (!err)
		err = window_rows_check(h);
	return err ? err : check_sums(h);
}
