/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - stores runs, epochs, flushes, gaps, marks and names of containers
 *
 * Each change is one transaction, and struct store has only committed values. run.to_ns
 * and epoch.to_ns are updated with each flush, so that the end of a run that died is
 * known.
 */
#include "config.h"

#include "db/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "db/core/intern.h"
#include "db/core/sql.h"
#include "db/store/flush_merge.h"

struct store {
	struct db *db;
	sqlite3 *handle; /* of db */
	int64_t run;
	int64_t epoch; /* 0 before the first epoch */
	int patience_ms;
	_Atomic uint64_t gap_ns; /* when the last gap was found; 0: none */
};

/* Stores a gap of the run's machine. */
static int put_gap(sqlite3 *h, int64_t run, uint64_t from_ns, uint64_t to_ns,
		   const char *reason)
{
	return sql_do(h,
		      "INSERT INTO gap (from_ns, to_ns, reason, host)"
		      " SELECT ?2, ?3, ?4, p.host FROM run r"
		      " JOIN platform p ON p.id = r.platform WHERE r.id = ?1",
		      "iiis", run, from_ns, to_ns, reason);
}

/* Gets the end of the last gap of the run's machine; 0 if it has none. */
static int find_gap(sqlite3 *h, int64_t run, uint64_t now_ns, uint64_t *out)
{
	static const char sql[] = "SELECT g.to_ns FROM gap g WHERE g.to_ns <= ?2"
				  " AND g.host = (SELECT p.host FROM run r"
				  " JOIN platform p ON p.id = r.platform"
				  " WHERE r.id = ?1) ORDER BY g.to_ns DESC LIMIT 1";
	int64_t to_ns = 0;
	int err = sql_get(h, &to_ns, sql, "ii", run, now_ns);

	if (err && err != -ENOENT)
		return err;
	*out = (uint64_t)to_ns;
	return 0;
}

/*
 * If a run never ended, its collector died, and the time after its newest flush is a
 * gap. Stores this gap, and sets *found_ns.
 */
static int bury_dead_run(sqlite3 *h, uint64_t now_ns, uint64_t *found_ns)
{
	int64_t run, to_ns;
	int err = sql_get(h, &run,
			  "SELECT id FROM run WHERE state = 0"
			  " ORDER BY to_ns DESC LIMIT 1",
			  "");

	if (err)
		return err == -ENOENT ? 0 : err;
	err = sql_get(h, &to_ns, "SELECT to_ns FROM run WHERE id = ?1", "i", run);
	if (!err && (uint64_t)to_ns <= now_ns)
		err = put_gap(h, run, to_ns, now_ns, "the collector died");
	else if (!err)
		err = put_gap(h, run, to_ns, to_ns,
			      "the collector died and the clock stepped back");
	if (!err)
		err = sql_exec(h, "UPDATE run SET state = 2 WHERE state = 0");
	if (!err)
		*found_ns = now_ns;
	return err;
}

static int begin_run(struct store *s, const struct platform_desc *platform,
		     uint64_t now_ns)
{
	static const char add[] = "INSERT INTO run (platform, from_ns, to_ns, state)"
				  " VALUES (?1, ?2, ?2, 0)";
	uint64_t gap_ns = 0;
	int64_t id;
	int err = intern_platform(s->handle, platform, &id);

	if (!err)
		err = bury_dead_run(s->handle, now_ns, &gap_ns);
	if (!err)
		err = sql_exec(s->handle, "UPDATE epoch SET open = 0 WHERE open");
	if (!err)
		err = sql_do(s->handle, add, "ii", id, now_ns);
	if (!err)
		s->run = sqlite3_last_insert_rowid(s->handle);
	if (!err && !gap_ns)
		err = find_gap(s->handle, s->run, now_ns, &gap_ns);
	if (!err)
		s->gap_ns = gap_ns;
	return err;
}

