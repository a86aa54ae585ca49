/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calltree.c - nodes are found by their parent and frame in one hash table
 *
 * No function recurses: a stack's depth is its writer's choice.
 */
#include "config.h"

#include "analysis/calls/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

int calltree_init(struct calltree *t, bool inverted)
{
	memset(t, 0, sizeof(*t));
	t->inverted = inverted;
	for (int side = 0; side < CALLTREE_NR_SIDES; side++)
		t->scale[side] = 1;
	t->max_nodes = CALLTREE_MAX_NODES;
	arena_init(&t->arena, 0);
	t->root = arena_alloc(&t->arena, sizeof(*t->root));
	if (!t->root)
		return -ENOMEM;
	t->nr_nodes = 1;
	return 0;
}

void calltree_fini(struct calltree *t)
{
	hmap_fini(&t->map);
	arena_fini(&t->arena);
	t->root = NULL;
}

static struct call_node *find_child(const struct calltree *t,
				    const struct call_node *parent, uint32_t frame,
				    uint64_t hash)
{
	for (struct hnode *n = hmap_first(&t->map, hash); n; n = hmap_next(n)) {
		struct call_node *child = container_of(n, struct call_node, node);

		if (child->parent == parent && child->frame == frame)
			return child;
	}
	return NULL;
}

/* NULL in *out when the tree is full. */
static int child_of(struct calltree *t, struct call_node *parent, uint32_t frame,
		    struct call_node **out)
{
	const uint64_t hash = hash_u64((uintptr_t)parent + frame * 0x9e3779b97f4a7c15);
	struct call_node *child = find_child(t, parent, frame, hash);

	if (child || t->nr_nodes >= t->max_nodes) {
		*out = child;
		return 0;
	}
	child = arena_alloc(&t->arena, sizeof(*child));
	if (!child || hmap_insert(&t->map, &child->node, hash))
		return -ENOMEM;
	child->frame = frame;
	child->depth = parent->depth + 1;
	child->parent = parent;
	child->sibling = parent->child;
	parent->child = child;
	t->nr_nodes++;
	*out = child;
	return 0;
}

static bool folds_into(const struct calltree *t, const struct call_node *n,
		       uint32_t frame)
{
	return n->parent && n->frame == frame && t->folds &&
	       t->folds(frame, t->folds_ctx);
}

int calltree_add(struct calltree *t, const uint32_t *frame, size_t nr, int side,
		 struct call_cost cost)
{
	struct call_node *n = t->root, *next;
	uint32_t folded = 0;
	size_t i;

	for (i = 0; i < nr && i < CALLTREE_MAX_DEPTH; i++) {
		const uint32_t f = frame[t->inverted ? i : nr - 1 - i];

		if (folds_into(t, n, f)) {
			folded++;
			n->nr_folded = folded > n->nr_folded ? folded : n->nr_folded;
			continue;
		}
		if (child_of(t, n, f, &next))
			return -ENOMEM;
		if (!next)
			break;
		folded = 0;
		n = next;
	}
	call_cost_add(i < nr ? &n->pruned[side] : &n->self[side], cost);
	for (; n; n = n->parent)
		call_cost_add(&n->total[side], cost);
	return 0;
}

double calltree_size(const struct calltree *t,
		     const struct call_cost cost[CALLTREE_NR_SIDES])
{
	double size = 0;

	for (int side = 0; side < CALLTREE_NR_SIDES; side++)
		size += t->scale[side] * cost[side].weight;
	return size;
}

void calltree_prune(struct calltree *t, double least)
{
	for (struct call_node *n = t->root; n; n = calltree_next(n)) {
		struct call_node **at = &n->child;

		while (*at) {
			const struct call_node *child = *at;

			if (calltree_size(t, child->total) >= least) {
				at = &(*at)->sibling;
				continue;
			}
			for (int side = 0; side < CALLTREE_NR_SIDES; side++)
				call_cost_add(&n->pruned[side], child->total[side]);
			n->nr_pruned++;
			*at = child->sibling;
		}
	}
}

struct order {
	const struct calltree *t;
	int (*compare)(uint32_t a, uint32_t b, void *ctx);
	void *ctx;
};

static int by_size(const void *va, const void *vb, void *ctx)
{
	const struct call_node *a = *(struct call_node *const *)va;
	const struct call_node *b = *(struct call_node *const *)vb;
	const struct order *order = ctx;
	const double x = calltree_size(order->t, a->total);
	const double y = calltree_size(order->t, b->total);

	if (x != y)
		return x < y ? 1 : -1;
	return order->compare(a->frame, b->frame, order->ctx);
}

static void sort_children(struct call_node *n, struct call_node **room,
			  struct order *order)
{
	struct call_node **at = &n->child;
	size_t nr = 0;

	for (struct call_node *c = n->child; c; c = c->sibling)
		room[nr++] = c;
	qsort_r(room, nr, sizeof(*room), by_size, order);
	for (size_t i = 0; i < nr; i++) {
		*at = room[i];
		at = &room[i]->sibling;
	}
	*at = NULL;
}

int calltree_sort(struct calltree *t, int (*compare)(uint32_t a, uint32_t b, void *ctx),
		  void *ctx)
{
	struct order order = { t, compare, ctx };
	struct call_node **room = calloc(t->nr_nodes, sizeof(*room));

	if (!room)
		return -ENOMEM;
	for (struct call_node *n = t->root; n; n = calltree_next(n))
		sort_children(n, room, &order);
	free(room);
	return 0;
}

struct call_node *calltree_next(const struct call_node *n)
{
	if (n->child)
		return n->child;
	while (n && !n->sibling)
		n = n->parent;
	return n ? n->sibling : NULL;
}

size_t calltree_outermost(const uint32_t *frame, size_t nr, const bool *wanted)
{
	for (size_t i = nr; i--;) {
		if (wanted[frame[i]])
			return i;
	}
	return nr;
}
