/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/edge_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

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

	*sum = stored.sum;
	if (err || !stored.sum)
		return err;
	err = edges_merge(stored.sum, set);
	if (err && err != -ENOMEM)
		log_err("db: %s: edges of epoch %" PRId64 " and what is to be added to"
			" them: %s",
			sqlite3_db_filename(h, "main"), key->epoch, err_str(err));
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
	int64_t target;
	struct edge_key *from;
	int nr;
};

static void read_key(sqlite3_stmt *st, struct edge_key *key)
{
	key->image = sqlite3_column_int64(st, 0);
	key->target = sqlite3_column_int64(st, 1);
	key->stream = sqlite3_column_int64(st, 2);
	key->context = sqlite3_column_int64(st, 3);
	key->kind = sqlite3_column_int64(st, 4);
}

/* One that cannot be read, or added, stays where it is; half a move is an error. */
static int move_row(sqlite3_stmt *st, void *ctx)
{
	static const char delete[] =
		"DELETE FROM edge WHERE epoch = ?1 AND image = ?2 AND target = ?3"
		" AND stream = ?4 AND context = ?5 AND kind = ?6";
	struct moving *m = ctx;
	struct edge_key *from = m->from, to;
	struct edges *set = edges_new(), *sum = NULL;
	int err = set ? 0 : -ENOMEM;
	bool stays;

	m->nr++;
	read_key(st, from);
	to = *from;
	to.epoch = m->target;
	if (!err)
		err = read_edges(st, 5, from->epoch, set);
	if (!err)
		err = add_up(m->h, &to, set, &sum);
	stays = err_is_lasting(err);
	if (!err)
		err = put_row(m->h, &to, sum ? sum : set);
	if (!err)
		err = sql_do(m->h, delete, "iiiiii", from->epoch, from->image,
			     from->target, from->stream, from->context, from->kind);
	edges_free(set);
	edges_free(sum);
	return stays ? 0 : err;
}

int edge_rows_move(sqlite3 *h, int64_t epoch, int64_t target, struct edge_key *last)
{
	struct moving m = { .h = h, .target = target, .from = last };
	int err;

	if (last->epoch != epoch)
		*last = (struct edge_key){ .epoch = epoch, .image = INT64_MIN };
	err = sql_each(h, move_row, &m,
		       "SELECT image, target, stream, context, kind, edges FROM edge"
		       " WHERE epoch = ?1 AND (image, target, stream, context, kind)"
		       " > (?2, ?3, ?4, ?5, ?6)"
		       " ORDER BY image, target, stream, context, kind LIMIT 1",
		       "iiiiii", epoch, last->image, last->target, last->stream,
		       last->context, last->kind);
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
