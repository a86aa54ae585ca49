/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contained.c - compares the flushes of a run's shipments
 *
 * The flushes at which a range begins, or after which one ends, cut the numbers into
 * pieces. Shipments are looked at in their order; each covers its pieces. A covered
 * piece points on towards the next piece that is not covered. So the time hardly grows
 * with the number of shipments that have a piece.
 */
#include "config.h"

#include "ship/contained.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct pieces {
	uint64_t *begin; /* of each piece, ascending; the last one is only an end */
	size_t *next;    /* the piece itself, or a later one if it is covered */
	size_t nr;
};

static uint64_t count(const struct shipments *list, const struct shipment *s)
{
	uint64_t n = 0;

	for (size_t i = s->from; i < s->to; i++)
		n += list->flushes[i].last - list->flushes[i].first + 1;
	return n;
}

void shipments_fini(struct shipments *list)
{
	free(list->shipment);
	free(list->flushes);
	memset(list, 0, sizeof(*list));
}

static bool is_at(const struct shipment *s, const struct shipment *of)
{
	return s->host == of->host && s->at == of->at && s->nr == of->nr;
}

int shipments_add(struct shipments *list, const struct shipment *of,
		  const struct flushes *flushes)
{
	struct shipment *s = list->nr ? &list->shipment[list->nr - 1] : NULL;
	struct flushes *before = NULL;

	if (flushes->first > flushes->last || flushes->last == UINT64_MAX)
		return -EINVAL;
	if (s && is_at(s, of))
		before = &list->flushes[s->to - 1];
	if (before && flushes->first <= before->last + 1) {
		if (flushes->first < before->first)
			before->first = flushes->first;
		if (flushes->last > before->last)
			before->last = flushes->last;
		return 0;
	}
	if (GROW(list->flushes, list->nr_flushes) ||
	    (!before && GROW(list->shipment, list->nr)))
		return -ENOMEM;
	if (!before) {
		s = &list->shipment[list->nr++];
		*s = (struct shipment){ .host = of->host,
					.at = of->at,
					.nr = of->nr,
					.turn = of->turn,
					.from = list->nr_flushes };
	}
	list->flushes[list->nr_flushes++] = *flushes;
	s->to = list->nr_flushes;
	return 0;
}

static int compare(const void *x, const void *y, void *ctx)
{
	const struct shipment *a = x, *b = y;
	const uint64_t nr_a = count(ctx, a), nr_b = count(ctx, b);

	if (a->turn != b->turn)
		return a->turn > b->turn ? -1 : 1;
	if (nr_a != nr_b)
		return nr_a > nr_b ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

static int compare_numbers(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static int cut(const struct shipments *list, struct pieces *p)
{
	p->begin = calloc(2 * list->nr_flushes, sizeof(*p->begin));
	p->next = calloc(2 * list->nr_flushes, sizeof(*p->next));
	if (!p->begin || !p->next)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr_flushes; i++) {
		p->begin[2 * i] = list->flushes[i].first;
		p->begin[2 * i + 1] = list->flushes[i].last + 1;
	}
	qsort(p->begin, 2 * list->nr_flushes, sizeof(*p->begin), compare_numbers);
	for (size_t i = 0; i < 2 * list->nr_flushes; i++) {
		if (!i || p->begin[i] != p->begin[p->nr - 1])
			p->begin[p->nr++] = p->begin[i];
	}
	for (size_t i = 0; i < p->nr; i++)
		p->next[i] = i;
	return 0;
}

static size_t piece_of(const struct pieces *p, uint64_t begin)
{
	const uint64_t *found =
		bsearch(&begin, p->begin, p->nr, sizeof(*p->begin), compare_numbers);

	return (size_t)(found - p->begin);
}

/* The first piece from i on that is not covered; shortens the way to it. */
static size_t next_open(struct pieces *p, size_t i)
{
	while (p->next[i] != i) {
		p->next[i] = p->next[p->next[i]];
		i = p->next[i];
	}
	return i;
}

/* Covers the pieces of a shipment, and marks it by what was covered before. */
static void cover(const struct shipments *list, struct shipment *s, struct pieces *p)
{
	size_t nr = 0, nr_open = 0;

	for (size_t k = s->from; k < s->to; k++) {
		const size_t end = piece_of(p, list->flushes[k].last + 1);
		size_t i = piece_of(p, list->flushes[k].first);

		nr += end - i;
		for (i = next_open(p, i); i < end; i = next_open(p, i)) {
			p->next[i] = i + 1;
			nr_open++;
		}
	}
	s->contained = !nr_open;
	s->overlaps = nr_open && nr_open < nr;
}

int shipments_mark(struct shipments *list)
{
	struct pieces p = { 0 };
	int err;

	if (!list->nr)
		return 0;
	err = cut(list, &p);
	if (!err) {
		qsort_r(list->shipment, list->nr, sizeof(*list->shipment), compare,
			list);
		for (size_t i = 0; i < list->nr; i++)
			cover(list, &list->shipment[i], &p);
	}
	free(p.begin);
	free(p.next);
	return err;
}

/*
 * Whether any of the first nr shipments has the flush `first`. Lowers *last so that the
 * answer is the same for all flushes from `first` to *last.
 */
static bool is_had(const struct shipments *list, size_t nr, uint64_t first,
		   uint64_t *last)
{
	bool had = false;

	for (size_t i = 0; i < nr; i++) {
		const struct shipment *s = &list->shipment[i];

		for (size_t k = s->from; k < s->to; k++) {
			const struct flushes *f = &list->flushes[k];
			const bool has = f->first <= first && f->last >= first;

			if (has && !had)
				*last = f->last < *last ? f->last : *last;
			if (!has && !had && f->first > first && f->first <= *last)
				*last = f->first - 1;
			had |= has;
		}
	}
	return had;
}

bool shipments_next_alone(const struct shipments *list, size_t i, struct flushes *f,
			  struct flushes *alone)
{
	while (f->first <= f->last) {
		uint64_t last = f->last;
		const bool had = is_had(list, i, f->first, &last);

		*alone = (struct flushes){ f->first, last };
		f->first = last + 1;
		if (!had)
			return true;
	}
	return false;
}
