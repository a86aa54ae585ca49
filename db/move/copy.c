/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy.c - attaches the source, and finds which of its epochs the target has
 *
 * Epochs are compared by their flushes, because ids differ and roll-ups move flushes.
 */
#include "config.h"

#include "db/move/copy.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "db/core/schema_check.h"
#include "db/core/sql.h"

static const char *const maps[] = {
	"CREATE TEMP TABLE copy_epoch (src INTEGER PRIMARY KEY, dst INTEGER)",
	"CREATE TEMP TABLE copy_platform (src INTEGER PRIMARY KEY, dst INTEGER)",
	"CREATE TEMP TABLE copy_run (src INTEGER PRIMARY KEY, dst INTEGER)",
	"CREATE TEMP TABLE copy_stream (src INTEGER PRIMARY KEY, dst INTEGER)",
	"CREATE TEMP TABLE copy_context (src INTEGER PRIMARY KEY, dst INTEGER)",
	"CREATE TEMP TABLE copy_image (src INTEGER PRIMARY KEY, dst INTEGER)",
	"CREATE TEMP TABLE copy_version (v INTEGER)",
	("CREATE TEMP TABLE copy_chunk (id INTEGER PRIMARY KEY, name TEXT, key TEXT,"
	 " image INTEGER, low INTEGER, high INTEGER)"),
};

/* Drops the maps, and detaches the source. */
static int forget_source(sqlite3 *h)
{
	return sql_exec(h, "DROP TABLE IF EXISTS temp.copy_epoch;"
			   "DROP TABLE IF EXISTS temp.copy_platform;"
			   "DROP TABLE IF EXISTS temp.copy_run;"
			   "DROP TABLE IF EXISTS temp.copy_stream;"
			   "DROP TABLE IF EXISTS temp.copy_context;"
			   "DROP TABLE IF EXISTS temp.copy_image;"
			   "DROP TABLE IF EXISTS temp.copy_version;"
			   "DROP TABLE IF EXISTS temp.copy_chunk;"
			   "DETACH src");
}

int copy_open(sqlite3 *h, const char *path)
{
	struct buf uri = { 0 }, why = { 0 };
	int version;
	int err = sql_put_uri(&uri, path, "mode=ro");

	if (!err)
		err = sql_do(h, "ATTACH ?1 AS src", "s", uri.data);
	buf_fini(&uri);
	if (err)
		return err;
	err = schema_version(h, "src", &schema_current, &version);
	if (!err && version < schema_current.version) {
		log_err("db: %s: an older version: start this version's cpid on it "
			"once",
			path);
		err = -CPI_EFORMAT;
	}
	if (!err)
		err = schema_check(h, "src", &schema_current, version, &why);
	if (err == -CPI_ECORRUPT && why.len)
		log_err("db: %s: %s: %s", path, err_str(err), buf_str(&why));
	buf_fini(&why);
	for (size_t i = 0; !err && i < sizeof(maps) / sizeof(maps[0]); i++)
		err = sql_exec(h, maps[i]);
	if (err) {
		log_err("db: %s: cannot be copied from: %s", path, err_str(err));
		copy_close(h);
	}
	return err;
}

void copy_close(sqlite3 *h)
{
	sql_rollback(h);
	forget_source(h);
}

/* Finds the target's copy of a source epoch's run; -ENOENT if there is none. */
static int find_run(sqlite3 *h, int64_t src, int64_t *run)
{
	static const char sql[] =
		"SELECT dr.id FROM src.epoch e JOIN src.run r ON r.id = e.run"
		" JOIN src.platform s ON s.id = r.platform JOIN main.platform d"
		" USING (boot_id, host, arch, cpu, release, clock_hz, nr_cpus)"
		" JOIN main.run dr ON dr.platform = d.id AND dr.from_ns = r.from_ns"
		" WHERE e.id = ?1";

	return sql_get(h, run, sql, "i", src);
}

