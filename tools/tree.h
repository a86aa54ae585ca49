/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - call stacks of a selection as a tree, and the tree in rows
 */
#ifndef CPI_TOOLS_TREE_H
#define CPI_TOOLS_TREE_H

#include "analysis/calltree.h"
#include "tools/calls.h"

#define OPT_INLINES                                                               \
	OPT("inlines", 'i', NULL, "tell inlined functions from their procedures", \
	    OPT_FLAG, inlines)
#define OPT_COMMANDS                                                            \
	OPT("commands", 0, NULL, "begin each stack with its command", OPT_FLAG, \
	    commands)
#define OPT_INVERTED \
	OPT("inverted", 0, NULL, "from the leaves to their callers", OPT_FLAG, inverted)
#define OPTS_TREE(least)                                                            \
	OPT_INLINES, OPT_COMMANDS,                                                  \
		OPT("threshold", 0, "PERCENT",                                      \
		    "leave out what is less; default " least, OPT_REAL, threshold), \
		OPT("idle", 0, NULL, "count idle CPUs, too", OPT_FLAG, idle),       \
		OPTS_DEBUG_FILES

/* Which part of the stacks. */
enum tree_part {
	TREE_WHOLE,
	TREE_CALLERS, /* of the first argument, from its outermost frame outwards */
	TREE_CALLEES, /* ... and inwards */
};

struct tree {
	const struct cmd_context *ctx;
	enum tree_part part;
	struct calltree tree;
	struct frames frames;
	struct calls calls[CALLTREE_NR_SIDES];
	int nr_sides;
	/* private */
	bool *wanted;
	int side;
};

/*
 * Puts what ctx selects into a tree, of the epochs that spec names for each side; how
 * is calls.h's. Errors are logged. 0 or negative; t is to be closed after 0.
 */
int tree_open(const struct cmd_context *ctx, enum tree_part part, unsigned int how,
	      const char *const *spec, int nr_sides, struct tree *t);
void tree_close(struct tree *t);

/* How many nodes have at least percent of the whole. */
size_t tree_nr_above(const struct tree *t, double percent);

/*
 * Orders it and takes out what is below percent of the whole. 0 or -ENOMEM, logged.
 */
int tree_finish(struct tree *t, double percent);

int tree_print(struct tree *t); /* 0 or -ENOMEM */

/* All of a command: opens, finishes, prints. The exit status. */
int tree_run(const struct cmd_context *ctx, enum tree_part part);

#endif
