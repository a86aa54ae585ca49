/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contained.h - finds shipments of a run whose flushes are all in other shipments
 *
 * A shipment's flushes may have holes: an hour that was rolled up lacks the minutes of
 * an epoch with a label in its middle.
 *
 * Shipments have an order: those that were read later come first (address.h, I4), then
 * those with more flushes, then those with the lower address. Only shipments that come
 * before another one replace it. So the first shipment that has a given flush is never
 * replaced, and no flush is lost, even if several shippers mark different shipments.
 */
#ifndef CPI_SHIP_CONTAINED_H
#define CPI_SHIP_CONTAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flushes first to last, in sequence. */
struct flushes {
	uint64_t first, last;
};

struct shipment {
	uint64_t host, at, nr; /* its address */
	uint64_t turn;         /* higher: read later */
	size_t from, to;       /* its indexes in flushes: from <= i < to */
	bool contained;        /* those before it have all its flushes */
	bool overlaps;         /* they have a part of them */
};

/* Starts as { 0 }. */
struct shipments {
	struct shipment *shipment;
	size_t nr;
	struct flushes *flushes;
	size_t nr_flushes;
};

void shipments_fini(struct shipments *list);

/*
 * Adds flushes to the shipment with the address, and turn, of `of`. The flushes of one
 * address must be added one after another, in order; equal ones count once. Returns 0,
 * -EINVAL for invalid flushes, or -ENOMEM.
 */
int shipments_add(struct shipments *list, const struct shipment *of,
		  const struct flushes *flushes);

/*
 * Sorts the shipments, and marks those that are contained, or overlap. 0 or -ENOMEM.
 */
int shipments_mark(struct shipments *list);

/*
 * *f are flushes of shipment i; the shipments are marked. Moves the next flushes that
 * no shipment before i has from *f to *alone. Returns false if there are no more.
 */
bool shipments_next_alone(const struct shipments *list, size_t i, struct flushes *f,
			  struct flushes *alone);

#endif
