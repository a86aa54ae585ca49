/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighed_places.h - the frames of many instructions, whose images are opened once each
 *
 * First every place is noted, then all are looked up, then asked for.
 */
#ifndef CPI_TOOLS_WEIGHED_PLACES_H
#define CPI_TOOLS_WEIGHED_PLACES_H

#include "base/arena.h"
#include "base/hmap.h"
#include "tools/imagecache.h"
#include "tools/progress.h"
#include "tools/strings.h"
#include "tools/weighed_frames.h"

#define WEIGHED_MAX_PLACES (1u << 24)

/* Starts as { 0 }. */
struct weighed_places {
	struct hmap images, places;
	struct weighed_place **place;
	size_t nr, cap;
	struct arena memory;
	struct strings strings;
	struct weighed_frames frames; /* of all places, behind each other */
};

/* 0, -ENOMEM, or -CPI_ELIMIT. */
int weighed_places_note(struct weighed_places *p, const struct query_image *image,
			uint64_t offset);

/* progress is told how many are done. 0, -ENOMEM, or -CPI_ELIMIT. */
int weighed_places_look_up(struct weighed_places *p, struct image_cache *images,
			   struct progress *progress);

/* Appends a place's frames; -ENOENT when it was not noted. */
int weighed_places_add(const struct weighed_places *p, const struct query_image *image,
		       uint64_t offset, struct weighed_frames *out);
void weighed_places_fini(struct weighed_places *p);

#endif
