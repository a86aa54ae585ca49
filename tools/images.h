/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - the images of a database, opened for their symbols and code
 *
 * Files are opened where they lie, if they are still what was profiled;
 * everything else comes from what was captured. A few stay open.
 */
#ifndef CPI_TOOLS_IMAGES_H
#define CPI_TOOLS_IMAGES_H

#include "analysis/image.h"
#include "db/query.h"

struct images;

/* machine is of images that were captured. NULL when out of memory. */
struct images *images_new(struct db *db, enum machine machine);
void images_free(struct images *images); /* accepts NULL */

/*
 * The image, valid until the next call. Returns 0, -ENOMEM, or why it cannot
 * be opened, which is logged once per image: callers go on without names.
 */
int images_get(struct images *images, const struct query_image *row,
	       struct image **out);

/* Why an image of this kind may have no code, for people. */
const char *images_missing_code(const struct image_desc *desc);

#endif
