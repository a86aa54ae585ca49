/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.h - reads the call stacks of a selection
 *
 * Stacks have their own streams. Their time, n * mean_period, measures the same time as
 * the profiles, and must not be added to it.
 *
 * Each stack is in one context (context.h), or in "" if its command is unknown or there
 * were too many contexts. In old databases, contexts of other kinds than the command
 * contain the stacks a second time.
 */
#ifndef CPI_DB_STACKS_H
#define CPI_DB_STACKS_H

#include "db/profile/stacktree.h"
#include "db/query/query.h"

struct query_frame {
	const struct query_image *image; /* id 0: unknown, and offset has the reason */
	/*
	 * For the leaf, the interrupted instruction; for other frames, the last byte of
	 * the call. If the image is unknown, a reason (stack_unknown_str()).
	 */
	uint64_t offset;
};

struct query_stack {
	int64_t stream;
	const char *context; /* "", or a name (context.h) */
	enum stack_mark mark;
	const struct query_frame *frames; /* leaf first */
	size_t nr_frames; /* 0: STACK_NO_ROOM, or nothing was readable */
	uint64_t n;
};

/*
 * Calls fn for each distinct stack of a stream and context, with its samples added up
 * over the epochs. row and everything that it points to are valid during the call. The
 * order of streams, contexts and stacks does not depend on ids. The selection's image
 * selects by the leaf's image; its contexts are patterns, and without them each stack
 * comes once. A non-zero return of fn stops and is returned. Returns 0, also if there
 * are no stacks; -CPI_ECORRUPT (logged) if a tree does not decode; -EAGAIN (logged) if
 * retention changes some of the epochs during the query; or another error.
 */
typedef int (*query_stack_fn)(void *ctx, const struct query_stack *row);
int query_stacks(struct db *db, const struct query_selection *sel, query_stack_fn fn,
		 void *ctx);

#endif
