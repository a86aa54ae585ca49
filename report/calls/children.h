/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children.h - exclusive and inclusive time, from call stacks
 *
 * By image, the frames of an image are one: a stack counts once in each that it is in.
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
	uint32_t *order;     /* of the rows, nr_rows, each a frame */
	size_t nr_rows;
	/* private */
	struct calls_request request;
	uint32_t *stands_for; /* by frame: itself, or the first of its image */
	struct buf frame;     /* uint32_t: a stack of what frames stand for */
	char *procedure_glob;
};

/*
 * A row for each procedure, or with BY_IMAGE each image, of what req selects, in the
 * order of req->sort: time, self, procedure or image. Errors are logged but for
 * -ENOMEM. 0 or negative.
 */
int children_open(const struct prof_request *req, struct children *c);
void children_close(struct children *c);

/* The image that a frame is of, or what stands for it. */
const char *children_image(const struct children *c, uint32_t frame);

#endif
