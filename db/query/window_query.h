/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_query.h - reading windows: those that a selection names, and their streams
 *
 * Windows have streams of their own, as stacks do (stacks.h). Their starts are a
 * measure of time that must not be added to that of profiles.
 */
#ifndef CPI_DB_WINDOW_QUERY_H
#define CPI_DB_WINDOW_QUERY_H

#include "db/profile/windows.h"
#include "db/query/query.h"

struct query_windows {
	const struct query_image *image; /* that they began in */
	int64_t stream;
	struct windows *windows; /* of the selected epochs together */
	/* By their number in the jumps; the same for all rows. id 0: unknown. */
	const struct query_image *images;
	size_t nr_images;
};

/*
 * Calls fn for each image that windows began in, and stream, of the selection. row and
 * all it points to end with the call. The order does not depend on ids. A selection's
 * image is that of the starts; its context is a glob on values of its kind. A non-zero
 * return of fn stops and is returned. 0, also if there are none; -CPI_ECORRUPT (logged)
 * for a row that does not decode; -EAGAIN (logged) when retention works on some of the
 * epochs meanwhile; or -ENOMEM, ...
 */
typedef int (*query_windows_fn)(void *ctx, const struct query_windows *row);
int query_windows(struct db *db, const struct query_selection *sel, query_windows_fn fn,
		  void *ctx);

#endif
