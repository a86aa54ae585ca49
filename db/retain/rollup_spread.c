/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_spread.c - how the time of an image's hot procedures varied over a day
 *
 * The merged profiles show which procedures are hot. Then each epoch's profiles
 * are read once more, for these procedures only. So memory has a time for each
 * epoch only of the hot procedures.
 *
 * No file is opened. A procedure is the code between a captured symbol's bounds, and
 * other code is cut into blocks.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/search.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/profile/model.h"
#include "db/retain/rollup_group.h"

struct range {
	uint64_t start, end; /* end is exclusive, at most UINT64_MAX */
};

struct ranges {
	struct range *range; /* ascending starts */
	size_t nr;
};

struct hot {
	size_t event;
	struct range range;
	double sum;
};

struct spreader {
	sqlite3 *h;
	const struct rollup_day *day;
	struct group *g;
	struct ranges symbols;
	struct hot *hot; /* by event, then start */
	size_t nr;
	double *time; /* by hot procedure and epoch */
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_hot(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return compare_ranges(&x->range, &y->range);
}

static int read_symbol(sqlite3_stmt *st, void *ctx)
{
	struct ranges *list = ctx;
	uint64_t start = sqlite3_column_int64(st, 0),
		 size = sqlite3_column_int64(st, 1);

	if (GROW(list->range, list->nr))
		return -ENOMEM;
	if (size > UINT64_MAX - start)
		size = UINT64_MAX - start;
	if (size)
		list->range[list->nr++] = (struct range){ start, start + size };
	return 0;
}

/* The symbol around offset, or the part of its block that no symbol covers. */
static struct range range_at(const struct ranges *symbols, uint64_t offset)
{
	uint64_t start = offset - offset % ROLLUP_SPREAD_BLOCK;
	struct range r = { start, start + ROLLUP_SPREAD_BLOCK };
	size_t low;

	if (r.end < r.start)
		r.end = UINT64_MAX;
	low = SEARCH(i, symbols->nr, symbols->range[i].start > offset);
	if (low && symbols->range[low - 1].end > offset)
		return symbols->range[low - 1];
	if (low && symbols->range[low - 1].end > r.start)
		r.start = symbols->range[low - 1].end;
	if (low < symbols->nr && symbols->range[low].start < r.end)
		r.end = symbols->range[low].start;
	return r;
}

static int add_hot(struct spreader *s, size_t event, struct range range, double time)
{
	struct hot *last = s->nr ? &s->hot[s->nr - 1] : NULL;

	if (last && last->event == event && last->range.start == range.start) {
		last->sum += time;
		return 0;
	}
	if (GROW(s->hot, s->nr))
		return -ENOMEM;
	s->hot[s->nr++] = (struct hot){ event, range, time };
	return 0;
}

/* Adds every procedure with samples, once for each stream. */
static int list_procedures(struct spreader *s, const struct group_sum *sums,
			   size_t nr_sums)
{
	int err = 0;

	for (size_t i = 0; i < nr_sums; i++) {
		const struct rollup_stream *stream =
			rollup_stream_of(s->day, sums[i].stream);
		size_t nr;
		const struct count *c = profile_sorted(sums[i].profile, &nr);

		for (size_t k = 0; !err && stream && k < nr; k++)
			err = add_hot(s, stream->event,
				      range_at(&s->symbols, c[k].offset),
				      (double)c[k].n * stream->period);
	}
	return err;
}

/* Adds up the streams of one event for each procedure, and keeps hot procedures. */
static void keep_hot(struct spreader *s)
{
	size_t nr = s->nr, kept = 0;

	qsort(s->hot, nr, sizeof(*s->hot), compare_hot);
	for (size_t i = 0; i < nr;) {
		struct hot sum = s->hot[i];

		for (i++; i < nr && !compare_hot(&s->hot[i], &sum); i++)
			sum.sum += s->hot[i].sum;
		if (sum.sum > 0 &&
		    sum.sum >= ROLLUP_SPREAD_LEAST * s->day->event[sum.event].all)
			s->hot[kept++] = sum;
	}
	s->nr = kept;
}

static struct hot *find_hot(const struct spreader *s, size_t event, uint64_t offset)
{
	const struct hot key = { event, range_at(&s->symbols, offset), 0 };

