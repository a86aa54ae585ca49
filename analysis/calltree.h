/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calltree.h - call stacks put together as a tree
 *
 * A frame is a number that the caller gives to a procedure; a stack is an array of
 * frames, the leaf first. Every path from the root is the beginning of stacks: from
 * their outermost frames, or, inverted, from their leaves. A tree of whom a procedure
 * calls, or who calls it, is made of parts of stacks: see calltree_outermost().
 *
 * I1  Of each node and side: total = self + Σ children's totals + pruned.
 * I2  The root's total is all that was added: nothing is left out, too deep stacks and
 *     those beyond the bound of nodes are pruned where they leave the tree.
 */
#ifndef CPI_ANALYSIS_CALLTREE_H
#define CPI_ANALYSIS_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hmap.h"

/* Two selections may be in one tree, to be compared. */
#define CALLTREE_NR_SIDES 2

#define CALLTREE_MAX_DEPTH 1024
#define CALLTREE_MAX_NODES (1u << 21)

struct call_cost {
	uint64_t n;    /* samples */
	double weight; /* what they stand for */
};

static inline void call_cost_add(struct call_cost *to, struct call_cost cost)
{
	to->n += cost.n;
	to->weight += cost.weight;
}

struct call_node {
	struct hnode node;
	struct call_node *parent, *child, *sibling;
	uint32_t frame;                           /* the root has none */
	uint32_t depth;                           /* of the root 0 */
	size_t nr_pruned;                         /* children that were */
	struct call_cost self[CALLTREE_NR_SIDES]; /* stacks that end here */
	struct call_cost total[CALLTREE_NR_SIDES];
	struct call_cost pruned[CALLTREE_NR_SIDES];
};

struct calltree {
	bool inverted;
	double scale[CALLTREE_NR_SIDES]; /* of a side's weight in sizes; 1 at first */
	struct call_node *root;
	size_t nr_nodes, max_nodes; /* the root is one */
	/* private */
	struct arena arena;
	struct hmap map;
};

/* 0 or -ENOMEM. */
int calltree_init(struct calltree *t, bool inverted);
void calltree_fini(struct calltree *t); /* also of a zeroed one */

/* Adds nr frames, the leaf first. 0 or -ENOMEM. */
int calltree_add(struct calltree *t, const uint32_t *frame, size_t nr, int side,
		 struct call_cost cost);

/* A node's or its parts' weight, both sides together, by the sides' scales. */
double calltree_size(const struct calltree *t,
		     const struct call_cost cost[CALLTREE_NR_SIDES]);

/* Takes out, with all below, what has a total size under least. */
void calltree_prune(struct calltree *t, double least);

/*
 * Orders children by their sizes, the greatest first, equal ones by compare of their
 * frames. 0 or -ENOMEM.
 */
int calltree_sort(struct calltree *t, int (*compare)(uint32_t a, uint32_t b, void *ctx),
		  void *ctx);

/* The node behind n, parents before their children; NULL: it was the last. */
struct call_node *calltree_next(const struct call_node *n);

/*
 * The outermost frame that is wanted: its index, or nr when there is none. With k its
 * index, frame[0..k] has what it calls, frame[k..nr) who calls it; both have the
 * stack's weight once, however often it recurs.
 */
size_t calltree_outermost(const uint32_t *frame, size_t nr, const bool *wanted);

#endif