int store_begin(struct db *db, const struct platform_desc *platform, uint64_t now_ns,
		struct store **out)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->db = db;
	s->handle = db_handle(db);
	s->patience_ms = SQL_BUSY_TIMEOUT_MS;
	err = sql_begin(s->handle);
	if (!err)
		err = sql_finish(s->handle, begin_run(s, platform, now_ns));
	if (err) {
		store_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void store_move(struct store *s, struct db *db)
{
	s->db = db;
	s->handle = db_handle(db);
	sql_set_patience(s->handle, s->patience_ms);
}

void store_set_patience(struct store *s, bool is_short)
{
	s->patience_ms = is_short ? SQL_SHORT_PATIENCE_MS : SQL_BUSY_TIMEOUT_MS;
	sql_set_patience(s->handle, s->patience_ms);
}

static int end_epoch(struct store *s, uint64_t now_ns)
{
	return sql_do(s->handle,
		      "UPDATE epoch SET open = 0, to_ns = max(to_ns, ?2) WHERE id = ?1",
		      "ii", s->epoch, now_ns);
}

int store_epoch(struct store *s, uint64_t now_ns, uint32_t uncertainty_ms,
		const char *label)
{
	static const char add[] =
		"INSERT INTO epoch (run, label, from_ns, to_ns, open, uncertainty_ms)"
		" VALUES (?1, ?2, ?3, ?3, 1, ?4)";
	int64_t epoch = 0;
	int err = sql_begin(s->handle);

	if (err)
		return err;
	err = end_epoch(s, now_ns);
	if (!err)
		err = sql_do(s->handle, add, "isii", s->run, label ? label : "", now_ns,
			     (int64_t)uncertainty_ms);
	if (!err)
		epoch = sqlite3_last_insert_rowid(s->handle);
	err = sql_finish(s->handle, err);
	if (!err)
		s->epoch = epoch;
	return err;
}

static int flush_once(struct store *s, const struct flush *f)
{
	static const char find[] = /* a roll-up may have merged it into the next row */
		"SELECT 1 WHERE ?2 >= (SELECT seq - merged FROM flush"
		" WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1)";
	int64_t found;
	int err = sql_get(s->handle, &found, find, "ii", s->run, f->seq);

	if (err != -ENOENT)
		return err;
	err = flush_merge(s->handle, s->run, s->epoch, f);
	if (!err && f->to_ns < f->from_ns)
		err = put_gap(s->handle, s->run, f->from_ns, f->from_ns,
			      "the clock stepped back");
	return err;
}

int store_flush(struct store *s, const struct flush *f)
{
	int err;

	if (!s->epoch || !f->seq)
		return -EINVAL;
	err = flush_check(f, db_path(s->db));
	if (err)
		return err;
	err = sql_begin(s->handle);
	if (!err)
		err = sql_finish(s->handle, flush_once(s, f));
	if (err)
		return err;
	if (f->to_ns < f->from_ns)
		s->gap_ns = f->to_ns;
	sql_checkpoint(s->handle, s->patience_ms);
	return 0;
}

uint64_t store_last_gap_ns(const struct store *s)
{
	return s->gap_ns;
}

int store_end(struct store *s, uint64_t now_ns)
{
	int err = sql_begin(s->handle);

	if (!err) {
		err = end_epoch(s, now_ns);
		if (!err)
			err = sql_do(s->handle,
				     "UPDATE run SET state = 1, to_ns = max(to_ns, ?2)"
				     " WHERE id = ?1",
				     "ii", s->run, now_ns);
		err = sql_finish(s->handle, err);
	}
	if (!err)
		sql_checkpoint(s->handle, s->patience_ms);
	store_free(s);
	return err;
}

void store_free(struct store *s)
{
	free(s);
}

int store_newest(struct db *db, uint64_t min_ns, uint64_t max_ns, uint64_t *out)
{
	int64_t ns;
	int err = sql_get(db_handle(db), &ns,
			  "SELECT max(to_ns) FROM flush WHERE to_ns BETWEEN ?1 AND ?2",
			  "ii", min_ns, max_ns);

	if (err && err != -ENOENT)
		return err;
	*out = err ? min_ns : (uint64_t)ns;
	return 0;
}

int store_clock_rate(struct db *db, const struct platform_desc *p, uint64_t *out)
{
	int64_t hz;
	int err = sql_get(db_handle(db), &hz,
			  "SELECT max(clock_hz) FROM platform WHERE boot_id = ?1"
			  " AND host = ?2 AND arch = ?3 AND cpu = ?4",
			  "ssss", p->boot_id, p->host, p->arch, p->cpu);

	if (err && err != -ENOENT)
		return err;
	*out = err ? 0 : (uint64_t)hz;
	return 0;
}

bool store_mark_is_valid(const char *text)
{
	return *text && strlen(text) < STORE_MARK_TEXT && text_is_clean(text);
}

static int add_mark(sqlite3 *h, uint64_t at_ns, const char *host, const char *text)
{
	static const char add[] = "INSERT OR IGNORE INTO mark (host, at_ns, text)"
				  " VALUES (?1, ?2, ?3)";
	static const char bound[] =
		"DELETE FROM mark WHERE host = ?1 AND at_ns < (SELECT at_ns FROM mark"
		" WHERE host = ?1 ORDER BY at_ns DESC LIMIT 1 OFFSET ?2)";
	int err = sql_begin(h);

	if (err)
		return err;
	err = sql_do(h, add, "sis", host, at_ns, text);
	if (!err)
		err = sql_do(h, bound, "si", host, (int64_t)STORE_MAX_MARKS - 1);
	return sql_finish(h, err);
}

static int copy_host(sqlite3_stmt *st, void *ctx)
{
	struct buf *host = ctx;

	buf_puts(host, sql_text(st, 0));
	return host->err;
}

int store_mark(struct store *s, uint64_t at_ns, const char *text)
{
	static const char of_run[] = "SELECT p.host FROM run r JOIN platform p"
				     " ON p.id = r.platform WHERE r.id = ?1";
	struct buf host = { 0 };
	int err = sql_each(s->handle, copy_host, &host, of_run, "i", s->run);

	if (!err)
		err = add_mark(s->handle, at_ns, buf_str(&host), text);
	buf_fini(&host);
	return err;
}

int store_mark_newest(struct db *db, uint64_t at_ns, const char *text, const char *host)
{
	static const char newest[] =
		"SELECT p.host FROM epoch e JOIN run r ON r.id = e.run"
		" JOIN platform p ON p.id = r.platform"
		" ORDER BY e.from_ns DESC, e.id DESC LIMIT 1";
	struct buf found = { 0 };
	int err = sql_each(db_handle(db), copy_host, &found, newest, "");

	if (!err)
		err = add_mark(db_handle(db), at_ns, found.len ? buf_str(&found) : host,
			       text);
	buf_fini(&found);
	return err;
}

static int add_container(sqlite3 *h, const struct store_container *c)
{
	static const char sql[] =
		"INSERT INTO container (id, name, seen_ns) VALUES (?1, ?2, ?3)"
		" ON CONFLICT DO UPDATE SET name = ?2, seen_ns = ?3";

	return sql_do(h, sql, "ssi", c->id, c->name, c->at_ns);
}

int store_containers(struct store *s, const struct store_container *c, size_t nr)
{
	static const char bound[] =
		"DELETE FROM container WHERE id IN (SELECT id FROM container"
		" ORDER BY seen_ns DESC LIMIT -1 OFFSET ?1)";
	int err = sql_begin(s->handle);

	if (err)
		return err;
	for (size_t i = 0; !err && i < nr; i++)
		err = add_container(s->handle, &c[i]);
	if (!err)
		err = sql_do(s->handle, bound, "i", (int64_t)STORE_MAX_CONTAINERS);
	return sql_finish(s->handle, err);
}

int store_label_epoch(struct db *db, int64_t epoch, const char *label)
{
	int err = sql_do(db_handle(db), "UPDATE epoch SET label = ?2 WHERE id = ?1",
			 "is", epoch, label);

	if (!err && !sqlite3_changes(db_handle(db)))
		err = -ENOENT;
	return err;
}
