/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/edge_rows.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/log.h"
#include "db/sql.h"

/* Adds the blob in a column to set. */
static int read_edges(sqlite3_stmt *st, int column, int64_t epoch, struct edges *set)
{
	size_t size;
	const void *blob = sql_blob(st, column, &size);
	int err = edges_decode(blob, size, set);

	if (err && err != -ENOMEM)
		log_err("db: %s: edges of epoch %" PRId64 ": %s",
			sqlite3_db_filename(sqlite3_db_handle(st), "main"), epoch,
			err_str(err));
	return err;
}

struct stored {
	int64_t epoch;
	struct edges *sum; /* NULL: there is no row */
};

static int read_stored(sqlite3_stmt *st, void *ctx)
{
	struct stored *s = ctx;

	if (!s->sum)
		s->sum = edges_new();
	return s->sum ? read_edges(st, 0, s->epoch, s->sum) : -ENOMEM;
}

/*
 * What a row has and set, in *sum, which stays NULL when there is none. The caller
 * frees it in any case.
 */
static int add_up(sqlite3 *h, const struct edge_key *key, struct edges *set,
		  struct edges **sum)
{
	static const char find[] =
		"SELECT edges FROM edge WHERE epoch = ?1 AND image = ?2"
		" AND target = ?3 AND stream = ?4 AND context = ?5 AND kind = ?6";
	struct stored stored = { .epoch = key->epoch };
	int err =
		sql_each(h, read_stored, &stored, find, "iiiiii", key->epoch,
			 key->image, key->target, key->stream, key->context, key->kind);

	if (!err && stored.sum)
		err = edges_merge(stored.sum, set);
	*sum = stored.sum;
	return err;
}

static int put_row(sqlite3 *h, const struct edge_key *key, struct edges *set)
{
	static const char put[] =
		"INSERT INTO edge (epoch, image, target, stream, context, kind, total,"
		" edges) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE"
		" SET total = excluded.total, edges = excluded.edges";
	struct buf blob = { 0 };
	int err = edges_encode(set, &blob);

	if (!err && blob.len)
		err = sql_do(h, put, "iiiiiiib", key->epoch, key->image, key->target,
			     key->stream, key->context, key->kind, edges_total(set),
			     (const void *)blob.data, blob.len);
	buf_fini(&blob);
	return err;
}

int edge_rows_add(sqlite3 *h, const struct edge_key *key, struct edges *set)
{
	struct edges *sum = NULL;
	int err = add_up(h, key, set, &sum);

	if (!err)
		err = put_row(h, key, sum ? sum : set);
	edges_free(sum);
	return err;
}

/* A row that is on its way. */
struct moving {
	sqlite3 *h;
	int64_t epoch, target;
	int nr;
};

static struct edge_key read_key(sqlite3_stmt *st, int64_t epoch)
{
	return (struct edge_key){
		.epoch = epoch,
		.image = sqlite3_column_int64(st, 0),
		.target = sqlite3_column_int64(st, 1),
		.stream = sqlite3_column_int64(st, 2),
		.context = sqlite3_column_int64(st, 3),
		.kind = sqlite3_column_int64(st, 4),
	};
}

static int move_row(sqlite3_stmt *st, void *ctx)
{
	static const char delete[] =
		"DELETE FROM edge WHERE epoch = ?1 AND image = ?2 AND target = ?3"
		" AND stream = ?4 AND context = ?5 AND kind = ?6";
	struct moving *m = ctx;
	struct edge_key key = read_key(st, m->target);
	struct edges *set = edges_new();
	int err = set ? read_edges(st, 5, m->epoch, set) : -ENOMEM;

	if (!err)
		err = edge_rows_add(m->h, &key, set);
	if (!err)
		err = sql_do(m->h, delete, "iiiiii", m->epoch, key.image, key.target,
			     key.stream, key.context, key.kind);
	edges_free(set);
	m->nr++;
	return err;
}

int edge_rows_move(sqlite3 *h, int64_t epoch, int64_t target)
{
	struct moving m = { .h = h, .epoch = epoch, .target = target };
	int err =
		sql_each(h, move_row, &m,
			 "SELECT image, target, stream, context, kind, edges FROM edge"
			 " WHERE epoch = ?1 LIMIT 1",
			 "i", epoch);

	return err ? err : m.nr;
}

static int check_row(sqlite3_stmt *st, void *ctx)
{
	const int64_t epoch = sqlite3_column_int64(st, 0);
	struct edges *set = edges_new();
	int err = set ? read_edges(st, 2, epoch, set) : -ENOMEM;

	if (!err && edges_total(set) != (uint64_t)sqlite3_column_int64(st, 1)) {
		log_err("db: %s: edges of epoch %" PRId64 ": their total is another",
			sqlite3_db_filename(sqlite3_db_handle(st), "main"), epoch);
		err = -CPI_ECORRUPT;
	}
	edges_free(set);
	return err && err != -ENOMEM ? -CPI_ECORRUPT : err;
}

int edge_rows_check(sqlite3 *h)
{
	return sql_each(h, check_row, NULL, "SELECT epoch, total, edges FROM edge", "");
}
