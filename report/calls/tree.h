/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - call stacks of a selection as a tree
 */
#ifndef CPI_REPORT_TREE_H
#define CPI_REPORT_TREE_H

#include "analysis/calls/calltree.h"
#include "report/calls/calls.h"

/* Which part of the stacks. */
enum tree_part {
	TREE_WHOLE,
	TREE_CALLERS, /* of a procedure, from its outermost frame outwards */
	TREE_CALLEES, /* ... and inwards */
};

struct tree_request {
	struct calls_request calls;
	bool commands, inverted;
	double threshold;    /* percent; 0: the default */
	const char *command; /* named in errors */
	enum tree_part part;
	const char *procedure; /* for callers and callees */
	bool fold; /* unknown frames that are equal and in a row are one node */
};

struct tree {
	const struct tree_request *req;
	struct calltree tree;
	struct frames frames;
	struct calls calls[CALLTREE_NR_SIDES];
	int nr_sides;
	/* private */
	bool *wanted;
	int side;
};

/*
 * Builds the tree of req's selection. Each side has the epochs of its spec; how is an
 * enum calls_how. req must outlive t. Returns 0, or a negative error that is logged;
 * the caller closes t after 0.
 */
int tree_open(const struct tree_request *req, unsigned int how, const char *const *spec,
	      int nr_sides, struct tree *t);
void tree_close(struct tree *t);

/* The part of the whole, from 0 to 1, whose stacks have a frame that is not known. */
double tree_unknown(const struct tree *t);

/* How many nodes have at least percent of the whole. */
size_t tree_nr_above(const struct tree *t, double percent);

/*
 * Sorts the tree and drops nodes below percent of the whole. 0 or -ENOMEM, logged.
 */
int tree_finish(struct tree *t, double percent);

#endif
