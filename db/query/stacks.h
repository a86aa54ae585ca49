/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.h - reading call stacks: those that a selection names, and their streams
 *
 * Stacks have streams of their own. Their time, n * mean_period, is another measure of
 * the profiles' time and must not be added to it.
 *
 * Each stack is in one context "comm=NAME", or in "" if its command is unknown or there
 * were too many commands. Contexts of other kinds have the stacks a second time, for
 * selections by that kind.
 */
#ifndef CPI_DB_STACKS_H
#define CPI_DB_STACKS_H

#include "db/profile/stacktree.h"
#include "db/query/query.h"

struct query_frame {
	const struct query_image *image; /* id 0: unknown, offset says why */
	/*
	 * Of the leaf, the instruction that was interrupted; of others, the last byte
	 * of the call. stack_unknown_str() where the image is unknown.
	 */
	uint64_t offset;
};

struct query_stack {
	int64_t stream;
	const char *context; /* "comm=NAME", "", or of the selection's kind */
	enum stack_mark mark;
	const struct query_frame *frames; /* leaf first */
	size_t nr_frames; /* 0: STACK_NO_ROOM, or nothing was readable */
	uint64_t n;
};

/*
 * Calls fn for each distinct stack of a stream and context, with its samples added up
 * over the epochs. row and all it points to end with the call. The order of streams,
 * contexts and stacks does not depend on ids. A selection's image is that of the leaf.
 * Its context is a glob on values of its kind; NULL gives each stack once. A non-zero
 * return of fn stops and is returned. Returns 0, also if there are no stacks;
 * -CPI_ECORRUPT (logged) for a tree that does not decode; -EAGAIN (logged) when
 * retention works on some of the epochs meanwhile; or -ENOMEM, ...
 */
typedef int (*query_stack_fn)(void *ctx, const struct query_stack *row);
int query_stacks(struct db *db, const struct query_selection *sel, query_stack_fn fn,
		 void *ctx);

#endif
