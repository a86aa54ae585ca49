/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktree_walk.c - a tree's nodes in an order that does not depend on its history
 *
 * One sort brings siblings together, in order; then children are looked up by parent.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "db/profile/stacktree_private.h"

struct child {
	uint64_t offset;
	uint32_t parent, image, node;
};

struct tree_walk {
	struct child *child; /* by parent, image, offset */
	uint32_t *first;     /* of a node's children, by node; one more ends it */
};

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int walk_init(struct tree_walk *w, const struct stack_tree *t)
{
	const uint32_t nr = t->nr - STACK_NR_MARKS;
	uint32_t done = 0;

	w->child = calloc((size_t)nr + 1, sizeof(*w->child));
	w->first = calloc((size_t)t->nr + 1, sizeof(*w->first));
	if (!w->child || !w->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct stack_node *node = &t->node[i + STACK_NR_MARKS];

		w->child[i] = (struct child){ node->offset, node->parent, node->image,
					      i + STACK_NR_MARKS };
	}
	qsort(w->child, nr, sizeof(*w->child), compare_children);
	for (uint32_t i = 0; i < t->nr; i++) {
		w->first[i] = done;
		while (done < nr && w->child[done].parent == i)
			done++;
	}
	w->first[t->nr] = done;
	return 0;
}

static void walk_fini(struct tree_walk *w)
{
	free(w->child);
	free(w->first);
}

/* next[d] is the next child to visit below the node at depth d. */
static int walk_root(const struct tree_walk *w, uint32_t root, stack_walk_fn fn,
		     void *ctx)
{
	uint32_t node[STACK_MAX_FRAMES + 1], next[STACK_MAX_FRAMES + 1];
	unsigned int depth = 0;
	int err = fn(ctx, root, 0);

	node[0] = root;
	next[0] = w->first[root];
	while (!err) {
		if (next[depth] == w->first[node[depth] + 1]) {
			if (!depth--)
				break;
			continue;
		}
		node[depth + 1] = w->child[next[depth]++].node;
		depth++;
		next[depth] = w->first[node[depth]];
		err = fn(ctx, node[depth], depth);
	}
	return err;
}

int stack_tree_walk(const struct stack_tree *t, stack_walk_fn fn, void *ctx)
{
	struct tree_walk w = { 0 };
	int err = walk_init(&w, t);

	for (uint32_t root = 0; !err && root < STACK_NR_MARKS; root++) {
		if (t->node[root].n || w.first[root] < w.first[root + 1])
			err = walk_root(&w, root, fn, ctx);
	}
	walk_fini(&w);
	return err;
}

struct stack_visitor {
	const struct stack_tree *t;
	stack_tree_fn fn;
	void *ctx;
	enum stack_mark mark;
	struct stack_frame frames[STACK_MAX_FRAMES];
};

/* Depth d's frame is d from the array's end, so that the leaf comes first. */
static int hand_out(void *ctx, uint32_t i, unsigned int depth)
{
	struct stack_visitor *e = ctx;
	const struct stack_node *node = &e->t->node[i];
	struct stack_frame *frame = &e->frames[STACK_MAX_FRAMES - depth];

	if (depth)
		*frame = (struct stack_frame){ node->image, node->offset };
	else
		e->mark = i;
	return node->n ? e->fn(e->ctx, frame, depth, e->mark, node->n) : 0;
}

int stack_tree_each(const struct stack_tree *t, stack_tree_fn fn, void *ctx)
{
	struct stack_visitor e = { .t = t, .fn = fn, .ctx = ctx };

	return stack_tree_walk(t, hand_out, &e);
}
