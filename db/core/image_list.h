/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_list.h - one numbering of the images in several epochs' stacks and windows
 *
 * Each epoch numbers its images in its own way (image_numbers.h). In this list an image
 * has one index for all epochs.
 */
#ifndef CPI_DB_IMAGE_LIST_H
#define CPI_DB_IMAGE_LIST_H

#include "db/core/db.h"
#include "db/core/image_numbers.h"
#include "db/profile/selection.h"

struct image_id;

struct image_list {
	sqlite3 *h;
	struct query_image *image; /* images that a later flush adds are appended */
	size_t nr;
	struct image_id *by_id;
};

/*
 * Reads the images of epochs (a JSON array of ids). Returns 0 or a negative error; call
 * image_list_fini() in both cases.
 */
int image_list_read(sqlite3 *h, const char *epochs, struct image_list *l);
void image_list_fini(struct image_list *l);

/*
 * Reads an epoch's numbers; out->map[number] is the image's index in l. Returns as
 * image_numbers_read().
 */
int image_list_map(struct image_list *l, int64_t epoch, struct image_numbers *out);

#endif
