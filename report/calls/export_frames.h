/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_frames.h - an instruction as frames: what was inlined there, and its
 * procedure
 */
#ifndef CPI_REPORT_EXPORT_FRAMES_H
#define CPI_REPORT_EXPORT_FRAMES_H

#include "report/calls/export_stack.h"
#include "report/calls/strings.h"

/* Starts as { 0 }. */
struct export_frames {
	struct export_frame *at;
	size_t nr;
	struct strings names; /* that no symbol has */
};

/*
 * Appends the frames of an instruction, the innermost first. im is NULL where the
 * image cannot be opened; else most names are its own. A name that says something only
 * in its image, as "[0x4290]" does, is followed by that. 0, -ENOMEM or -CPI_ELIMIT.
 */
int export_frames_add(struct export_frames *f, const struct query_image *image,
		      struct image *im, uint64_t offset);

/* Appends one as it is; its strings stay longer than f. 0 or -ENOMEM. */
int export_frames_append(struct export_frames *f, const struct export_frame *frame);

/* Appends one that is in no image, and why. 0, -ENOMEM or -CPI_ELIMIT. */
int export_frames_add_unknown(struct export_frames *f, const char *reason);

/* Appends the idle loop, of which there is nothing else to know. 0 or -ENOMEM. */
int export_frames_add_idle(struct export_frames *f);
void export_frames_fini(struct export_frames *f);

#endif
