/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access_query.h - reads which data the windows of a selection touched
 */
#ifndef CPI_DB_ACCESS_QUERY_H
#define CPI_DB_ACCESS_QUERY_H

#include "db/profile/accesses.h"
#include "db/query/query.h"

struct query_accesses {
	const struct query_image *image; /* in which the windows began */
	int64_t stream;
	struct accesses *accesses; /* merged over the selected epochs */
	/* Images by their number in the set; the same for all rows. id 0: unknown. */
	const struct query_image *images;
	size_t nr_images;
};

/*
 * Calls fn for each stream of the selection and each image in which windows with
 * accesses began, as query_windows() does. Returns as it does.
 */
typedef int (*query_accesses_fn)(void *ctx, const struct query_accesses *row);
int query_accesses(struct db *db, const struct query_selection *sel,
		   query_accesses_fn fn, void *ctx);

#endif
