/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contained.h - finds shipments of a run whose flushes are all in another shipment
 *
 * A shipment's flushes may have holes: an hour that was rolled up lacks the minutes of
 * an epoch with a label in its middle.
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
	size_t from, to;       /* its indexes in flushes: from <= i < to */
	bool contained;
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
 * Adds flushes to a shipment. The flushes of one address must be added one after
 * another, in order; equal ones count once. Returns 0, -EINVAL for invalid flushes, or
 * -ENOMEM.
 */
int shipments_add(struct shipments *list, uint64_t host, uint64_t at, uint64_t nr,
		  const struct flushes *flushes);

/*
 * Sorts the shipments, and marks those whose flushes are all in one other shipment. Of
 * equal shipments the one with the lowest address is not marked.
 */
void shipments_mark(struct shipments *list);

#endif
