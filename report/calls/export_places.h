/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_places.h - the frames of many instructions; opens each image only once
 *
 * A place is an offset in an image. The caller first notes all places, then has them
 * looked up, and then reads their frames.
 */
#ifndef CPI_REPORT_EXPORT_PLACES_H
#define CPI_REPORT_EXPORT_PLACES_H

#include "base/arena.h"
#include "base/hmap.h"
#include "base/progress.h"
#include "report/calls/export_frames.h"
#include "report/calls/strings.h"
#include "report/select/imagecache.h"

#define EXPORT_MAX_PLACES (1u << 24)

/* Starts as { 0 }. */
struct export_places {
	struct hmap images, places;
	struct export_place **place;
	size_t nr;
	struct arena memory;
	struct strings strings;
	struct export_frames frames; /* of all places, one after the other */
};

/* Notes a place. Returns 0, -ENOMEM, or -CPI_ELIMIT. */
int export_places_note(struct export_places *p, const struct query_image *image,
		       uint64_t offset);

/* Looks up all places, and reports progress. Returns 0, -ENOMEM, or -CPI_ELIMIT. */
int export_places_look_up(struct export_places *p, struct image_cache *images,
			  struct progress *progress);

/* Appends the frames of a place; returns -ENOENT if the place was not noted. */
int export_places_add(const struct export_places *p, const struct query_image *image,
		      uint64_t offset, struct export_frames *out);
void export_places_fini(struct export_places *p);

#endif
