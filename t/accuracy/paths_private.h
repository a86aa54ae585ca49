/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths_private.h - the graph that paths.c walks and paths_graph.c makes
 */
#ifndef CPI_T_ACCURACY_PATHS_PRIVATE_H
#define CPI_T_ACCURACY_PATHS_PRIVATE_H

#include "base/hmap.h"
#include "t/accuracy/branch_paths.h"

enum path_edge_kind {
	PATH_EDGE_FREE,
	PATH_EDGE_TAKEN,
	PATH_EDGE_NOT_TAKEN,
	PATH_EDGE_BEHIND, /* from a call to what is behind it: not gone at once */
	PATH_EDGE_CALL,
	PATH_EDGE_RETURN, /* as observed */
};

struct path_edge {
	int from, to;
	int next, next_out; /* into the same node; of the same call */
	enum path_edge_kind kind;
	uint64_t count;
};

struct path_start {
	struct hnode node;
	uint64_t offset;
	int of;
};

/* A jump or fall to an offset, before it is known whose that is. */
struct path_leap {
	int from;
	uint64_t to;
	enum path_edge_kind kind;
};

struct path_graph {
	struct path_node *node;
	int *first_exit; /* by node, where it begins a procedure; -1: none */
	int *first_out;  /* by node: calls that it makes */
	size_t nr_nodes, room_nodes;
	struct path_edge *edge;
	size_t nr_edges, room_edges;
	struct path_leap *leap;
	size_t nr_leaps;
	struct hmap starts;
};

#endif