/* One row can stand for several flushes: db/retain/rollup_flushes.c. */
#define NR_FLUSHES "coalesce(sum(merged + 1), 0)"

/* Numbers of flushes. */
struct flushes {
	int64_t nr;     /* of the source's epoch */
	int64_t found;  /* of these, in the target */
	int64_t in_dst; /* of these, in the target's epoch dst */
};

static int count_flushes(sqlite3 *h, int64_t src, int64_t run, int64_t dst,
			 struct flushes *f)
{
	static const char nr[] =
		"SELECT " NR_FLUSHES " FROM src.flush WHERE epoch = ?1";
	static const char found[] = /* what two rows have in common */
		"SELECT coalesce(sum(min(s.seq, d.seq) + 1"
		" - max(s.seq - s.merged, d.seq - d.merged)), 0)"
		" FROM src.flush s JOIN main.flush d ON d.run = ?2"
		" AND d.seq >= s.seq - s.merged AND d.seq - d.merged <= s.seq"
		" WHERE s.epoch = ?1 AND (?3 IS NULL OR d.epoch = ?3)";
	int err = sql_get(h, &f->nr, nr, "i", src);

	f->in_dst = 0;
	if (!err)
		err = sql_get(h, &f->found, found, "ii", src, run);
	if (!err && dst)
		err = sql_get(h, &f->in_dst, found, "iii", src, run, dst);
	return err;
}

/* Whether the target's epoch has only these flushes, and no process adds others. */
static int is_finished(sqlite3 *h, int64_t dst, int64_t nr, bool *finished)
{
	static const char sql[] =
		"SELECT NOT e.open AND r.state != 0 AND ?2 = (SELECT " NR_FLUSHES
		" FROM main.flush WHERE epoch = ?1) AND NOT EXISTS (SELECT 1"
		" FROM main.roll WHERE epoch = ?1 OR target = ?1)"
		" FROM main.epoch e JOIN main.run r ON r.id = e.run WHERE e.id = ?1";
	int64_t yes;
	int err = sql_get(h, &yes, sql, "ii", dst, nr);

	if (!err)
		*finished = yes;
	return err;
}

int copy_compare(sqlite3 *h, int64_t src, enum copy_state *state, int64_t *dst)
{
	static const char twin[] =
		"SELECT d.id FROM src.epoch s JOIN main.epoch d"
		" ON d.run = ?2 AND d.from_ns = s.from_ns WHERE s.id = ?1";
	struct flushes f = { 0 };
	int64_t run, found = 0;
	bool grown = false;
	int err = find_run(h, src, &run);

	if (!err) {
		err = sql_get(h, &found, twin, "ii", src, run);
		if (!err || err == -ENOENT)
			err = count_flushes(h, src, run, found, &f);
		if (!err && found && f.found < f.nr && f.found == f.in_dst)
			err = is_finished(h, found, f.found, &grown);
	}
	if (err && err != -ENOENT)
		return err;
	if (f.found == f.nr && (f.nr || found))
		*state = COPY_KNOWN;
	else if (!f.found && !found)
		*state = COPY_NEW;
	else
		*state = grown ? COPY_GROWN : COPY_CONFLICT;
	*dst = found;
	return 0;
}

int copy_choose(sqlite3 *h, int64_t src, int64_t dst)
{
	return sql_do(
		h, "INSERT OR REPLACE INTO temp.copy_epoch (src, dst) VALUES (?1, ?2)",
		"ii", src, dst);
}

int copy_forget(sqlite3 *h)
{
	return sql_exec(h, "DELETE FROM temp.copy_epoch;"
			   "DELETE FROM temp.copy_platform;"
			   "DELETE FROM temp.copy_run;"
			   "DELETE FROM temp.copy_stream;"
			   "DELETE FROM temp.copy_context;"
			   "DELETE FROM temp.copy_image;"
			   "DELETE FROM temp.copy_version;"
			   "DELETE FROM temp.copy_chunk");
}
