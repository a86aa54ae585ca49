/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_stacks.c - call stacks with the names of their frames
 *
 * The stacks of each machine are read twice: first to look up the names of their places
 * (export_places.h), then to pass on the stacks. A stack that was stored in between is
 * left out if it has a new place.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/progress.h"
#include "db/query/stacks.h"
#include "report/calls/export_labels.h"
#include "report/calls/export_places.h"
#include "report/calls/export_samples.h"

struct stack_source {
	struct export_samples *w;
	export_stack_fn fn;
	void *ctx;
	const char *host;
	struct export_places places;
	struct export_frames frames; /* of one stack */
	double idle;
};

static int note_places(void *ctx, const struct query_stack *row)
{
	struct stack_source *s = ctx;
	int err = 0;

	for (size_t i = 0; i < row->nr_frames && !err; i++) {
		const struct query_frame *f = &row->frames[i];

		if (f->image->id)
			err = export_places_note(&s->places, f->image, f->offset);
	}
	return err;
}

static int add_frames(struct stack_source *s, const struct query_stack *row)
{
	int err = 0;

	s->frames.nr = 0;
	if (!row->nr_frames)
		return export_frames_add_unknown(&s->frames, stack_mark_str(row->mark));
	for (size_t i = 0; i < row->nr_frames && !err; i++) {
		const struct query_frame *f = &row->frames[i];

		if (f->image->id)
			err = export_places_add(&s->places, f->image, f->offset,
						&s->frames);
		else
			err = export_frames_add_unknown(&s->frames,
							stack_unknown_str(f->offset));
	}
	return err;
}

static bool is_idle(const struct query_stack *row)
{
	return row->nr_frames && row->frames[0].image->desc.kind == IMAGE_IDLE;
}

static int hand_out(struct stack_source *s, const struct query_stack *row,
		    const double *value)
{
	char text[CONTEXT_VALUE_MAX + 1];
	const char *context =
		s->w->kinds ? context_value(row->context, s->w->kind, text) : NULL;
	struct export_labels labels;
	struct export_stack stack = { .frame = s->frames.at,
				      .nr_frames = s->frames.nr,
				      .context = context,
				      .host = s->host,
				      .label = labels.at,
				      .value = value };

	if (!context)
		stack.context = export_samples_missing_context(s->w);
	export_labels_make(&labels, s->w->sel.db, s->w->kinds, row->context, s->host);
	if (!stack_mark_is_whole(row->mark))
		export_labels_add(&labels, "cut", stack_mark_str(row->mark));
	stack.nr_labels = labels.nr;
	return s->fn(s->ctx, &stack);
}

static int on_stack(void *ctx, const struct query_stack *row)
{
	double value[EXPORT_MAX_COLUMNS] = { 0 }, weight;
	struct stack_source *s = ctx;
	size_t event;
	int err;

	if (!events_find(&s->w->ev, row->stream, &event, &weight))
		return 0;
	if (is_idle(row) && !s->w->req->idle) {
		s->idle += (double)row->n;
		return 0;
	}
	err = add_frames(s, row);
	if (err)
		return err == -ENOENT ? 0 : err;
	export_samples_add(s->w, event, row->n, weight,
			   (struct evidence_use){ .random_only = true }, value);
	return hand_out(s, row, value);
}

static int note_host(void *ctx, const struct query_epochs *epochs)
{
	struct stack_source *s = ctx;
	struct query_selection query = s->w->sel.query;

	query.epochs = epochs;
	return query_stacks(s->w->sel.db, &query, note_places, s);
}

static int each_of_host(void *ctx, const struct query_epochs *epochs)
{
	struct stack_source *s = ctx;
	struct query_selection query = s->w->sel.query;

	s->host = epochs->epoch[0].host;
	query.epochs = epochs;
	return query_stacks(s->w->sel.db, &query, on_stack, s);
}

int export_samples_stacks(struct export_samples *w, export_stack_fn fn, void *ctx)
{
	struct stack_source s = { .w = w, .fn = fn, .ctx = ctx };
	struct progress progress = progress_begin("naming the frames of stacks");
	struct image_cache *images = NULL;
	int err = export_samples_open_images(w, &images);

	if (!err)
		err = export_samples_each_host(w, note_host, &s);
	if (!err)
		err = export_places_look_up(&s.places, images, &progress);
	progress_end(&progress);
	if (!err)
		err = export_samples_each_host(w, each_of_host, &s);
	if (!err)
		export_samples_say_idle(s.idle);
	image_cache_free(images);
	export_places_fini(&s.places);
	export_frames_fini(&s.frames);
	return err;
}
