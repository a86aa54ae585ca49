/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - the common part of cpi tree, callers, callees and flame
 */
#ifndef CPI_TOOLS_TREE_H
#define CPI_TOOLS_TREE_H

#include "report/calls/tree.h"
#include "tools/options.h"

/* The options of commands that show trees begin with these. */
struct tree_options {
	struct out_options out;
	struct tree_request tree;
};

#define OPT_TREE(name, letter, arg, help, kind, field) \
	OPT_OF(struct tree_options, name, letter, arg, help, kind, tree.field)
#define OPT_INVERTED                                                                 \
	OPT_TREE("inverted", 0, NULL, "start at the leaves, and show their callers", \
		 OPT_FLAG, inverted)
#define OPTS_TREE(least)                                                              \
	OPT_TREE("inlines", 'i', NULL, "show inlined functions in rows of their own", \
		 OPT_FLAG, calls.inlines),                                            \
		OPT_TREE("commands", 0, NULL, "begin each stack with its command",    \
			 OPT_FLAG, commands),                                         \
		OPT_TREE("threshold", 0, "PERCENT",                                   \
			 "leave out smaller shares; default " least, OPT_REAL,        \
			 threshold),                                                  \
		OPT_TREE("idle", 0, NULL, "count idle CPUs, too", OPT_FLAG,           \
			 calls.idle),                                                 \
		OPTS_DEBUG_FILES

/* Runs a command: opens, finishes and prints the tree. Returns the exit status. */
int tree_run(const struct cmd_context *ctx, enum tree_part part);

#endif
