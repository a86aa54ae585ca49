/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - the keys of the profiles of a selection, in the order of images
 *
 * Table profile is in the order of epochs. Searching every epoch for every image would
 * find nothing most of the time. So all keys are read once, and sorted by image.
 */
#ifndef CPI_DB_PLACES_H
#define CPI_DB_PLACES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "db/query/query.h"

struct profile_place {
	uint32_t image, stream; /* indexes */
	int64_t epoch, context;
	uint64_t total; /* of its counts */
};

struct places {
	struct query_image *image; /* by ROWS_IMAGE_ORDER, those that are wanted */
	size_t nr_images;
	int64_t *stream; /* ids by ROWS_STREAM_ORDER */
	size_t nr_streams;
	/*
	 * By image, stream, epoch and context, each once. If the selection is apart:
	 * by image, stream, context, of which 0 is the last, and epoch.
	 */
	struct profile_place *place;
	size_t nr;
};

/* Whether an image of this name is wanted. */
typedef bool (*places_image_fn)(const struct query_selection *sel, const char *name);

/*
 * epochs and contexts are JSON arrays of ids. 0, -ENOMEM, -CPI_ELIMIT, or what SQLite
 * reports. The caller frees p in any case.
 */
int places_find(sqlite3 *h, const struct query_selection *sel, const char *epochs,
		const char *contexts, places_image_fn wanted, struct places *p);
void places_fini(struct places *p);

#endif
