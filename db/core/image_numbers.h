/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_numbers.h - table stack_image: the numbers by which blobs name images
 *
 * Stacks and windows name images by numbers that are their epoch's own, so a copy maps
 * them to another database's images without a look into a blob.
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
	uint32_t *map; /* room for other numbers of the same images; 0 at first */
	uint32_t nr;
};

/*
 * To be ended by image_numbers_fini(). 0, -CPI_ECORRUPT when numbers are missing
 * (logged), -ENOMEM, ...; then *out is untouched.
 */
int image_numbers_read(sqlite3 *h, int64_t epoch, struct image_numbers *out);
void image_numbers_fini(struct image_numbers *im);

/* In a write transaction: numbers a flush's images in an epoch; NULL: the unknown one.
 */
int image_numbers_give(sqlite3 *h, int64_t epoch,
		       const struct image_desc *const *images, size_t nr,
		       sqlite3_stmt *search, uint32_t *map);

/* In a write transaction: numbers an epoch's images in target; map has these numbers.
 */
int image_numbers_move(sqlite3 *h, int64_t epoch, int64_t target,
		       struct image_numbers *out);

#endif
