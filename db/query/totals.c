/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * totals.c - reads streams, losses, gaps and intervals
 */
#include "config.h"

#include "db/query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/core/tallies.h"

static void stream_fini(struct query_stream *s)
{
	free((char *)s->desc.event);
	free((char *)s->desc.source);
	free((char *)s->desc.cpu_type);
	free((char *)s->desc.unit);
}

static int read_stream(sqlite3_stmt *st, void *ctx)
{
	struct query_streams *list = ctx;
	struct query_stream s = {
		.id = sqlite3_column_int64(st, 0),
		.desc = { .event = strdup(sql_text(st, 1)),
			  .source = strdup(sql_text(st, 2)),
			  .cpu_type = strdup(sql_text(st, 3)),
			  .unit = strdup(sql_text(st, 4)),
			  .mean_period = sqlite3_column_int64(st, 5),
			  .landing = sqlite3_column_int(st, 6) },
		.received = sqlite3_column_int64(st, 7),
		.stored = sqlite3_column_int64(st, 8),
		.not_delivered = sqlite3_column_int64(st, 9),
		.enabled_ns = sqlite3_column_int64(st, 10),
		.running_ns = sqlite3_column_int64(st, 11),
		.throttled = sqlite3_column_int64(st, 12),
	};
	int err = rows_check_columns(st, 0, "nttttnnnninnn");

	if (!err && (GROW(list->stream, list->nr) || !s.desc.event || !s.desc.source ||
		     !s.desc.cpu_type || !s.desc.unit))
		err = -ENOMEM;
	if (err) {
		stream_fini(&s);
		return err;
	}
	list->stream[list->nr++] = s;
	return 0;
}

#define RECEIVED   ROWS_SUM_AS("received")
#define STORED     ROWS_SUM_AS("stored")
#define ENABLED_NS ROWS_SUM_AS("enabled_ns")
#define RUNNING_NS ROWS_SUM_AS("running_ns")
#define THROTTLED  ROWS_SUM_AS("throttled")
#define LOST       ROWS_SUM_AS("n")

static const char streams_sql[] =
	"SELECT s.id, s.event, s.source, s.cpu_type, s.unit, s.mean_period,"
	" s.landing, " RECEIVED ", " STORED ", sum(t.not_delivered), " ENABLED_NS
	", " RUNNING_NS ", " THROTTLED " FROM tally t JOIN stream s ON s.id = t.stream"
	" WHERE t.epoch IN (SELECT value FROM json_each(?1)) AND t.kind = ?3"
	" AND (?2 IS NULL OR s.event = ?2) GROUP BY s.id ORDER BY " ROWS_STREAM_ORDER;

/* Checks a row of received, stored and lost of a stream. */
static int check_sum(sqlite3_stmt *st, void *ctx)
{
	return tallies_row_adds_up(st, 0) ? 0 : -CPI_ECORRUPT;
}

/*
 * Checks received = stored + losses for each stream, over all the epochs together,
 * because retention moves samples between epochs. Returns -EAGAIN if retention is
 * working on some of these epochs.
 */
static int check_sums(sqlite3 *h, enum tally_kind kind, const char *epochs)
{
	static const char sums[] =
		"SELECT received, stored, (SELECT " LOST
		" FROM loss l WHERE epoch IN (SELECT value FROM json_each(?1))"
		" AND l.kind = ?2 AND l.stream = sums.stream)"
		" FROM (SELECT stream, " RECEIVED ", " STORED
		" FROM tally WHERE epoch IN (SELECT value FROM json_each(?1))"
		" AND kind = ?2 GROUP BY stream) sums";
	int err = sql_each(h, check_sum, NULL, sums, "si", epochs, (int64_t)kind);

	if (err != -CPI_ECORRUPT)
		return err;
	err = rows_check_whole(h, epochs);
	if (err)
		return err;
	log_err("db: %s: %s: samples received are not stored or lost: restore a copy",
		sqlite3_db_filename(h, "main"), err_str(-CPI_ECORRUPT));
	return -CPI_ECORRUPT;
}

int query_streams_of(struct db *db, enum tally_kind kind, const struct query_epochs *e,
		     const char *event, struct query_streams *out)
{
	struct query_streams list = { 0 };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = sql_each(db_handle(db), read_stream, &list, streams_sql, "ssi",
			       ids.data, event, (int64_t)kind);
	if (!err)
		err = check_sums(db_handle(db), kind, ids.data);
	buf_fini(&ids);
	if (err)
		query_streams_fini(&list);
	else
		*out = list;
	return err;
}

int query_streams(struct db *db, const struct query_epochs *e, const char *event,
		  struct query_streams *out)
{
	return query_streams_of(db, TALLY_SAMPLES, e, event, out);
}

void query_streams_fini(struct query_streams *s)
{
	for (size_t i = 0; i < s->nr; i++)
		stream_fini(&s->stream[i]);
	free(s->stream);
	memset(s, 0, sizeof(*s));
}

const struct query_stream *query_stream_by_id(const struct query_streams *s, int64_t id)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (s->stream[i].id == id)
			return &s->stream[i];
	}
	return NULL;
}

static int read_loss(sqlite3_stmt *st, void *ctx)
{
	struct query_losses *list = ctx;
	struct query_loss l = {
		.stream = sqlite3_column_int64(st, 0),
		.class = sqlite3_column_int(st, 1),
		.name = strdup(sql_text(st, 2)),
		.n = sqlite3_column_int64(st, 3),
	};
	int err = rows_check_columns(st, 0, "nntn");

	if (!err && (GROW(list->loss, list->nr) || !l.name))
		err = -ENOMEM;
	if (err) {
		free(l.name);
		return err;
	}
	list->loss[list->nr++] = l;
	return 0;
}

