/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - the ids of what rows refer to, found or given
 *
 * For use inside a write transaction. Nothing is cached: an id that a rolled
 * back transaction gave would be somebody else's in the next.
 */
#ifndef CPI_DB_INTERN_H
#define CPI_DB_INTERN_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/model.h"

int intern_platform(sqlite3 *h, const struct platform_desc *d, int64_t *id);
int intern_stream(sqlite3 *h, const struct stream_desc *d, int64_t *id);
int intern_context(sqlite3 *h, const char *name, int64_t *id);

/*
 * A flush names hundreds of images: the statement that finds them is prepared
 * once, and is the caller's to finalize.
 */
int intern_image_search(sqlite3 *h, sqlite3_stmt **search);
int intern_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id);

/* The same without giving one: -ENOENT. */
int intern_find_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id);

#endif
