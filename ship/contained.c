/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contained.c - compares the flushes of a run's shipments
 *
 * Shipments are sorted by first flush, then by size from the largest, so a shipment
 * comes after any that contains it. Nearly all shipments are disjoint, so the search
 * among those before ends at once: it is made only if one of them reached the
 * shipment's last flush.
 */
#include "config.h"

#include "ship/contained.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static uint64_t first_of(const struct shipments *list, const struct shipment *s)
{
	return list->flushes[s->from].first;
}

static uint64_t last_of(const struct shipments *list, const struct shipment *s)
{
	return list->flushes[s->to - 1].last;
}

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

static bool is_at(const struct shipment *s, uint64_t host, uint64_t at, uint64_t nr)
{
	return s->host == host && s->at == at && s->nr == nr;
}

int shipments_add(struct shipments *list, uint64_t host, uint64_t at, uint64_t nr,
		  const struct flushes *flushes)
{
	struct shipment *s = list->nr ? &list->shipment[list->nr - 1] : NULL;
	struct flushes *before = NULL;

	if (flushes->first > flushes->last || flushes->last == UINT64_MAX)
		return -EINVAL;
	if (s && is_at(s, host, at, nr))
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
		*s = (struct shipment){
			.host = host, .at = at, .nr = nr, .from = list->nr_flushes
		};
	}
	list->flushes[list->nr_flushes++] = *flushes;
	s->to = list->nr_flushes;
	return 0;
}

/* By the first flush; of those that begin together the longest, then the lowest. */
static int compare(const void *x, const void *y, void *ctx)
{
	const struct shipment *a = x, *b = y;
	const uint64_t first_a = first_of(ctx, a), first_b = first_of(ctx, b);
	const uint64_t nr_a = count(ctx, a), nr_b = count(ctx, b);

	if (first_a != first_b)
		return first_a < first_b ? -1 : 1;
	if (nr_a != nr_b)
		return nr_a > nr_b ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

/* Whether each of b's flushes is among a's; both are in order. */
static bool has_all(const struct shipments *list, const struct shipment *a,
		    const struct shipment *b)
{
	size_t i = a->from;

	for (size_t k = b->from; k < b->to; k++) {
		const struct flushes *of = &list->flushes[k];

		while (i < a->to && list->flushes[i].last < of->last)
			i++;
		if (i == a->to || list->flushes[i].first > of->first)
			return false;
	}
	return true;
}

void shipments_mark(struct shipments *list)
{
	uint64_t reached = 0; /* by the shipments before */

	if (list->nr)
		qsort_r(list->shipment, list->nr, sizeof(*list->shipment), compare,
			list);
	for (size_t i = 0; i < list->nr; i++) {
		struct shipment *s = &list->shipment[i];

		s->contained = false;
		if (last_of(list, s) > reached) {
			reached = last_of(list, s);
			continue;
		}
		for (size_t k = i; k-- && !s->contained;)
			s->contained = has_all(list, &list->shipment[k], s);
	}
}