int query_losses_of(struct db *db, enum tally_kind kind, const struct query_epochs *e,
		    struct query_losses *out)
{
	static const char sql[] =
		"SELECT l.stream, l.class, l.name, " LOST
		" FROM loss l JOIN stream s ON s.id = l.stream"
		" WHERE l.epoch IN (SELECT value FROM json_each(?1)) AND l.kind = ?2"
		" GROUP BY l.stream, l.class, l.name ORDER BY " ROWS_STREAM_ORDER
		", l.class, l.name";
	struct query_losses list = { 0 };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = sql_each(db_handle(db), read_loss, &list, sql, "si", ids.data,
			       (int64_t)kind);
	buf_fini(&ids);
	if (err)
		query_losses_fini(&list);
	else
		*out = list;
	return err;
}

int query_losses(struct db *db, const struct query_epochs *e, struct query_losses *out)
{
	return query_losses_of(db, TALLY_SAMPLES, e, out);
}

void query_losses_fini(struct query_losses *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->loss[i].name);
	free(l->loss);
	memset(l, 0, sizeof(*l));
}

static int read_gap(sqlite3_stmt *st, void *ctx)
{
	struct query_gaps *list = ctx;
	struct query_gap g = {
		.from_ns = sqlite3_column_int64(st, 0),
		.to_ns = sqlite3_column_int64(st, 1),
		.reason = strdup(sql_text(st, 2)),
		.host = strdup(sql_text(st, 3)),
	};
	int err = rows_check_columns(st, 0, "nntt");

	if (!err && (GROW(list->gap, list->nr) || !g.reason || !g.host))
		err = -ENOMEM;
	if (err) {
		free(g.reason);
		free(g.host);
		return err;
	}
	list->gap[list->nr++] = g;
	return 0;
}

/*
 * Reads gaps that overlap the interval; a gap without length is inside if its begin is.
 * ids: the epochs whose machines count, or NULL for all.
 */
static int find_gaps(struct db *db, uint64_t from_ns, uint64_t to_ns, const char *ids,
		     struct query_gaps *out)
{
	static const char sql[] =
		"SELECT from_ns, to_ns, reason, host FROM gap WHERE from_ns < ?2"
		" AND (to_ns > ?1 OR from_ns >= ?1) AND (?3 IS NULL OR host IN"
		" (SELECT p.host FROM epoch e JOIN run r ON r.id = e.run"
		" JOIN platform p ON p.id = r.platform"
		" WHERE e.id IN (SELECT value FROM json_each(?3))))"
		" ORDER BY from_ns, id";
	struct query_gaps list = { 0 };
	int err;

	if (to_ns > INT64_MAX)
		to_ns = INT64_MAX;
	err = sql_each(db_handle(db), read_gap, &list, sql, "iis", from_ns, to_ns, ids);
	if (err)
		query_gaps_fini(&list);
	else
		*out = list;
	return err;
}

int query_gaps(struct db *db, uint64_t from_ns, uint64_t to_ns, struct query_gaps *out)
{
	return find_gaps(db, from_ns, to_ns, NULL, out);
}

int query_gaps_of(struct db *db, const struct query_epochs *e, struct query_gaps *out)
{
	uint64_t from_ns = UINT64_MAX, to_ns = 0;
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	for (size_t i = 0; i < e->nr; i++) {
		from_ns = e->epoch[i].from_ns < from_ns ? e->epoch[i].from_ns : from_ns;
		to_ns = e->epoch[i].to_ns > to_ns ? e->epoch[i].to_ns : to_ns;
	}
	if (!err)
		err = find_gaps(db, from_ns, to_ns, ids.data, out);
	buf_fini(&ids);
	return err;
}

void query_gaps_fini(struct query_gaps *g)
{
	for (size_t i = 0; i < g->nr; i++) {
		free(g->gap[i].reason);
		free(g->gap[i].host);
	}
	free(g->gap);
	memset(g, 0, sizeof(*g));
}

static int read_interval(sqlite3_stmt *st, void *row)
{
	*(struct query_interval *)row = (struct query_interval){
		.run = sqlite3_column_int64(st, 0),
		.seq = sqlite3_column_int64(st, 1),
		.epoch = sqlite3_column_int64(st, 2),
		.from_ns = sqlite3_column_int64(st, 3),
		.to_ns = sqlite3_column_int64(st, 4),
		.duration_ns = sqlite3_column_int64(st, 5),
		.received = sqlite3_column_int64(st, 6),
		.stored = sqlite3_column_int64(st, 7),
		.lost = sqlite3_column_int64(st, 8),
		.nr_flushes = sqlite3_column_int64(st, 9),
	};
	return rows_check_columns(st, 0, "nnnnnnnnnn");
}

int query_intervals(struct db *db, const struct query_epochs *e, query_interval_fn fn,
		    void *ctx)
{
	static const char sql[] =
		"SELECT run, seq, epoch, from_ns, to_ns, duration_ns, received, stored,"
		" lost, merged + 1 FROM flush WHERE epoch IN (SELECT value FROM "
		"json_each(?1))"
		" ORDER BY run, seq";
	const struct query_interval *row;
	struct buf rows = { 0 };
	int err = rows_copy(db, e, NULL, sql, read_interval, sizeof(*row), &rows);

	row = (const struct query_interval *)rows.data;
	for (size_t i = 0; !err && i < rows.len / sizeof(*row); i++)
		err = fn(ctx, &row[i]);
	buf_fini(&rows);
	return err;
}
