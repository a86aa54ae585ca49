/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagetrail.h - what an image cache has found, so that a later run can tell the same
 *
 * The procedures of images depend on the programs, on what was captured of them, and on
 * debug files. content.h covers the first two. A trail has the rest: every path at
 * which a debug file was looked for, with the state of what was there, and the images
 * that could not be opened. Starts as { 0 }.
 */
#ifndef CPI_REPORT_IMAGETRAIL_H
#define CPI_REPORT_IMAGETRAIL_H

#include <stdbool.h>

#include "base/buf.h"

struct image_trail {
	struct buf files; /* paths and states */
	struct buf
		failures; /* for each failure two strings: the image's name, and why */
	bool is_open;     /* it depends on more than files */
};

void image_trail_fini(struct image_trail *t);

/* Adds a path, and what is there now; for the member look of struct image_search. */
void image_trail_look(void *trail, const char *path, bool follow);

/* Adds an image that cannot be opened. */
void image_trail_fail(struct image_trail *t, const char *name, const char *why);

/*
 * Whether everything that files (the member of a trail, untrusted, not NULL) has is
 * still in the state that it had then.
 */
bool image_trail_is_current(const char *files, size_t size);

/*
 * Reads the next failure from *at, and moves *at behind it. False at the end, or if
 * what follows is none.
 */
bool image_trail_next(const char **at, const char *end, const char **name,
		      const char **why);

#endif
