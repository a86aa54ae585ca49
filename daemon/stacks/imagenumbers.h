/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagenumbers.h - gives images small numbers, for stacks and windows
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

#define IMAGENUMBERS_BYTES 64 /* approximate memory for an image */

/*
 * Gets the number of an image, which may be NULL; a new image gets the next number.
 * Returns 0 or -ENOMEM.
 */
int imagenumbers_get(struct imagenumbers *in, struct known_image *image, uint32_t *nr);

/* For images_sweep(). */
void imagenumbers_mark(const struct imagenumbers *in);

/*
 * Returns an array of the descriptions by number, with NULL for the image NULL; the
 * caller frees it. NULL when out of memory.
 */
const struct image_desc **imagenumbers_list(const struct imagenumbers *in);

void imagenumbers_fini(struct imagenumbers *in);

#endif
