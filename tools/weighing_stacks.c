/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighing_stacks.c - call stacks with the names of their frames
 *
 * Stacks are read twice, of each machine: first the places that they name, each of
 * which is looked up while its image is open; then the stacks. What was flushed in
 * between, and names new places, is left out.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/stacks.h"
#include "tools/progress.h"
#include "tools/weighed_labels.h"
#include "tools/weighed_places.h"
#include "tools/weighing.h"

struct stacks {
	struct weighing *w;
	weighed_fn fn;
	void *ctx;
	const char *host;
	struct weighed_places places;
	struct weighed_frames frames; /* of one stack */
	double idle;
};

static int note_places(void *ctx, const struct query_stack *row)
{
	struct stacks *s = ctx;
	int err = 0;

	for (size_t i = 0; i < row->nr_frames && !err; i++) {
		const struct query_frame *f = &row->frames[i];

		if (f->image->id)
			err = weighed_places_note(&s->places, f->image, f->offset);
	}
	return err;
}

static int add_frames(struct stacks *s, const struct query_stack *row)
{
	int err = 0;

	s->frames.nr = 0;
	if (!row->nr_frames)
		return weighed_frames_add_unknown(&s->frames,
						  stack_mark_str(row->mark));
	for (size_t i = 0; i < row->nr_frames && !err; i++) {
		const struct query_frame *f = &row->frames[i];

		if (f->image->id)
			err = weighed_places_add(&s->places, f->image, f->offset,
						 &s->frames);
		else
			err = weighed_frames_add_unknown(&s->frames,
							 stack_unknown_str(f->offset));
	}
	return err;
}

static bool is_idle(const struct query_stack *row)
{
	return row->nr_frames && row->frames[0].image->desc.kind == IMAGE_IDLE;
}

static int hand_out(struct stacks *s, const struct query_stack *row,
		    const double *value)
{
	const char *context =
		s->w->has_contexts ? context_value(row->context, s->w->kind) : NULL;
	struct weighed_labels labels;
	struct weighed stack = { .frame = s->frames.at,
				 .nr_frames = s->frames.nr,
				 .whom = context,
				 .host = s->host,
				 .label = labels.at,
				 .value = value };

	if (!context)
		stack.whom = weighing_missing_whom(s->w);
	weighed_labels_make(&labels, s->w->kind, context, s->host);
	if (!stack_mark_is_whole(row->mark))
		weighed_labels_add(&labels, "cut", stack_mark_str(row->mark));
	stack.nr_labels = labels.nr;
	return s->fn(s->ctx, &stack);
}

static int on_stack(void *ctx, const struct query_stack *row)
{
	double value[WEIGHING_MAX_COLUMNS] = { 0 }, weight;
	struct stacks *s = ctx;
	size_t event;
	int err;

	if (!events_find(&s->w->ev, row->stream, &event, &weight))
		return 0;
	if (is_idle(row) && !s->w->ctx->opt.idle) {
		s->idle += (double)row->n;
		return 0;
	}
	err = add_frames(s, row);
	if (err)
		return err == -ENOENT ? 0 : err;
	weighing_add(s->w, event, row->n, weight, value);
	return hand_out(s, row, value);
}

static int note_host(void *ctx, const struct query_epochs *epochs)
{
	struct stacks *s = ctx;
	struct query_selection query = s->w->sel.query;

	query.epochs = epochs;
	return query_stacks(s->w->sel.db, &query, note_places, s);
}

static int each_of_host(void *ctx, const struct query_epochs *epochs)
{
	struct stacks *s = ctx;
	struct query_selection query = s->w->sel.query;

	s->host = epochs->epoch[0].host;
	query.epochs = epochs;
	return query_stacks(s->w->sel.db, &query, on_stack, s);
}

int weighing_stacks(struct weighing *w, weighed_fn fn, void *ctx)
{
	struct stacks s = { .w = w, .fn = fn, .ctx = ctx };
	struct progress progress = progress_begin("naming the frames of stacks");
	struct image_cache *images = NULL;
	int err = weighing_open_images(w, &images);

	if (!err)
		err = weighing_each_host(w, note_host, &s);
	if (!err)
		err = weighed_places_look_up(&s.places, images, &progress);
	progress_end(&progress);
	if (!err)
		err = weighing_each_host(w, each_of_host, &s);
	if (!err)
		weighing_say_idle(s.idle);
	image_cache_free(images);
	weighed_places_fini(&s.places);
	weighed_frames_fini(&s.frames);
	return err;
}
