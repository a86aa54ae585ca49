/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighed_frames.h - an instruction as frames: what was inlined there, and its
 * procedure
 */
#ifndef CPI_TOOLS_WEIGHED_FRAMES_H
#define CPI_TOOLS_WEIGHED_FRAMES_H

#include "tools/strings.h"
#include "tools/weighed.h"

/* Starts as { 0 }. */
struct weighed_frames {
	struct weighed_frame *at;
	size_t nr, cap;
	struct strings names; /* that no symbol has */
};

/* The last component of a path. */
const char *weighed_base_name(const char *path);

/*
 * Appends the frames of an instruction, the innermost first. im is NULL where the
 * image cannot be opened; else most names are its own. A name that says something only
 * in its image, as "[0x4290]" does, is followed by that. 0, -ENOMEM or -CPI_ELIMIT.
 */
int weighed_frames_add(struct weighed_frames *f, const struct query_image *image,
		       struct image *im, uint64_t offset);

/* Appends one that is in no image: name says what. 0 or -ENOMEM. */
int weighed_frames_add_name(struct weighed_frames *f, const char *name);
void weighed_frames_fini(struct weighed_frames *f);

#endif
