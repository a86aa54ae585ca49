/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.c - reads the call stacks of a selection
 *
 * The trees of a stream and context are added up (set_query.h), and then the sum is
 * split into stacks.
 */
#include "config.h"

#include "db/query/stacks.h"

#include "db/core/rows.h"
#include "db/query/set_query.h"

/* More than a stored tree may have, because several epochs are added up. */
#define MAX_NODES (4 * STACK_MAX_NODES)

struct stack_reader {
	const struct query_selection *sel;
	query_stack_fn fn;
	void *ctx;
	const struct set_sum *sum; /* the sum whose stacks are passed to fn */
	struct query_frame frames[STACK_MAX_FRAMES];
};

static void *new_sum(const struct set_key *key)
{
	return stack_tree_new(MAX_NODES);
}

static const struct set_query stack_query = {
	.kind = &stack_set,
	.list = "SELECT k.epoch, 0, 0, k.stream, k.context, 0, c.name, NULL"
		" FROM stack k JOIN stream s ON s.id = k.stream"
		" JOIN context c ON c.id = k.context"
		" WHERE k.epoch IN (SELECT value FROM json_each(?1))"
		" AND (?2 IS NULL OR s.event = ?2)"
		" ORDER BY " ROWS_STREAM_ORDER ", c.name, k.epoch",
	.by_command = true,
	.apart = true,
	.new_sum = new_sum,
};

static int hand_out(void *ctx, const struct stack_frame *frames, size_t nr,
		    enum stack_mark mark, uint64_t n)
{
	struct stack_reader *r = ctx;
	const struct query_image *images = r->sum->images;
	const struct query_stack row = {
		.stream = r->sum->key->stream,
		.context = r->sum->context,
		.mark = mark,
		.frames = r->frames,
		.nr_frames = nr,
		.n = n,
	};

	if (!rows_image_matches(r->sel, nr ? images[frames[0].image].desc.name : ""))
		return 0;
	for (size_t i = 0; i < nr; i++)
		r->frames[i] = (struct query_frame){ &images[frames[i].image],
						     frames[i].offset };
	return r->fn(r->ctx, &row);
}

static int hand_out_tree(void *ctx, const struct set_sum *sum)
{
	struct stack_reader *r = ctx;

	r->sum = sum;
	return stack_tree_each(sum->set, hand_out, r);
}

int query_stacks(struct db *db, const struct query_selection *sel, query_stack_fn fn,
		 void *ctx)
{
	struct stack_reader r = { .sel = sel, .fn = fn, .ctx = ctx };

	return set_query_each(db, &stack_query, sel, NULL, hand_out_tree, &r);
}
