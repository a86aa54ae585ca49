/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captures.h - table capture: what cpi-capture read from the files of images
 *
 * Parts are never changed. When more procedures have samples later, another part is
 * added. A part comes from a process that read a hostile file, so it is untrusted.
 */
#ifndef CPI_DB_CAPTURES_H
#define CPI_DB_CAPTURES_H

#include <stddef.h>
#include <stdint.h>

#include "db/core/db.h"
#include "db/profile/model.h"

struct capture_part {
	const void *covers;
	size_t covers_size;
	const void *data; /* packed (db/profile/pack.h) */
	size_t data_size;
};

/*
 * Called for each part, whose bytes are valid during the call. A non-zero return stops,
 * and is returned.
 */
typedef int (*capture_part_fn)(void *ctx, const struct capture_part *part);

/*
 * Adds a part to an image in one transaction; inserts the image if it is new. The open
 * epoch refers to the image from then on. db must be a DB_COLLECT handle. Returns 0,
 * -errno or -CPI_E….
 */
int captures_add(struct db *db, const struct image_desc *image,
		 const struct capture_part *part);

/*
 * Calls fn for each part of an image, in order. Returns 0, fn's non-zero return, or an
 * error.
 */
int captures_each(struct db *db, int64_t image, capture_part_fn fn, void *ctx);

/*
 * The same for an image given by its description, without the data. An image that is
 * not in the database has no parts.
 */
int captures_covers(struct db *db, const struct image_desc *image, capture_part_fn fn,
		    void *ctx);

/*
 * Gets the size of all parts in bytes, without the overhead of SQLite. Returns 0 or an
 * error.
 */
int captures_bytes(struct db *db, uint64_t *out);

/*
 * Reads the next range of covers. *pos starts at the first byte of covers and *end at
 * 0. Returns 1 if there was a range, 0 at the end, -CPI_ECORRUPT or -CPI_ETRUNCATED.
 */
int captures_next_cover(const uint8_t **pos, const uint8_t *limit, uint64_t *start,
			uint64_t *end);

#endif
