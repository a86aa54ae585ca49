/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_query.h - reading windows: those that a selection names, and their streams
 *
 * Windows are sampled by streams of their own, as stacks are (stacks.h): where they
 * begin is time, but none of the profiles'.
 */
#ifndef CPI_DB_WINDOW_QUERY_H
#define CPI_DB_WINDOW_QUERY_H

#include "db/query.h"
#include "db/windows.h"

struct query_windows {
	const struct query_image *image; /* that they began in */
	int64_t stream;
	struct windows *windows; /* of the selected epochs together */
	/* By their number in the jumps; the same for all rows. id 0: unknown. */
	const struct query_image *images;
	size_t nr_images;
};

/*
 * Calls fn for each (image of the starts, stream) of the selection, in an order that is
 * made of what they are; all that row leads to ends with the call. A selection's image
 * is that of the starts; its context a glob on values of its kind. fn's non-zero return
 * stops and is returned. 0 also where there are none; -CPI_ECORRUPT (logged) for what
 * does not decode; -EAGAIN (logged) when retention works on some of the epochs
 * meanwhile; or -ENOMEM, ...
 */
typedef int (*query_windows_fn)(void *ctx, const struct query_windows *row);
int query_windows(struct db *db, const struct query_selection *sel, query_windows_fn fn,
		  void *ctx);

/* As query_streams() and query_losses(), of the streams that windows are sampled by. */
int query_window_streams(struct db *db, const struct query_epochs *e, const char *event,
			 struct query_streams *out);
int query_window_losses(struct db *db, const struct query_epochs *e,
			struct query_losses *out);

#endif
