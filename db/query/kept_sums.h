/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_sums.h - profiles that were added up in an earlier run
 *
 * A report of a year adds up thousands of epochs, of which nearly all are closed and do
 * not change any more. So the epochs of a selection are divided into blocks of ten
 * days, and the sums of a block are kept (struct query_keeper). The last block, and one
 * with an open epoch, is added up each time.
 *
 * The key of a block is made of its epochs: their ids, times and numbers of samples.
 * The key of a sum is made of its image, its stream, and each place's epoch, context
 * and number of samples. If a roll-up, a removal or an import changes them, the key
 * changes too, so an outdated sum is never used.
 */
#ifndef CPI_DB_KEPT_SUMS_H
#define CPI_DB_KEPT_SUMS_H

#include "db/query/places.h"

struct kept_sums;

/*
 * Divides the selection's epochs into blocks. *out is NULL if nothing is to be kept:
 * there is no keeper, or there are only few epochs. Returns 0 or -ENOMEM.
 */
int kept_sums_open(const struct query_selection *sel, struct kept_sums **out);

/*
 * Stores the new sums if is_whole, which says that the query was not disturbed, and
 * frees ks; accepts NULL.
 */
void kept_sums_close(struct kept_sums *ks, bool is_whole);

/* Some places of one image, stream and (if they are apart) context, in one block. */
struct kept_row {
	const struct query_image *image;
	int64_t stream;
	const struct profile_place *place;
	size_t nr;
};

/*
 * Returns how many of the nr places, from the first one on, are in the same block and
 * may be kept; 0 if the first one may not. Accepts NULL.
 */
size_t kept_sums_run(struct kept_sums *ks, const struct profile_place *place,
		     size_t nr);

/*
 * Adds the row's sum to p. Returns 0, -ENOENT if it is not kept, or another error,
 * after which a part may have been added.
 */
int kept_sums_get(struct kept_sums *ks, const struct kept_row *row, struct profile *p);

/* From now on nothing is kept: for a caller that found an error in what was kept. */
void kept_sums_forget(struct kept_sums *ks);

/* Takes p as the row's sum, for the next run. A failure only costs time. */
void kept_sums_put(struct kept_sums *ks, const struct kept_row *row, struct profile *p);

#endif
