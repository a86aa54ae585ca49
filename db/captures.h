/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captures.h - what cpi-capture kept of files, by image: the table "capture"
 *
 * A part is never changed: what has samples later is another one. What is in it comes
 * from a process that read a hostile file, so whoever decodes it trusts nothing.
 */
#ifndef CPI_DB_CAPTURES_H
#define CPI_DB_CAPTURES_H

#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "db/model.h"

struct capture_part {
	const void *covers;
	size_t covers_size;
	const void *data; /* packed (db/pack.h) */
	size_t data_size;
};

/* A non-zero return stops, and is returned. Bytes stay until the call ends. */
typedef int (*capture_part_fn)(void *ctx, const struct capture_part *part);

/*
 * Adds a part to an image, which becomes known when it was not, in one transaction. For
 * a DB_COLLECT handle. 0, -errno or -CPI_E….
 */
int captures_add(struct db *db, const struct image_desc *image,
		 const struct capture_part *part);

/* The parts of an image, in order. */
int captures_each(struct db *db, int64_t image, capture_part_fn fn, void *ctx);

/* The same by what the image is, without data; none of an image that is not known. */
int captures_covers(struct db *db, const struct image_desc *image, capture_part_fn fn,
		    void *ctx);

/* What all parts take, without what SQLite adds. */
int captures_bytes(struct db *db, uint64_t *out);

/*
 * The next range of covers: *end starts as 0, *pos at the first byte. 1, 0 at
 * the end, or -CPI_ECORRUPT, -CPI_ETRUNCATED.
 */
int captures_next_cover(const uint8_t **pos, const uint8_t *limit, uint64_t *start,
			uint64_t *end);

#endif
