/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - where the profiles of a selection are, image by image
 *
 * Table profile is in the order of epochs. To look for each image in each epoch takes
 * as many searches as there are both, of which most find nothing; so the keys are read
 * once, and put in the order of images.
 */
#ifndef CPI_DB_PLACES_H
#define CPI_DB_PLACES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "db/query.h"

struct place {
	uint32_t image, stream; /* indexes */
	int64_t epoch, context;
};

struct places {
	struct query_image *image; /* by ROWS_IMAGE_ORDER, those that are wanted */
	size_t nr_images;
	int64_t *stream; /* ids by ROWS_STREAM_ORDER */
	size_t nr_streams;
	/* By image, stream, epoch and context; of a selection that is apart, context 0
	 * is the last and epochs follow. Each once. */
	struct place *place;
	size_t nr;
};

/* Whether an image of this name is wanted. */
typedef bool (*places_image_fn)(const struct query_selection *sel, const char *name);

/*
 * epochs and contexts are JSON arrays of ids. 0, -ENOMEM, -CPI_ELIMIT, or what SQLite
 * reports; p is to be freed in any case.
 */
int places_find(sqlite3 *h, const struct query_selection *sel, const char *epochs,
		const char *contexts, places_image_fn wanted, struct places *p);
void places_fini(struct places *p);

#endif
