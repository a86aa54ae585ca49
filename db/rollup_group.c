/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_group.c - reads, merges and writes the profiles of one image and context
 *
 * Reading and merging need no lock: what is rolled up changes by roll-ups alone. That
 * no other one came first shows in the rows, each of which must be there to be deleted.
 */
#include "config.h"

#include "db/rollup_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/rows.h"
#include "db/sql.h"

const struct rollup_stream *rollup_stream_of(const struct rollup_day *day, int64_t id)
{
	for (size_t i = 0; i < day->nr_streams; i++) {
		if (day->stream[i].id == id)
			return &day->stream[i];
	}
	return NULL;
}

int group_read_part(sqlite3 *h, struct part *part, struct profile *p)
{
	static const char sql[] = "SELECT total, counts FROM profile WHERE epoch = ?1"
				  " AND image = ?2 AND stream = ?3 AND context = ?4"
				  " AND kind = ?5";
	sqlite3_stmt *st = NULL;
	const void *counts;
	size_t size;
	int err = sql_prepare(h, sql, &st);

	if (!err)
		err = sql_bind(st, "iiiii", part->epoch, part->image, part->stream,
			       part->context, part->kind);
	if (!err)
		err = sql_step(st);
	if (!err)
		err = -EAGAIN;
	if (err == 1) {
		part->total = sqlite3_column_int64(st, 0);
		counts = sql_blob(st, 1, &size);
		err = codec_decode(counts, size, part->kind, p);
		if (err && err != -ENOMEM) {
			log_err("db: %s: profile of image %" PRId64 " in epoch %" PRId64
				": %s: it is not rolled up",
				sqlite3_db_filename(h, "main"), part->image,
				part->epoch, err_str(err));
			err = -CPI_ECORRUPT;
		}
	}
	sqlite3_finalize(st);
	return err;
}

/* Encodes a kind of what was merged, if the stream has it. */
static int put_merged(struct group *g, const struct group_sum *sum, int64_t kind)
{
	struct merged *grown = rows_grow(g->merged, g->nr_merged, sizeof(*grown));
	struct merged m = { .stream = sum->stream, .kind = kind };
	int err;

	if (!grown)
		return -ENOMEM;
	g->merged = grown;
	err = codec_total(sum->profile, kind, &m.total);
	if (!err)
		err = codec_encode(sum->profile, kind, &m.counts);
	if (!err && m.counts.len)
		g->merged[g->nr_merged++] = m;
	else
		buf_fini(&m.counts);
	return err == -EOVERFLOW || err == -CPI_ELIMIT ? -CPI_ECORRUPT : err;
}

/* Merges the rows of one stream. */
static int merge_stream(sqlite3 *h, const struct rollup_day *day, struct group *g,
			struct part *part, size_t nr, struct group_sum *sum)
{
	bool moves = false;
	int err = 0;

	sum->stream = part->stream;
	sum->profile = profile_new();
	if (!sum->profile)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		moves |= part[i].epoch != day->epoch[0];
		err = group_read_part(h, &part[i], sum->profile);
	}
	for (int64_t kind = 0; !err && moves && kind < PROFILE_NR_KINDS; kind++)
		err = put_merged(g, sum, kind);
	return err;
}

int group_merge(sqlite3 *h, const struct rollup_day *day, struct group *g)
{
	struct group_sum *sums = calloc(g->nr_parts + 1, sizeof(*sums));
	size_t nr_sums = 0, nr;
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < g->nr_parts; i += nr) {
		for (nr = 1; i + nr < g->nr_parts &&
			     g->part[i + nr].stream == g->part[i].stream;)
			nr++;
		err = merge_stream(h, day, g, &g->part[i], nr, &sums[nr_sums++]);
	}
	if (!err && !g->part->context)
		err = group_spread(h, day, g, sums, nr_sums);
	for (size_t i = 0; i < nr_sums; i++)
		profile_free(sums[i].profile);
	free(sums);
	return err;
}

void group_fini(struct group *g)
{
	for (size_t i = 0; i < g->nr_merged; i++)
		buf_fini(&g->merged[i].counts);
	free(g->merged);
	free(g->spread);
	memset(g, 0, sizeof(*g));
}

/* Takes a row away, and what it counts from one epoch's tally to the target's. */
static int remove_part(sqlite3 *h, int64_t target, const struct part *p)
{
	static const char delete[] = "DELETE FROM profile WHERE epoch = ?1"
				     " AND image = ?2 AND stream = ?3"
				     " AND context = ?4 AND kind = ?5";
	static const char take[] =
		"UPDATE tally SET received = received - ?3, stored = stored - ?3"
		" WHERE epoch = ?1 AND stream = ?2";
	static const char give[] =
		"INSERT INTO tally (epoch, stream, received, stored, not_delivered,"
		" enabled_ns, running_ns, throttled) VALUES (?1, ?2, ?3, ?3, 0, 0, 0, "
		"0)"
		" ON CONFLICT DO UPDATE SET received = received + excluded.received,"
		" stored = stored + excluded.stored";
	int err = sql_do(h, delete, "iiiii", p->epoch, p->image, p->stream, p->context,
			 p->kind);

	if (!err && sqlite3_changes(h) != 1)
		err = -EAGAIN;
	if (err || p->kind != PROFILE_COUNT || p->context)
		return err;
	err = sql_do(h, take, "iii", p->epoch, p->stream, p->total);
	return err ? err : sql_do(h, give, "iii", target, p->stream, p->total);
}

static int write_spread(sqlite3 *h, const struct rollup_day *day, int64_t image,
			const struct spread *s)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO spread (epoch, event, image, start, size, n,"
		" sum, squares, cross) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
	const struct rollup_event *e = &day->event[s->event];

	return sql_do(h, sql, "isiiiirrr", day->epoch[0], e->name, image, s->start,
		      s->size, e->nr_epochs, s->sum, s->squares, s->cross);
}

int group_write(sqlite3 *h, const struct rollup_day *day, const struct group *g)
{
	static const char put[] =
		"INSERT OR REPLACE INTO profile (epoch, image, stream, context, kind,"
		" total, counts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	static const char mark[] =
		"UPDATE roll SET image = ?2, context = ?3 WHERE epoch = ?1";
	const int64_t target = day->epoch[0], image = g->part->image,
		      context = g->part->context;
	int err = 0;

	for (size_t i = 0; !err && i < g->nr_parts; i++) {
		if (g->part[i].epoch != target)
			err = remove_part(h, target, &g->part[i]);
	}
	for (size_t i = 0; !err && i < g->nr_merged; i++) {
		const struct merged *m = &g->merged[i];

		err = sql_do(h, put, "iiiiiib", target, image, m->stream, context,
			     m->kind, m->total, (const void *)m->counts.data,
			     m->counts.len);
	}
	for (size_t i = 0; !err && i < g->nr_spreads; i++)
		err = write_spread(h, day, image, &g->spread[i]);
	if (!err)
		err = sql_do(h, mark, "iii", target, image, context);
	return err ? err : sqlite3_changes(h) == 1 ? 0 : -EAGAIN;
}
