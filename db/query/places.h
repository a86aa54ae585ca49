/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - reads the keys of the profiles of a selection, sorted by image
 *
 * Table profile is sorted by epoch. Most images are only in few epochs, so searching
 * every epoch for every image would mostly find nothing. Therefore all keys are read
 * once, and sorted by image.
 */
#ifndef CPI_DB_PLACES_H
#define CPI_DB_PLACES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "db/query/query.h"

struct profile_place {
	uint32_t image, stream; /* indexes in struct places */
	int64_t epoch, context;
	uint64_t total; /* number of its samples */
};

struct places {
	struct query_image *image; /* the wanted images, by ROWS_IMAGE_ORDER */
	size_t nr_images;
	int64_t *stream; /* ids by ROWS_STREAM_ORDER */
	size_t nr_streams;
	/*
	 * Sorted by image, stream, epoch and context; each once. If contexts are
	 * separate rows (selection.apart): by image, stream, context (0 is the last),
	 * and epoch.
	 */
	struct profile_place *place;
	size_t nr;
};

/* Whether an image of this name is wanted. */
typedef bool (*places_image_fn)(const struct query_selection *sel, const char *name);

/*
 * Reads the keys; epochs and contexts are JSON arrays of ids. Returns 0, -ENOMEM,
 * -CPI_ELIMIT, or SQLite's error. The caller calls places_fini() in any case.
 */
int places_find(sqlite3 *h, const struct query_selection *sel, const char *epochs,
		const char *contexts, places_image_fn wanted, struct places *p);
void places_fini(struct places *p);

#endif
