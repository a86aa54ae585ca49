/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktally.h - the stacks that were attributed since the last flush
 *
 * I1  All trees together have the samples that were added, except those for which
 *     there was no memory. Each tree's context has a command.
 * I2  Memory: once all trees together take STACKTALLY_MAX_BYTES, no tree takes new
 *     frames; stacks that need them are marked STACK_NO_ROOM. There are at most
 *     STACKTALLY_CONTEXTS contexts; samples of further ones get a shorter context
 *     (context_make_try()).
 */
#ifndef CPI_DAEMON_STACKTALLY_H
#define CPI_DAEMON_STACKTALLY_H

#include "base/hmap.h"
#include "daemon/stacks/imagenumbers.h"
#include "db/profile/context.h"
#include "db/profile/stacktree.h"

#define STACKTALLY_MAX_BYTES (16u << 20)
#define STACKTALLY_CONTEXTS  1024

/* A frame, before it gets a number. */
struct tally_frame {
	struct known_image *image; /* NULL: unknown; then offset is the reason */
	uint64_t offset;
};

struct tally_stack {
	const struct tally_frame *frames; /* leaf first */
	size_t nr;
	enum stack_mark mark;
	const char *const
		*contexts; /* by kind, or NULL; the one of kind comm is never NULL */
};

/* The tree of a context. */
struct stacktally_tree {
	struct hnode node;
	struct stack_tree *tree;
	char context[];
};

struct stacktally {
	struct hmap trees;
	struct imagenumbers images;
	uint64_t kept, no_space; /* samples */
	size_t memory;
};

struct stacktally *stacktally_new(void);    /* NULL when out of memory */
void stacktally_free(struct stacktally *t); /* accepts NULL */

/* Adds a sample. If there is no memory, counts it in no_space. */
void stacktally_add(struct stacktally *t, const struct tally_stack *s);

/* Counts all kept samples as no_space, and frees the trees. */
void stacktally_drop(struct stacktally *t);

size_t stacktally_memory(const struct stacktally *t);
void stacktally_mark_images(const struct stacktally *t);

#endif
