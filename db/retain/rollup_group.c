/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_group.c - reads, merges and writes the profiles of one image and context
 *
 * Reading and merging need no lock, because only roll-ups change these epochs. If
 * another process did the same work first, a row to remove is missing, and the group
 * ends with -EAGAIN.
 */
#include "config.h"

#include "db/retain/rollup_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "db/core/set_rows.h"
#include "db/core/sql.h"
#include "db/core/tallies.h"

const struct rollup_stream *rollup_stream_of(const struct rollup_day *day, int64_t id)
{
	for (size_t i = 0; i < day->nr_streams; i++) {
		if (day->stream[i].id == id)
			return &day->stream[i];
	}
	return NULL;
}

static struct set_key key_of(const struct profile_row *p)
{
	return (struct set_key){ .epoch = p->epoch,
				 .image = p->image,
				 .stream = p->stream,
				 .context = p->context,
				 .kind = p->kind };
}

int group_read_part(const struct rollup_day *day, const struct profile_row *part,
		    struct profile *p)
{
	const struct set_key key = key_of(part);

	return set_rows_read_by(day->find, &profile_set, &key, p);
}

/* Encodes one kind of the merged profile, if the stream has it. */
static int put_merged(struct group *g, const struct group_sum *sum, int64_t kind)
{
	struct merged m = { .stream = sum->stream, .kind = kind };
	int err;

	if (GROW(g->merged, g->nr_merged))
		return -ENOMEM;
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
static int merge_stream(const struct rollup_day *day, struct group *g,
			struct profile_row *part, size_t nr, struct group_sum *sum)
{
	bool moves = false;
	int err = 0;

	sum->stream = part->stream;
	sum->profile = profile_new();
	if (!sum->profile)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		moves |= part[i].epoch != day->epoch[0];
		err = group_read_part(day, &part[i], sum->profile);
	}
	for (int64_t kind = 0; !err && moves && kind < PROFILE_NR_KINDS; kind++)
		err = put_merged(g, sum, kind);
	return err;
}

/*
 * Returns how many consecutive parts, from the first on, have the first one's
 * stream.
 */
static size_t nr_of_stream(const struct profile_row *part, size_t nr)
{
	size_t i = 1;

	while (i < nr && part[i].stream == part->stream)
		i++;
	return i;
}

int group_merge(sqlite3 *h, const struct rollup_day *day, struct group *g)
{
	struct group_sum *sums = calloc(g->nr_parts + 1, sizeof(*sums));
	size_t nr_sums = 0, nr;
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < g->nr_parts; i += nr) {
		nr = nr_of_stream(&g->part[i], g->nr_parts - i);
		err = merge_stream(day, g, &g->part[i], nr, &sums[nr_sums++]);
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

/* Removes rows of one stream, and moves their counts to the target's tally. */
static int remove_parts(sqlite3 *h, const struct rollup_day *day,
			const struct profile_row *part, size_t nr)
{
	int64_t counted = 0;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct set_key key = key_of(&part[i]);

		if (part[i].epoch == day->epoch[0])
			continue;
		err = set_taker_take(&day->taker, &key, part[i].counted);
		if (!err && __builtin_add_overflow(counted, part[i].counted, &counted))
			err = -CPI_ECORRUPT;
	}
	if (err || !counted)
		return err;
	return tallies_give(h, TALLY_SAMPLES, day->epoch[0], part->stream, counted);
}

static int write_spread(sqlite3 *h, const struct rollup_day *day, int64_t image,
			const struct rollup_spread *s)
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

	for (size_t i = 0, nr; !err && i < g->nr_parts; i += nr) {
		nr = nr_of_stream(&g->part[i], g->nr_parts - i);
		err = remove_parts(h, day, &g->part[i], nr);
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
