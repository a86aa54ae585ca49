/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch_paths.h - which way did control come to a sampled instruction?
 *
 * ProfileMe (MICRO'97) section 5.3: a branch history register has the directions of the
 * last conditional branches, but not where they were. Walking the graph backwards from
 * the sample finds the paths that agree with it.
 *
 * Nodes are basic blocks, cut behind calls. A walk that comes to a call goes on at the
 * returns of what was called, and from its beginning back to the call.
 */
#ifndef CPI_T_ACCURACY_PATHS_H
#define CPI_T_ACCURACY_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cfg/cfg.h"

#define PATHS_MAX_BITS  64
#define PATHS_MAX_NODES 2048 /* of a path */

enum path_end {
	PATH_FALLS,   /* into the next node, or jumps to where it always does */
	PATH_JUMPS,   /* conditionally: it has a bit */
	PATH_CALLS,   /* comes back behind it */
	PATH_RETURNS, /* from the procedure */
};

struct path_node {
	uint64_t start, end; /* image offsets */
	int nr_insns;
	enum path_end ends;
	int procedure;  /* node that it begins with */
	uint64_t calls; /* image offset; 0: it is not known */
	int first_in, next_exit;
};

struct path_graph;

struct path_graph *path_graph_new(void);    /* NULL: out of memory */
void path_graph_free(struct path_graph *g); /* accepts NULL */

/* A procedure's blocks; those that are there already are left out. 0 or -ENOMEM. */
int path_graph_add(struct path_graph *g, const struct cfg *cfg);

/* After the last one: calls and jumps lead to nodes from now on. 0 or -ENOMEM. */
int path_graph_link(struct path_graph *g);

/* For graphs that are made by hand: a node, whose number is returned, or -ENOMEM. */
int path_graph_add_node(struct path_graph *g, const struct path_node *node);

/* The node that begins at offset, or -1. */
int path_graph_find(const struct path_graph *g, uint64_t offset);
const struct path_node *path_graph_node(const struct path_graph *g, int node);

/*
 * Control went from one node to another: counted, and where nothing in the code says
 * that it can, it can from now on. taken is for those that end PATH_JUMPS. 0 or
 * -ENOMEM.
 */
int path_graph_observe(struct path_graph *g, int from, int to, bool taken);

/* After what was observed: ways that were gone more often come first. 0 or -ENOMEM. */
int path_graph_sort(struct path_graph *g);

struct path_query {
	int node;       /* that was sampled */
	uint64_t bits;  /* taken or not; bit 0 is the last branch before it */
	int nr_bits;    /* <= PATHS_MAX_BITS */
	bool inside;    /* the path ends at the procedure's begin at the latest */
	bool observed;  /* only ways that were observed; else all that the code has */
	bool likeliest; /* of several, the one whose ways were gone most; first
			   path_graph_sort() */
	int insn;       /* which instruction of the node was sampled, */
	int distance;   /* and how many before it another one was; 0: none was */
	int before;     /* node of that one */
};

struct path {
	int node[PATHS_MAX_NODES]; /* backwards: the sampled one first */
	int nr;
};

/* The path that is taken most often at each merge. 0, or -CPI_EEMPTY: it got stuck. */
int path_likely(const struct path_graph *g, const struct path_query *q,
		struct path *out);

/*
 * The path that agrees with the bits, and contains the other instruction. 0,
 * -CPI_EEMPTY, -CPI_ETOOMANY, or -CPI_ELIMIT: it would take too long.
 */
int path_find(const struct path_graph *g, const struct path_query *q, struct path *out);

#endif
