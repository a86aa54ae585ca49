/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.h - reading call stacks: those that a selection names, and their streams
 *
 * Stacks are sampled by streams of their own: their time is no part of the profiles',
 * but another measure of the same. time = n * mean_period, as everywhere.
 *
 * Each stack is in one context: "comm=NAME", or "" where nobody knows whose it is or
 * there were too many commands. Contexts of other kinds have stacks a second time, for
 * who selects by that kind.
 */
#ifndef CPI_DB_STACKS_H
#define CPI_DB_STACKS_H

#include "db/query.h"
#include "db/stacktree.h"

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
	size_t nr_frames;                 /* 0: STACK_NO_ROOM */
	uint64_t n;
};

/*
 * Calls fn for each distinct stack of a stream and context, with its samples added up
 * over the epochs; all that row leads to ends with the call. Streams, contexts and
 * stacks are in an order that is made of what they are. A selection's image is that of
 * the leaf; its context a glob on values of its kind, NULL for each stack once.
 * fn's non-zero return stops and is returned. Returns 0 also where there are no stacks;
 * -CPI_ECORRUPT (logged) for a tree that does not decode; -EAGAIN (logged) when
 * retention works on some of the epochs meanwhile; or -ENOMEM, ...
 */
typedef int (*query_stack_fn)(void *ctx, const struct query_stack *row);
int query_stacks(struct db *db, const struct query_selection *sel, query_stack_fn fn,
		 void *ctx);

/* As query_streams() and query_losses(), of the streams that stacks are sampled by. */
int query_stack_streams(struct db *db, const struct query_epochs *e, const char *event,
			struct query_streams *out);
int query_stack_losses(struct db *db, const struct query_epochs *e,
		       struct query_losses *out);

#endif
