/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_frames.h - finds changed frames of call stacks, with the comparison of cpi diff
 *
 * Flat profiles have more samples than stacks, and cpi diff knows how much epochs
 * differ from each other. So a frame gets the change of its procedure's own time in the
 * flat profiles.
 */
#ifndef CPI_REPORT_DIFF_FRAMES_H
#define CPI_REPORT_DIFF_FRAMES_H

#include "report/calls/frames.h"
#include "report/compare/diff.h"

/* The change of a procedure's own time, from the first side to the second. */
struct frame_change {
	bool judged;              /* if false, the other members are not set */
	bool found;               /* the change is more than chance explains */
	double change, low, high; /* logarithms; low and high are its interval with 95%
				     confidence */
	const char *verdict;      /* "slower", for people; NULL if there is none */
};

struct diff_frames {
	struct frame_change *change; /* by frame */
	enum compare_basis basis;
	char *grown;             /* the procedure that grew most, or NULL */
	double grown_percent[2]; /* its share of all time, on each side */
};

/*
 * Compares the flat profiles of two specs. Errors are logged. Returns 0 or a negative
 * error.
 */
int diff_frames_open(const struct diff_request *req, const char *a, const char *b,
		     const struct frames *frames, struct diff_frames *d);
void diff_frames_close(struct diff_frames *d); /* accepts { 0 } */

#endif
