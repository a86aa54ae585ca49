/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - the ids of platforms, streams, contexts and images
 *
 * Each function finds the row with a description, or inserts it, and sets *id. Call
 * them in write transactions. They return 0 or a negative error. Nothing is cached:
 * after a rollback, another row may get the same id.
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
 * A flush has hundreds of images, so the statement that finds them is prepared once;
 * the caller finalizes it.
 */
int intern_image_search(sqlite3 *h, sqlite3_stmt **search);
int intern_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id);

/* Only finds an image; returns -ENOENT if there is none. */
int intern_find_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id);

#endif
