/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_numbers.h - table stack_image: the numbers by which blobs refer to images
 *
 * Stacks and windows refer to images by numbers that are private to their epoch. So a
 * copy to another database changes only this table, and no blob. Captured images have
 * a number, too, because retention removes images to which no epoch refers.
 */
#ifndef CPI_DB_IMAGE_NUMBERS_H
#define CPI_DB_IMAGE_NUMBERS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile/model.h"

/* An epoch's images by their number. */
struct image_numbers {
	int64_t *id;
	uint32_t *map; /* space for the caller, to map numbers; zeroed */
	uint32_t nr;
};

/*
 * Reads an epoch's numbers; image_numbers_fini() frees *out. Returns 0; -CPI_ECORRUPT
 * if numbers are missing (logged), -ENOMEM or another error, and then *out is
 * untouched.
 */
int image_numbers_read(sqlite3 *h, int64_t epoch, struct image_numbers *out);
void image_numbers_fini(struct image_numbers *im);

/*
 * In a write transaction: sets map[i] to the number of images[i] in an epoch, which may
 * be new. An image of NULL is the unknown image.
 */
int image_numbers_give(sqlite3 *h, int64_t epoch,
		       const struct image_desc *const *images, size_t nr,
		       sqlite3_stmt *search, uint32_t *map);

/*
 * In a write transaction: numbers the images of epoch in the epoch target.
 * out->map[number in epoch] is the number in target.
 */
int image_numbers_move(sqlite3 *h, int64_t epoch, int64_t target,
		       struct image_numbers *out);

#endif
