/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - identifies the contents of epochs, to notice changes
 */
#ifndef CPI_DB_CONTENT_H
#define CPI_DB_CONTENT_H

#include "base/buf.h"
#include "db/core/db.h"
#include "db/profile/selection.h"

/*
 * Called with the name of each image that may be in the epochs. Returns 0 or an error.
 */
typedef int (*query_content_fn)(void *ctx, const char *image);

/*
 * Appends lines that change whenever a flush, a roll-up or a capture changes the
 * contents of the epochs. With more than 100 epochs, the lines also change with
 * captures of other images. Returns 0, -ENOMEM, SQLite's error, or fn's error.
 */
int query_content(struct db *db, const struct query_epochs *e, struct buf *out,
		  query_content_fn fn, void *ctx);

#endif
