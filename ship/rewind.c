/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rewind.c - compares what will be sent with what was sent
 */
#include "config.h"

#include "ship/rewind.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "db/core/sql.h"

#define MAX_IN_A_ROW 4

/* Flushes, ascending; none overlap. */
struct ranges {
	struct flushes *range;
	size_t nr;
};

static uint64_t first_of(const struct shipments *list, const struct shipment *s)
{
	return list->flushes[s->from].first;
}

/* first, last */
static int note_range(sqlite3_stmt *st, void *ctx)
{
	struct ranges *r = ctx;

	if (GROW(r->range, r->nr))
		return -ENOMEM;
	r->range[r->nr++] = (struct flushes){ (uint64_t)sqlite3_column_int64(st, 0),
					      (uint64_t)sqlite3_column_int64(st, 1) };
	return 0;
}

/* How many of the flushes of f are in the ranges. */
static uint64_t count(const struct ranges *r, const struct flushes *f)
{
	size_t low = 0, high = r->nr;
	uint64_t n = 0;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (r->range[mid].last < f->first)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < r->nr && r->range[low].first <= f->last; low++) {
		const struct flushes *g = &r->range[low];

		n += (g->last < f->last ? g->last : f->last) -
		     (g->first > f->first ? g->first : f->first) + 1;
	}
	return n;
}

/* Whether some flushes of s will be sent, and others not. */
static bool has_part(const struct shipments *list, const struct shipment *s,
		     const struct ranges *r)
{
	uint64_t sent = 0, all = 0;

	for (size_t k = s->from; k < s->to; k++) {
		sent += count(r, &list->flushes[k]);
		all += list->flushes[k].last - list->flushes[k].first + 1;
	}
	return sent && sent < all;
}

/* Looks once at all shipments. */
static int lower(sqlite3 *h, int64_t run, const struct shipments *list, uint64_t *next)
{
	static const char sql[] =
		"SELECT seq - merged, seq FROM flush WHERE run = ?1 AND merged < seq "
		"AND"
		" epoch IN (SELECT epoch FROM flush WHERE run = ?1 AND seq > ?2)"
		" ORDER BY seq";
	struct ranges r = { 0 };
	int err = sql_each(h, note_range, &r, sql, "ii", run, (int64_t)*next);

	for (size_t i = 0; !err && i < list->nr; i++) {
		const struct shipment *s = &list->shipment[i];

		if (first_of(list, s) <= *next && has_part(list, s, &r))
			*next = first_of(list, s) - 1;
	}
	free(r.range);
	return err;
}

int ship_rewind(sqlite3 *h, int64_t run, const struct shipments *list, uint64_t *next)
{
	uint64_t before;
	int err;

	do {
		before = *next;
		err = lower(h, run, list, next);
	} while (!err && *next < before);
	return err;
}

/* Whether the database has flushes that shipment i has, but no shipment before i. */
static bool has_alone(const struct shipments *list, size_t i, const struct ranges *r)
{
	const struct shipment *s = &list->shipment[i];
	struct flushes alone;

	for (size_t k = s->from; k < s->to; k++) {
		struct flushes f = list->flushes[k];

		while (shipments_next_alone(list, i, &f, &alone)) {
			if (count(r, &alone))
				return true;
		}
	}
	return false;
}

int ship_rewind_overlaps(sqlite3 *h, int64_t run, const struct shipments *list,
			 uint64_t *next)
{
	static const char sql[] =
		"SELECT seq - merged, seq FROM flush WHERE run = ?1 AND"
		" merged < seq ORDER BY seq";
	struct ranges r = { 0 };
	int err = sql_each(h, note_range, &r, sql, "i", run);

	for (size_t i = 0; !err && i < list->nr; i++) {
		const struct shipment *s = &list->shipment[i];

		if (s->overlaps && first_of(list, s) <= *next && has_alone(list, i, &r))
			*next = first_of(list, s) - 1;
	}
	free(r.range);
	return err;
}

bool ship_rewind_gives_up(unsigned int *nr, bool left)
{
	*nr = left ? *nr + 1 : 0;
	if (*nr < MAX_IN_A_ROW)
		return false;
	*nr = 0;
	return true;
}

int ship_rewind_until(sqlite3 *h, int64_t run, uint64_t next, uint64_t last,
		      uint64_t *until)
{
	static const char sql[] =
		"SELECT max(?3, ifnull(max(seq), 0)) FROM flush WHERE run = ?1 AND "
		"epoch"
		" IN (SELECT epoch FROM flush WHERE run = ?1 AND seq > ?2 AND"
		" seq - merged <= ?3)";
	int64_t n;
	int err = sql_get(h, &n, sql, "iii", run, (int64_t)next, (int64_t)last);

	if (!err)
		*until = (uint64_t)n;
	return err;
}
