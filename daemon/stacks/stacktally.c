/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktally.c - the stacks that were attributed since the last flush
 */
#include "config.h"

#include "daemon/stacks/stacktally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct stacktally *stacktally_new(void)
{
	return calloc(1, sizeof(struct stacktally));
}

static void free_all(struct stacktally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->trees, n, next) {
		struct stacktally_tree *tree =
			container_of(n, struct stacktally_tree, node);

		stack_tree_free(tree->tree);
		free(tree);
	}
	hmap_fini(&t->trees);
	imagenumbers_fini(&t->images);
}

void stacktally_free(struct stacktally *t)
{
	if (!t)
		return;
	free_all(t);
	free(t);
}

void stacktally_drop(struct stacktally *t)
{
	const uint64_t lost = t->no_space + t->kept;

	free_all(t);
	*t = (struct stacktally){ .no_space = lost };
}

static struct stacktally_tree *find_tree(const struct stacktally *t,
					 const char *context, uint64_t hash)
{
	for (struct hnode *n = hmap_first(&t->trees, hash); n; n = hmap_next(n)) {
		struct stacktally_tree *tree =
			container_of(n, struct stacktally_tree, node);

		if (!strcmp(tree->context, context))
			return tree;
	}
	return NULL;
}

static struct stacktally_tree *new_tree(struct stacktally *t, const char *context,
					uint64_t hash)
{
	const size_t size = strlen(context) + 1;
	struct stacktally_tree *tree = calloc(1, sizeof(*tree) + size);

	if (!tree)
		return NULL;
	memcpy(tree->context, context, size);
	tree->tree = stack_tree_new(STACK_MAX_NODES);
	if (!tree->tree || hmap_insert(&t->trees, &tree->node, hash)) {
		stack_tree_free(tree->tree);
		free(tree);
		return NULL;
	}
	t->memory += sizeof(*tree) + size + stack_tree_memory(tree->tree);
	return tree;
}

/*
 * Returns the tree of the context with these values; of a coarser context if there are
 * too many. NULL: no memory.
 */
static struct stacktally_tree *get_tree(struct stacktally *t, const char *const *values)
{
	char context[CONTEXT_NAME_SIZE];
	struct stacktally_tree *tree = NULL;

	for (int try = 0; !tree && try < CONTEXT_TRIES; try++) {
		const size_t len = context_make_try(values, try, context);
		const uint64_t hash = hash_bytes(0, context, len);

		tree = find_tree(t, context, hash);
		if (!tree && t->trees.nr < context_bound(try, STACKTALLY_CONTEXTS))
			return new_tree(t, context, hash);
	}
	return tree;
}

static int add_to(struct stacktally *t, const char *const *values,
		  const struct stack_frame *frames, const struct tally_stack *s)
{
	struct stacktally_tree *tree = get_tree(t, values);
	size_t before;
	int err;

	if (!tree)
		return -ENOMEM;
	before = stack_tree_memory(tree->tree);
	if (stacktally_memory(t) > STACKTALLY_MAX_BYTES)
		stack_tree_limit(tree->tree, stack_tree_nr_nodes(tree->tree));
	err = stack_tree_add(tree->tree, frames, s->nr, s->mark, 1);
	t->memory += stack_tree_memory(tree->tree) - before;
	return err;
}

void stacktally_add(struct stacktally *t, const struct tally_stack *s)
{
	struct stack_frame frames[STACK_MAX_FRAMES];
	int err = s->nr <= STACK_MAX_FRAMES ? 0 : -EINVAL;

	for (size_t i = 0; !err && i < s->nr; i++) {
		frames[i].offset = s->frames[i].offset;
		err = imagenumbers_get(&t->images, s->frames[i].image,
				       &frames[i].image);
	}
	if (!err)
		err = add_to(t, s->contexts, frames, s);
	if (err)
		t->no_space++;
	else
		t->kept++;
}

size_t stacktally_memory(const struct stacktally *t)
{
	return sizeof(*t) + t->memory + t->images.nr * IMAGENUMBERS_BYTES;
}

void stacktally_mark_images(const struct stacktally *t)
{
	imagenumbers_mark(&t->images);
}
