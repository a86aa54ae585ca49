/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - what a report of some epochs reads of the database, in few words
 */
#ifndef CPI_DB_CONTENT_H
#define CPI_DB_CONTENT_H

#include "base/buf.h"
#include "db/core/db.h"
#include "db/profile/selection.h"

/* Called with the name of each image that the epochs may have. 0 or an error. */
typedef int (*query_content_fn)(void *ctx, const char *image);

/*
 * Appends lines that change when a flush, a roll-up or a capture changes what the
 * epochs have. Of more than 100 epochs a capture of any image counts. 0, -ENOMEM, what
 * SQLite reports, or what fn returned.
 */
int query_content(struct db *db, const struct query_epochs *e, struct buf *out,
		  query_content_fn fn, void *ctx);

#endif
