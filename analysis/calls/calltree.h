/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calltree.h - call stacks merged into a tree
 *
 * A frame is a number that the caller gives to a procedure; a stack is an array of
 * frames, the leaf first. Each path from the root is the beginning of one or more
 * stacks: from their outermost frames or, inverted, from their leaves. To see only the
 * callees or callers of a procedure, add parts of stacks: see calltree_outermost().
 *
 * I1  Of each node and side: total = self + Σ children's totals + pruned.
 * I2  The root's total is the sum of all that was added. Stacks that are too deep, or
 *     that exceed the bound of nodes, are pruned at the node where they leave the tree.
 */
#ifndef CPI_ANALYSIS_CALLTREE_H
#define CPI_ANALYSIS_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hmap.h"

/* Two selections may be compared in one tree. */
#define CALLTREE_NR_SIDES 2

#define CALLTREE_MAX_DEPTH 1024
#define CALLTREE_MAX_NODES (1u << 21)

struct call_cost {
	uint64_t n;    /* samples */
	double weight; /* the time that they stand for */
};

static inline void call_cost_add(struct call_cost *to, struct call_cost cost)
{
	to->n += cost.n;
	to->weight += cost.weight;
}

struct call_node {
	struct hnode node;
	struct call_node *parent, *child, *sibling;
	uint32_t frame;     /* the root has none */
	uint32_t depth;     /* of the root 0 */
	uint32_t nr_folded; /* the most frames that were folded into it, minus one */
	size_t nr_pruned;   /* pruned children */
	struct call_cost self[CALLTREE_NR_SIDES]; /* stacks that end here */
	struct call_cost total[CALLTREE_NR_SIDES];
	struct call_cost pruned[CALLTREE_NR_SIDES];
};

struct calltree {
	bool inverted;
	double scale[CALLTREE_NR_SIDES]; /* factor of a side's weight in sizes; 1 at
					    first */
	struct call_node *root;
	size_t nr_nodes, max_nodes; /* the root is one */
	/* Whether consecutive equal frames become one node; NULL: never. */
	bool (*folds)(uint32_t frame, void *ctx);
	void *folds_ctx;
	/* private */
	struct arena arena;
	struct hmap map;
};

/* 0 or -ENOMEM. */
int calltree_init(struct calltree *t, bool inverted);
void calltree_fini(struct calltree *t); /* also of a zeroed one */

/* Adds a stack of nr frames, the leaf first. Returns 0 or -ENOMEM. */
int calltree_add(struct calltree *t, const uint32_t *frame, size_t nr, int side,
		 struct call_cost cost);

/* The sum of both sides' weights, times the sides' scales. */
double calltree_size(const struct calltree *t,
		     const struct call_cost cost[CALLTREE_NR_SIDES]);

/* Removes each node whose total size is below least, with all nodes below it. */
void calltree_prune(struct calltree *t, double least);

/*
 * Sorts children by size, the greatest first; compare orders the frames of equal ones.
 * Returns 0 or -ENOMEM.
 */
int calltree_sort(struct calltree *t, int (*compare)(uint32_t a, uint32_t b, void *ctx),
		  void *ctx);

/* The next node behind n, with parents before children; NULL after the last. */
struct call_node *calltree_next(const struct call_node *n);

/*
 * Returns the index of the outermost wanted frame, or nr if there is none. With k as
 * that index, frame[0..k] are its callees and frame[k..nr) its callers. Adding either
 * part counts a stack once, however often the frame recurs.
 */
size_t calltree_outermost(const uint32_t *frame, size_t nr, const bool *wanted);

#endif