	return bsearch(&key, s->hot, s->nr, sizeof(key), compare_hot);
}

static int add_part(struct spreader *s, const struct profile_row *part, size_t epoch)
{
	const struct rollup_stream *stream = rollup_stream_of(s->day, part->stream);
	struct profile *p = profile_new();
	const struct count *c;
	size_t nr = 0;
	int err = p ? group_read_part(s->day, part, p) : -ENOMEM;

	c = err ? NULL : profile_sorted(p, &nr);
	for (size_t i = 0; stream && i < nr; i++) {
		const struct hot *hot = find_hot(s, stream->event, c[i].offset);

		if (hot)
			s->time[(size_t)(hot - s->hot) * s->day->nr_epochs + epoch] +=
				(double)c[i].n * stream->period;
	}
	profile_free(p);
	return err;
}

static int add_parts(struct spreader *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->g->nr_parts; i++) {
		const struct profile_row *part = &s->g->part[i];
		size_t epoch = 0;

		if (part->kind != PROFILE_COUNT)
			continue;
		while (epoch < s->day->nr_epochs && s->day->epoch[epoch] != part->epoch)
			epoch++;
		/* else another process began a roll-up after day_load() */
		err = epoch < s->day->nr_epochs ? add_part(s, part, epoch) : -EAGAIN;
	}
	return err;
}

static struct rollup_spread sum_up(const struct spreader *s, size_t i)
{
	const struct hot *hot = &s->hot[i];
	const double *x = &s->time[i * s->day->nr_epochs];
	const double *all = s->day->event[hot->event].time;
	struct rollup_spread out = { .event = hot->event,
				     .start = hot->range.start,
				     .size = hot->range.end - hot->range.start };

	for (size_t k = 0; k < s->day->nr_epochs; k++) {
		out.sum += x[k];
		out.squares += x[k] * x[k];
		out.cross += x[k] * all[k];
	}
	return out;
}

static int spread_hot(struct spreader *s)
{
	int err;

	s->time = calloc(s->nr * s->day->nr_epochs, sizeof(*s->time));
	s->g->spread = calloc(s->nr, sizeof(*s->g->spread));
	err = s->time && s->g->spread ? add_parts(s) : -ENOMEM;
	for (size_t i = 0; !err && i < s->nr; i++)
		s->g->spread[s->g->nr_spreads++] = sum_up(s, i);
	return err;
}

/* Whether the image can have a hot procedure; most images cannot. */
static bool may_be_hot(const struct rollup_day *day, const struct group_sum *sums,
		       size_t nr_sums)
{
	for (size_t e = 0; e < day->nr_events; e++) {
		double time = 0;

		for (size_t i = 0; i < nr_sums; i++) {
			const struct rollup_stream *s =
				rollup_stream_of(day, sums[i].stream);

			if (s && s->event == e)
				time += (double)profile_total(sums[i].profile) *
					s->period;
		}
		if (time > 0 && time >= ROLLUP_SPREAD_LEAST * day->event[e].all)
			return true;
	}
	return false;
}

int group_spread(sqlite3 *h, const struct rollup_day *day, struct group *g,
		 const struct group_sum *sums, size_t nr_sums)
{
	struct spreader s = { .h = h, .day = day, .g = g };
	const int64_t image = g->part->image;
	int64_t kind;
	int err;

	if (!may_be_hot(day, sums, nr_sums))
		return 0;
	err = sql_get(h, &kind, "SELECT kind FROM image WHERE id = ?1", "i", image);
	if (err || kind == IMAGE_IDLE)
		return err == -ENOENT ? 0 : err;
	err = sql_each(h, read_symbol, &s.symbols,
		       "SELECT start, size FROM symbol WHERE image = ?1", "i", image);
	if (!err && s.symbols.nr)
		qsort(s.symbols.range, s.symbols.nr, sizeof(*s.symbols.range),
		      compare_ranges);
	if (!err)
		err = list_procedures(&s, sums, nr_sums);
	if (!err) {
		keep_hot(&s);
		err = s.nr ? spread_hot(&s) : 0;
	}
	free(s.symbols.range);
	free(s.hot);
	free(s.time);
	return err;
}
