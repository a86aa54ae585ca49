/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rangemap.c - a sorted array of ranges that do not overlap
 *
 * An array is enough: look-ups are by far the most frequent, a binary search is kind to
 * the cache, and mappings of a process come mostly in ascending order. Room is reserved
 * before anything is cut, so that a failure changes nothing.
 */
#include "config.h"

#include "base/rangemap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

void rangemap_fini(struct rangemap *m)
{
	free(m->range);
	memset(m, 0, sizeof(*m));
}

int rangemap_copy(struct rangemap *to, const struct rangemap *from)
{
	struct range *range;

	if (!from->nr)
		return 0;
	range = malloc(from->nr * sizeof(*range));
	if (!range)
		return -ENOMEM;
	memcpy(range, from->range, from->nr * sizeof(*range));
	to->range = range;
	to->nr = to->cap = from->nr;
	return 0;
}

/* The index of the first range that ends after address. */
static size_t first_behind(const struct rangemap *m, uint64_t address)
{
	return SEARCH(i, m->nr, m->range[i].end > address);
}

const struct range *rangemap_find(const struct rangemap *m, uint64_t address)
{
	size_t i = first_behind(m, address);

	return i < m->nr && m->range[i].start <= address ? &m->range[i] : NULL;
}

static int reserve(struct rangemap *m, size_t nr)
{
	size_t cap = m->cap ? m->cap : 8;
	struct range *range;

	if (nr <= m->cap)
		return 0;
	while (cap < nr)
		cap *= 2;
	range = realloc(m->range, cap * sizeof(*range));
	if (!range)
		return -ENOMEM;
	m->range = range;
	m->cap = cap;
	return 0;
}

static void shift(struct rangemap *m, size_t from, ptrdiff_t by)
{
	memmove(&m->range[from + by], &m->range[from],
		(m->nr - from) * sizeof(*m->range));
	m->nr += by;
}

static void tell(rangemap_cut_fn on_cut, void *ctx, const struct range *old,
		 uint64_t start, uint64_t end, int nr_change)
{
	struct range piece = *old;

	if (!on_cut)
		return;
	piece.start = start;
	piece.end = end;
	on_cut(ctx, &piece, nr_change);
}

/*
 * Removes older ranges from [start, end); the caller has reserved room for one more
 * range. Returns the index where a range with this start belongs.
 */
static size_t cut(struct rangemap *m, uint64_t start, uint64_t end,
		  rangemap_cut_fn on_cut, void *ctx)
{
	size_t i = first_behind(m, start);
	size_t last;

	if (i < m->nr && m->range[i].start < start) {
		struct range *r = &m->range[i];

		if (r->end > end) { /* a hole in the middle makes two ranges of one */
			tell(on_cut, ctx, r, start, end, 1);
			shift(m, i, 1);
			m->range[i].end = start;
			m->range[i + 1].start = end;
			return i + 1;
		}
		tell(on_cut, ctx, r, start, r->end, 0);
		r->end = start;
		i++;
	}
	for (last = i; last < m->nr && m->range[last].end <= end; last++)
		tell(on_cut, ctx, &m->range[last], m->range[last].start,
		     m->range[last].end, -1);
	if (last > i)
		shift(m, last, (ptrdiff_t)i - (ptrdiff_t)last);
	if (i < m->nr && m->range[i].start < end) {
		tell(on_cut, ctx, &m->range[i], m->range[i].start, end, 0);
		m->range[i].start = end;
	}
	return i;
}

int rangemap_insert(struct rangemap *m, const struct range *r, rangemap_cut_fn on_cut,
		    void *ctx)
{
	size_t i;

	if (r->start >= r->end)
		return -EINVAL;
	if (reserve(m, m->nr + 2))
		return -ENOMEM;
	i = cut(m, r->start, r->end, on_cut, ctx);
	shift(m, i, 1);
	m->range[i] = *r;
	return 0;
}

int rangemap_remove(struct rangemap *m, uint64_t start, uint64_t end,
		    rangemap_cut_fn on_cut, void *ctx)
{
	if (start >= end)
		return -EINVAL;
	if (reserve(m, m->nr + 1))
		return -ENOMEM;
	cut(m, start, end, on_cut, ctx);
	return 0;
}
