/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - the ids of platforms, streams, contexts and images
 *
 * Each function finds the row of a description, or inserts it. They are for write
 * transactions. Nothing is cached: after a rollback, another row may get the same id.
 */
#ifndef CPI_DB_INTERN_H
#define CPI_DB_INTERN_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/profile/model.h"

int intern_platform(sqlite3 *h, const struct platform_desc *d, int64_t *id);
int intern_stream(sqlite3 *h, const struct stream_desc *d, int64_t *id);
int intern_context(sqlite3 *h, const char *name, int64_t *id);

/*
 * A flush names hundreds of images: the statement that finds them is prepared
 * once, and is the caller's to finalize.
 */
int intern_image_search(sqlite3 *h, sqlite3_stmt **search);
int intern_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id);

/* Only finds an image: -ENOENT if there is none. */
int intern_find_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id);

#endif
