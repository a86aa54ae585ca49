/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - call stacks of a selection as a tree
 */
#ifndef CPI_REPORT_TREE_H
#define CPI_REPORT_TREE_H

#include "analysis/calls/calltree.h"
#include "report/calls/calls.h"

/* The part of the stacks that a tree shows. */
enum tree_part {
	TREE_WHOLE,
	TREE_CALLERS, /* the callers of a procedure's outermost frame */
	TREE_CALLEES, /* the callees of a procedure's outermost frame */
};

struct tree_request {
	struct calls_request calls;
	bool commands, inverted;
	double threshold;    /* percent; 0: the default */
	const char *command; /* named in errors */
	enum tree_part part;
	const char *procedure; /* for callers and callees */
	bool fold;             /* consecutive equal unknown frames become one node */
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
 * Builds the tree of one selection, or of two sides to compare. spec[i] selects the
 * epochs of side i; how is a set of enum calls_how. req must outlive t. Returns 0 or a
 * negative error, which is logged. After 0 the caller closes t.
 */
int tree_open(const struct tree_request *req, unsigned int how, const char *const *spec,
	      int nr_sides, struct tree *t);
void tree_close(struct tree *t);

/* Returns the share of time, 0 to 1, whose stacks have an unknown frame. */
double tree_unknown(const struct tree *t);

/* Returns the number of nodes that have at least percent of the time. */
size_t tree_nr_above(const struct tree *t, double percent);

/*
 * Sorts the tree and removes nodes with less than percent of the time. Returns 0 or
 * -ENOMEM, which is logged.
 */
int tree_finish(struct tree *t, double percent);

#endif
