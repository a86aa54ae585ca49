/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktree.h - call stacks as a prefix tree of frames, and the tree as a blob
 *
 * Stacks with the same callers share their outer frames. A frame is an image, by a
 * number that the tree's owner assigns, and an offset in it. The offset is that of the
 * interrupted instruction, or of the last byte of a call: one less than the address to
 * which the call returns.
 *
 * A blob is packed (db/profile/pack.h). The body, all numbers LEB128:
 *
 *	number of frames
 *	per frame, ascending by image, then offset: the image's distance from that of
 *	the previous frame, and the offset (its distance if the image is the same)
 *	number of nodes; each node comes before its children
 *	per node: the depth of the previous node + 1 - its own depth (a root has 0)
 *	per node: the index of its frame; for a root, its mark
 *	per node: the samples whose stack ends here
 */
#ifndef CPI_DB_STACKTREE_H
#define CPI_DB_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define STACK_MAX_FRAMES 1024 /* of a stack */

/* The most nodes of a blob. This bounds the memory that a hostile blob can take. */
#define STACK_MAX_NODES (1u << 20)

/* Why a stack has no more frames. Stored in the database: never renumber. */
#define STACK_MARKS(X)                                                               \
	X(ENDED, 0, "ended") /* complete, as far as the collector can tell */        \
	X(LIMIT, 1, "limit") /* it has more frames than are walked */                \
	X(UNREADABLE, 2, "unreadable") /* no frame after the leaf could be read */   \
	X(NO_START, 3, "no_start")     /* it ended where no thread begins */         \
	X(NO_ROOM, 4, "no_room")   /* the tree was full: all frames were dropped */  \
	X(COPY, 5, "copy")         /* the copy of the stack was too short */         \
	X(NO_TABLE, 6, "no_table") /* its image has no unwind information */         \
	X(BROKEN, 7, "broken")     /* the unwind information is wrong */             \
	X(UNMAPPED, 8, "unmapped") /* nothing is mapped at the return address */     \
	X(LOOP, 9, "loop")         /* the caller's frame would be inside this one */ \
	X(GUESSED, 10,                                                               \
	  "guessed") /* complete, but some frames were found by frame pointers */    \
	X(COPIED, 11, "copied") /* the rest is in a copy of the stack */             \
	X(DEFERRED, 12,                                                              \
	  "deferred") /* the kernel recorded the user part later, in another record */

enum stack_mark {
#define STACK_MARK_ENUM(name, value, text) STACK_##name = value,
	STACK_MARKS(STACK_MARK_ENUM)
#undef STACK_MARK_ENUM
		STACK_NR_MARKS
};

const char *stack_mark_str(enum stack_mark mark);

/* Whether a stack with this mark reaches the start of its thread. */
static inline bool stack_mark_is_whole(enum stack_mark mark)
{
	return mark == STACK_ENDED || mark == STACK_GUESSED;
}

/*
 * The offset of a frame without an image is the reason; the names are those of losses.
 * Stored in the database: never renumber.
 */
#define STACK_UNKNOWNS(X)                        \
	X(AMBIGUOUS, 0, "ambiguous")             \
	X(MAP_GAP, 1, "map_gap")                 \
	X(NO_PROCESS, 2, "no_process")           \
	X(NO_MAPPING, 3, "no_mapping")           \
	X(ANONYMOUS, 4, "anonymous")             \
	X(SPECIAL, 5, "special")                 \
	X(IMAGE_LIMIT, 6, "image_limit")         \
	X(KERNEL_HIDDEN, 7, "kernel_hidden")     \
	X(KERNEL_UNMAPPED, 8, "kernel_unmapped") \
	X(GUEST, 9, "guest")

enum stack_unknown {
#define STACK_UNKNOWN_ENUM(name, value, text) STACK_UNKNOWN_##name = value,
	STACK_UNKNOWNS(STACK_UNKNOWN_ENUM)
#undef STACK_UNKNOWN_ENUM
};

const char *stack_unknown_str(uint64_t offset); /* "?" for an unknown one */

struct stack_frame {
	uint32_t image;
	uint64_t offset;
};

struct stack_tree;

/* A tree of at most max_nodes nodes, the roots included. NULL: out of memory. */
struct stack_tree *stack_tree_new(uint32_t max_nodes);
void stack_tree_free(struct stack_tree *t); /* accepts NULL */

/* From now on the tree has at most max_nodes nodes. */
void stack_tree_limit(struct stack_tree *t, uint32_t max_nodes);

/*
 * Adds n samples of a stack, frames leaf first. If the tree is full, they are counted
 * as STACK_NO_ROOM, without frames. Returns 0, -EOVERFLOW (the total is above
 * INT64_MAX), -EINVAL (more than STACK_MAX_FRAMES) or -ENOMEM; then no count changed.
 */
int stack_tree_add(struct stack_tree *t, const struct stack_frame *frames, size_t nr,
		   enum stack_mark mark, uint64_t n);

/*
 * Adds all of from, whose image i is map[i] in t. -CPI_ECORRUPT if an image is not
 * below nr_map. On failure a part may have been added.
 */
int stack_tree_merge(struct stack_tree *t, const struct stack_tree *from,
		     const uint32_t *map, uint32_t nr_map);

uint64_t stack_tree_total(const struct stack_tree *t);    /* samples */
uint32_t stack_tree_nr_nodes(const struct stack_tree *t); /* never 0 */
uint32_t stack_tree_nr_stacks(const struct stack_tree *t);
size_t stack_tree_memory(const struct stack_tree *t); /* bytes */

/*
 * Calls fn for each stack, frames leaf first. The order depends only on marks and
 * frames. A non-zero return of fn stops and is returned. Else 0 or -ENOMEM.
 */
typedef int (*stack_tree_fn)(void *ctx, const struct stack_frame *frames, size_t nr,
			     enum stack_mark mark, uint64_t n);
int stack_tree_each(const struct stack_tree *t, stack_tree_fn fn, void *ctx);

/*
 * Appends the blob; nothing for a tree without samples. Returns 0, -CPI_ELIMIT above
 * STACK_MAX_NODES, or -ENOMEM; on failure out is unchanged.
 */
int stack_tree_encode(const struct stack_tree *t, struct buf *out);

/*
 * Adds an untrusted blob; map as in stack_tree_merge().
 * Returns 0, -CPI_ETRUNCATED, -CPI_ECORRUPT, -CPI_EVERSION, -CPI_ELIMIT, -EOVERFLOW
 * or -ENOMEM; then a part may have been added.
 */
int stack_tree_decode(const void *blob, size_t size, const uint32_t *map,
		      uint32_t nr_map, struct stack_tree *t);

#endif
