/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_frames.h - the frames of an instruction: functions inlined there, the
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
	struct strings names; /* names that are not in a symbol table */
};

/*
 * Appends the frames of an instruction, innermost first. im is NULL if the image cannot
 * be opened; else most names belong to im. A name that has a meaning only in its image
 * gets the image's name: "[0x4290] in prog". Returns 0, -ENOMEM or -CPI_ELIMIT.
 */
int export_frames_add(struct export_frames *f, const struct query_image *image,
		      struct image *im, uint64_t offset);

/* Appends a frame unchanged; its strings must outlive f. Returns 0 or -ENOMEM. */
int export_frames_append(struct export_frames *f, const struct export_frame *frame);

/* Appends a frame without image, named by reason. Returns 0, -ENOMEM or -CPI_ELIMIT. */
int export_frames_add_unknown(struct export_frames *f, const char *reason);

/* Appends the frame of the idle loop. Returns 0 or -ENOMEM. */
int export_frames_add_idle(struct export_frames *f);
void export_frames_fini(struct export_frames *f);

#endif
