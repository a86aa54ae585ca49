/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame.h - a tree of calls as a picture that can be searched and zoomed
 *
 * One SVG file that needs nothing else. Without its script it is still a picture: the
 * script only moves the boxes that are there.
 */
#ifndef CPI_TOOLS_FLAME_H
#define CPI_TOOLS_FLAME_H

#include "analysis/calls/calltree.h"
#include "base/buf.h"
#include "report/calls/calls.h"
#include "report/calls/frames.h"
#include "report/compare/diff_frames.h"

struct flame {
	const struct calltree *tree; /* sorted and pruned; its root's size is above 0 */
	const struct frames *frames;
	const char *title;
	const char *const *note; /* lines below the title */
	size_t nr_notes;
	bool icicle;                 /* the root is at the top */
	double part[NR_FRAME_KINDS]; /* by kind, the share of self time before pruning;
					only if it is not a comparison */
	/* By frame; NULL when there is one side. */
	const struct frame_change *change;
};

/* Computes the share of self time of each kind of frame. */
void flame_parts(const struct calltree *t, const struct frames *frames,
		 double part[NR_FRAME_KINDS]);

/* The change of a node's procedure; an inlined function has that of its caller. */
const struct frame_change *flame_change_of(const struct flame *f,
					   const struct call_node *n);

/*
 * The colour of a node that is not the root. 0: its procedure did not change
 * significantly, or not in this direction at this node. 1 to 4: it takes more self time
 * here on the second side; 4 is more than four times as much. -1 to -4: less, likewise.
 */
int flame_shade(const struct flame *f, const struct call_node *n);

/*
 * Prints the boxes of two sides as JSON, with what the picture says of them. calls has
 * the sides' selections. 0 or -ENOMEM.
 */
int flame_print_json(const struct flame *f, const struct calls calls[2],
		     enum compare_basis basis);

/* Appends the picture. 0 or -ENOMEM. */
int flame_put(struct buf *out, const struct flame *f);

#endif
