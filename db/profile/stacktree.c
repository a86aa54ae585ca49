/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktree.c - the tree: nodes in one array, found by a hash of parent and frame
 *
 * Nodes are never removed, so an index stays valid for the tree's life. Each mark has a
 * root of its own, so truncated stacks share no nodes with complete ones.
 *
 * I1  A node's parent has a smaller index.
 * I2  total is the sum of all n, at most INT64_MAX.
 */
#include "config.h"

#include "db/profile/stacktree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "db/profile/stacktree_private.h"

#define MIN_NODES 64

const char *stack_mark_str(enum stack_mark mark)
{
	switch (mark) {
#define STACK_MARK_CASE(name, value, text) \
	case STACK_##name:                 \
		return text;
		STACK_MARKS(STACK_MARK_CASE)
#undef STACK_MARK_CASE
	case STACK_NR_MARKS:
		break;
	}
	return "?";
}

const char *stack_unknown_str(uint64_t offset)
{
	switch (offset) {
#define STACK_UNKNOWN_CASE(name, value, text) \
	case STACK_UNKNOWN_##name:            \
		return text;
		STACK_UNKNOWNS(STACK_UNKNOWN_CASE)
#undef STACK_UNKNOWN_CASE
	}
	return "?";
}

struct stack_tree *stack_tree_new(uint32_t max_nodes)
{
	struct stack_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->node = calloc(MIN_NODES, sizeof(*t->node));
	t->bucket = calloc(MIN_NODES, sizeof(*t->bucket));
	if (!t->node || !t->bucket) {
		stack_tree_free(t);
		return NULL;
	}
	t->nr = STACK_NR_MARKS;
	t->cap = t->nr_buckets = MIN_NODES;
	t->max = max_nodes;
	return t;
}

void stack_tree_free(struct stack_tree *t)
{
	if (!t)
		return;
	free(t->node);
	free(t->bucket);
	free(t);
}

void stack_tree_limit(struct stack_tree *t, uint32_t max_nodes)
{
	t->max = max_nodes;
}

static uint32_t *bucket_of(const struct stack_tree *t, uint32_t parent,
			   const struct stack_frame *frame)
{
	uint64_t hash = hash_u64((uint64_t)parent << 32 | frame->image);

	return &t->bucket[hash_u64(hash ^ frame->offset) & (t->nr_buckets - 1)];
}

/* 0 if there is none: node 0 is a root, which is never a child. */
static uint32_t find_child(const struct stack_tree *t, uint32_t parent,
			   const struct stack_frame *frame)
{
	uint32_t i = *bucket_of(t, parent, frame);

	while (i && (t->node[i].parent != parent || t->node[i].image != frame->image ||
		     t->node[i].offset != frame->offset))
		i = t->node[i].next;
	return i;
}

static void link_node(struct stack_tree *t, uint32_t i)
{
	struct stack_node *node = &t->node[i];
	const struct stack_frame frame = { node->image, node->offset };
	uint32_t *bucket = bucket_of(t, node->parent, &frame);

	node->next = *bucket;
	*bucket = i;
}

static int double_room(struct stack_tree *t)
{
	const uint32_t cap = t->cap * 2;
	struct stack_node *node = reallocarray(t->node, cap, sizeof(*node));
	uint32_t *bucket;

	if (!node)
		return -ENOMEM;
	t->node = node;
	bucket = calloc(cap, sizeof(*bucket));
	if (!bucket)
		return -ENOMEM;
	free(t->bucket);
	t->bucket = bucket;
	t->cap = t->nr_buckets = cap;
	for (uint32_t i = STACK_NR_MARKS; i < t->nr; i++)
		link_node(t, i);
	return 0;
}

int stack_tree_child(struct stack_tree *t, uint32_t parent,
		     const struct stack_frame *frame, uint32_t *child)
{
	uint32_t found = find_child(t, parent, frame);

	if (!found) {
		if (t->nr >= t->max)
			return -ENOSPC;
		if (t->nr == t->cap && double_room(t))
			return -ENOMEM;
		found = t->nr++;
		t->node[found] = (struct stack_node){ .parent = parent,
						      .image = frame->image,
						      .offset = frame->offset };
		link_node(t, found);
	}
	*child = found;
	return 0;
}

int stack_tree_count(struct stack_tree *t, uint32_t node, uint64_t n)
{
	if (n > INT64_MAX - t->total)
		return -EOVERFLOW;
	t->total += n;
	t->node[node].n += n;
	return 0;
}

/* Whether there is room for what is missing of a stack. */
static bool has_room(const struct stack_tree *t, const struct stack_frame *frames,
		     size_t nr, uint32_t root)
{
	uint32_t at = root;

	while (nr && (at = find_child(t, at, &frames[nr - 1])))
		nr--;
	return t->nr <= t->max && nr <= t->max - t->nr;
}

int stack_tree_add(struct stack_tree *t, const struct stack_frame *frames, size_t nr,
		   enum stack_mark mark, uint64_t n)
{
	uint32_t at = mark;
	int err = 0;

	if (nr > STACK_MAX_FRAMES || (unsigned int)mark >= STACK_NR_MARKS)
		return -EINVAL;
	if (mark == STACK_NO_ROOM || !has_room(t, frames, nr, mark))
		return stack_tree_count(t, STACK_NO_ROOM, n);
	while (!err && nr)
		err = stack_tree_child(t, at, &frames[--nr], &at);
	return err ? err : stack_tree_count(t, at, n);
}

int stack_tree_merge(struct stack_tree *t, const struct stack_tree *from,
		     const uint32_t *map, uint32_t nr_map)
{
	uint32_t *to = calloc(from->nr, sizeof(*to)); /* by from's node */
	int err = to ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < from->nr; i++) {
		const struct stack_node *node = &from->node[i];
		struct stack_frame frame = { .offset = node->offset };

		to[i] = i;
		if (i >= STACK_NR_MARKS) {
			if (node->image >= nr_map) {
				err = -CPI_ECORRUPT;
				break;
			}
			frame.image = map[node->image];
			err = to[node->parent] == STACK_NO_ROOM
				      ? -ENOSPC
				      : stack_tree_child(t, to[node->parent], &frame,
							 &to[i]);
			if (err == -ENOSPC) {
				to[i] = STACK_NO_ROOM;
				err = 0;
			}
		}
		if (!err)
			err = stack_tree_count(t, to[i], node->n);
	}
	free(to);
	return err;
}

uint64_t stack_tree_total(const struct stack_tree *t)
{
	return t->total;
}

uint32_t stack_tree_nr_nodes(const struct stack_tree *t)
{
	return t->nr;
}

uint32_t stack_tree_nr_stacks(const struct stack_tree *t)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		nr += t->node[i].n > 0;
	return nr;
}

size_t stack_tree_memory(const struct stack_tree *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->node) +
	       t->nr_buckets * sizeof(*t->bucket);
}
