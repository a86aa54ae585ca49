/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoch_numbers.h - finds the number that the caller gave to an epoch, for example the
 * index of the part that the epoch belongs to (part_totals.h)
 */
#ifndef CPI_DB_EPOCH_NUMBERS_H
#define CPI_DB_EPOCH_NUMBERS_H

#include "db/query/query.h"

struct epoch_numbers {
	struct epoch_number *list; /* sorted by epoch */
	size_t nr, last;           /* last: where the last look-up ended */
};

/* Epoch i of e gets number[i]. Returns 0 or -ENOMEM. */
int epoch_numbers_init(struct epoch_numbers *m, const struct query_epochs *e,
		       const uint32_t *number);
void epoch_numbers_fini(struct epoch_numbers *m); /* accepts { 0 } */

/*
 * Returns the number of the epoch with this id; NULL: it has none. Cheap if the ids of
 * successive calls mostly ascend.
 */
const uint32_t *epoch_numbers_find(struct epoch_numbers *m, int64_t epoch);

#endif
