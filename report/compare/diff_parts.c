/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_parts.c - how much procedures varied inside an epoch that was rolled up
 *
 * Roll-up kept sums by range of code, not by procedure. While a column is read, a
 * binary search finds the range of each count. At the column's end, a range that
 * belongs almost only to one row gives that row's variation.
 */
#include "config.h"

#include "report/compare/diff_parts.h"

#include <stdlib.h>

#include "analysis/compare/compare_parts.h"
#include "db/query/spread.h"

struct rolled {
	int64_t epoch;
	size_t nr;
	struct compare_parts parts;
};

/* The part of a range that belongs to one row. */
struct range_share {
	size_t spread, row;
	double time;
};

static int add_part(void *ctx, const struct query_part *row)
{
	struct diff_parts *p = ctx;
	struct rolled *last = (struct rolled *)p->rolled.data;
	const size_t nr = p->rolled.len / sizeof(*last);
	const struct rolled fresh = { .epoch = row->epoch };

	if (!nr || last[nr - 1].epoch != row->epoch) {
		buf_put(&p->rolled, &fresh, sizeof(fresh));
		if (p->rolled.err)
			return p->rolled.err;
	}
	last = (struct rolled *)(p->rolled.data + p->rolled.len) - 1;
	last->nr++;
	compare_parts_add(&last->parts, row->time);
	return 0;
}

static int by_epoch(const void *va, const void *vb)
{
	const struct rolled *a = va, *b = vb;

	return (a->epoch > b->epoch) - (a->epoch < b->epoch);
}

static const struct rolled *find_rolled(const struct diff_parts *p, int64_t epoch)
{
	const struct rolled key = { .epoch = epoch };

	return p->rolled.len
		       ? bsearch(&key, p->rolled.data, p->rolled.len / sizeof(key),
				 sizeof(key), by_epoch)
		       : NULL;
}

/* Sums of other parts than the epoch's are of no use. */
static int add_spread(void *ctx, const struct query_spread *row)
{
	struct diff_parts *p = ctx;
	const struct rolled *rolled = find_rolled(p, row->epoch);

	if (rolled && row->n == rolled->nr)
		buf_put(&p->spread, row, sizeof(*row));
	return p->spread.err;
}

int diff_parts_read(struct diff_parts *p, struct db *db, const struct query_epochs *e,
		    const char *event)
{
	int err = query_parts(db, e, event, add_part, p);

	p->nr = e->nr;
	for (size_t i = 0; i < p->rolled.len / sizeof(struct rolled); i++)
		p->nr += ((const struct rolled *)p->rolled.data)[i].nr - 1;
	return err ? err : query_spreads(db, e, event, add_spread, p);
}

void diff_parts_fini(struct diff_parts *p)
{
	buf_fini(&p->rolled);
	buf_fini(&p->spread);
	buf_fini(&p->share);
	buf_fini(&p->within);
}

bool diff_parts_any(const struct diff_parts *p)
{
	return p->rolled.len;
}

void diff_parts_describe(const struct diff_parts *p, int64_t epoch,
			 struct compare_run *run)
{
	const struct rolled *rolled = find_rolled(p, epoch);

	if (!rolled)
		return;
	run->squares = compare_parts_squares(&rolled->parts);
	run->cubes = compare_parts_cubes(&rolled->parts);
}

/* Returns less than 0 if the count is before the range, 0 if it is in it, else 1. */
static int side_of(const struct matrix_count *c, const struct query_spread *s)
{
	if (c->epoch != s->epoch)
		return c->epoch < s->epoch ? -1 : 1;
	if (c->image != s->image)
		return c->image < s->image ? -1 : 1;
	if (c->offset < s->start)
		return -1;
	return c->offset - s->start < s->size ? 0 : 1;
}

static int compare_place(const void *key, const void *element)
{
	return side_of(key, element);
}

void diff_parts_count(void *ctx, const struct matrix_count *c)
{
	struct diff_parts *p = ctx;
	const struct query_spread *first = (const struct query_spread *)p->spread.data;
	const size_t nr = p->spread.len / sizeof(*first);
	const struct query_spread *s;
	struct range_share *last = NULL;

	if (p->share.len)
		last = (struct range_share *)(p->share.data + p->share.len) - 1;
	/* Offsets ascend, so most are in the same range as the last one. */
	if (last && last->row == c->row && !side_of(c, first + last->spread)) {
		last->time += c->time;
		return;
	}
	s = nr ? bsearch(c, first, nr, sizeof(*first), compare_place) : NULL;
	if (s) {
		const struct range_share fresh = { s - first, c->row, c->time };

		buf_put(&p->share, &fresh, sizeof(fresh));
	}
}

static int by_range(const void *va, const void *vb)
{
	const struct range_share *a = va, *b = vb;

	if (a->spread != b->spread)
		return a->spread < b->spread ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Adds up the parts of one range that belong to one row, over several streams. */
static size_t merge_shares(struct range_share *share, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(share, nr, sizeof(*share), by_range);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !by_range(&share[kept - 1], &share[i]))
			share[kept - 1].time += share[i].time;
		else
			share[kept++] = share[i];
	}
	return kept;
}

/* What is known of a row that has nearly all of a range. */
static void put_within(struct diff_parts *p, const struct range_share *most, double all)
{
	const struct query_spread *s =
		(const struct query_spread *)p->spread.data + most->spread;
	const struct compare_sums sums = { s->sum, s->squares, s->cross };
	struct diff_within w = { .row = most->row, .time = most->time };

	if (most->time < DIFF_PARTS_SHARE * all)
		return;
	w.within = compare_parts_within(&find_rolled(p, s->epoch)->parts, &sums);
	buf_put(&p->within, &w, sizeof(w));
}

int diff_parts_end(struct diff_parts *p, const struct diff_within **out, size_t *nr_out)
{
	struct range_share *share = (struct range_share *)p->share.data;
	const size_t nr = merge_shares(share, p->share.len / sizeof(*share));
	int err = p->share.err;

	buf_reset(&p->within);
	for (size_t i = 0; i < nr;) {
		struct range_share most = share[i];
		double all = 0;

		for (; i < nr && share[i].spread == most.spread; i++) {
			all += share[i].time;
			if (share[i].time > most.time)
				most = share[i];
		}
		put_within(p, &most, all);
	}
	buf_reset(&p->share);
	err = err ? err : p->within.err;
	if (err)
		return err;
	*out = (const struct diff_within *)p->within.data;
	*nr_out = p->within.len / sizeof(**out);
	return 0;
}
