/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_query.h - reads the windows of a selection, and which data they touched
 *
 * Windows have their own streams, as stacks do (stacks.h). Their starts measure the
 * same time as the profiles, and must not be added to it.
 */
#ifndef CPI_DB_WINDOW_QUERY_H
#define CPI_DB_WINDOW_QUERY_H

#include "db/profile/accesses.h"
#include "db/profile/windows.h"
#include "db/query/query.h"

struct query_windows {
	const struct query_image *image; /* in which they began */
	int64_t stream;
	/* One of the two, merged over the selected epochs; the other one is NULL. */
	struct windows *windows;
	struct accesses *accesses;
	/*
	 * Images by their number in the jumps or accesses; the same for all rows. id 0:
	 * unknown.
	 */
	const struct query_image *images;
	size_t nr_images;
};

/*
 * Calls fn for each stream of the selection and each image in which windows began. row
 * and everything that it points to are valid during the call. The order does not depend
 * on ids. The selection's image selects by the image of the start; its contexts are
 * patterns. A non-zero return of fn stops and is returned. Returns 0, also if there are
 * no windows; -CPI_ECORRUPT (logged) if a row does not decode; -EAGAIN (logged) if
 * retention changes some of the epochs during the query; or another error.
 */
typedef int (*query_windows_fn)(void *ctx, const struct query_windows *row);
int query_windows(struct db *db, const struct query_selection *sel, query_windows_fn fn,
		  void *ctx);

/* The same for the accesses of windows. */
int query_accesses(struct db *db, const struct query_selection *sel,
		   query_windows_fn fn, void *ctx);

#endif
