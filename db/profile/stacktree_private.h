/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktree_private.h - a tree's nodes, for the tree and its codec
 */
#ifndef CPI_DB_STACKTREE_PRIVATE_H
#define CPI_DB_STACKTREE_PRIVATE_H

#include "db/profile/stacktree.h"

/* The first STACK_NR_MARKS nodes are roots, one for each mark, without a frame. */
struct stack_node {
	uint64_t offset;
	uint64_t n; /* samples whose stack ends here */
	uint32_t parent, image;
	uint32_t next; /* in its bucket; 0 ends it */
};

struct stack_tree {
	struct stack_node *node;
	uint32_t nr, cap, max;
	uint32_t *bucket, nr_buckets; /* 0 or a power of two */
	uint64_t total;
};

/*
 * Finds or makes the child of parent with this frame. Returns 0, -ENOSPC when the tree
 * is full, or -ENOMEM.
 */
int stack_tree_child(struct stack_tree *t, uint32_t parent,
		     const struct stack_frame *frame, uint32_t *child);

/* Adds n samples whose stack ends at a node. 0 or -EOVERFLOW. */
int stack_tree_count(struct stack_tree *t, uint32_t node, uint64_t n);

/*
 * Calls fn for each node before its children. Siblings are in ascending order of image
 * and offset. A root has depth 0; roots without samples and children are left out.
 * Returns as stack_tree_each().
 */
typedef int (*stack_walk_fn)(void *ctx, uint32_t node, unsigned int depth);
int stack_tree_walk(const struct stack_tree *t, stack_walk_fn fn, void *ctx);

#endif
