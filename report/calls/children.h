/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children.h - exclusive and inclusive time, from call stacks
 *
 * With BY_IMAGE all frames of an image count as one frame: a stack counts once for each
 * image in it.
 */
#ifndef CPI_REPORT_CHILDREN_H
#define CPI_REPORT_CHILDREN_H

#include "analysis/calls/callsum.h"
#include "report/calls/calls.h"
#include "report/profile/prof.h"

struct children {
	const struct prof_request *req;
	struct frames frames;
	struct calls calls;
	struct callsum sums; /* by frame */
	uint32_t *order;     /* nr_rows frames: the rows in order */
	size_t nr_rows;
	/* private */
	struct calls_request request;
	uint32_t *stands_for; /* by frame: itself, or the first frame of its image */
	struct buf frame;     /* uint32_t: a stack after this replacement */
	char *procedure_glob;
};

/*
 * Makes a row for each selected procedure, or with BY_IMAGE for each image, in the
 * order of req->sort: time, self, procedure or image. Errors are logged, except
 * -ENOMEM. Returns 0 or a negative error.
 */
int children_open(const struct prof_request *req, struct children *c);
void children_close(struct children *c);

/* Returns the name of a frame's image; if it has none, the frame's own name. */
const char *children_image(const struct children *c, uint32_t frame);

#endif
