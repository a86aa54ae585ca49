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

/*
 * Appends the frames of an instruction, the innermost first. im is NULL where the
 * image cannot be opened; else most names are its own. A name that says something only
 * in its image, as "[0x4290]" does, is followed by that. 0, -ENOMEM or -CPI_ELIMIT.
 */
int weighed_frames_add(struct weighed_frames *f, const struct query_image *image,
		       struct image *im, uint64_t offset);

/* Appends one as it is; its strings stay longer than f. 0 or -ENOMEM. */
int weighed_frames_append(struct weighed_frames *f, const struct weighed_frame *frame);

/* Appends one that is in no image, and why. 0, -ENOMEM or -CPI_ELIMIT. */
int weighed_frames_add_unknown(struct weighed_frames *f, const char *reason);

/* Appends the idle loop, of which there is nothing else to know. 0 or -ENOMEM. */
int weighed_frames_add_idle(struct weighed_frames *f);
void weighed_frames_fini(struct weighed_frames *f);

#endif
