/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagenumbers.h - images by small numbers, as stacks and windows name them
 */
#ifndef CPI_DAEMON_IMAGENUMBERS_H
#define CPI_DAEMON_IMAGENUMBERS_H

#include "base/hmap.h"
#include "daemon/procmap/images.h"

/* Starts as { 0 }. */
struct imagenumbers {
	struct hmap map;
	struct known_image **image; /* by number */
	size_t nr;
};

#define IMAGENUMBERS_BYTES 64 /* that an image takes, about */

/* The image's number, the next one if it has none; it may be NULL. 0 or -ENOMEM. */
int imagenumbers_get(struct imagenumbers *in, struct known_image *image, uint32_t *nr);

/* For images_sweep(). */
void imagenumbers_mark(const struct imagenumbers *in);

/*
 * Their descriptions, by number, NULL for that of NULL; free() them. NULL when out of
 * memory.
 */
const struct image_desc **imagenumbers_list(const struct imagenumbers *in);

void imagenumbers_fini(struct imagenumbers *in);

#endif
