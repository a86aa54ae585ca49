/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_flat.c - samples without callers as stacks of one procedure each
 *
 * For each machine, image by image: gathers the counts of all streams and contexts of
 * the image, sorts them by offset, and passes them on while the image is open. The
 * samples without a context are those of the profile of all processes, minus those of
 * the profiles of all contexts.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/progress.h"
#include "db/profile/stacktree.h"
#include "report/calls/export_frames.h"
#include "report/calls/export_labels.h"
#include "report/calls/export_samples.h"
#include "report/calls/strings.h"
#include "report/select/imagecache.h"

#define NO_CONTEXT UINT32_MAX

/* Samples of an event at an offset, in one context. */
struct place_count {
	uint64_t offset;
	uint32_t context; /* a string, or NO_CONTEXT */
	uint32_t event;
	uint64_t n;
	double weight; /* of one sample */
};

struct flat {
	struct export_samples *w;
	export_stack_fn fn;
	void *ctx;
	struct image_cache *images;
	struct progress progress;
	struct strings contexts;
	const struct query_epochs *epochs; /* of one machine */
	struct query_image image;          /* the current image; name is owned */
	struct place_count *count;
	size_t nr_counts;
	int64_t stream;        /* the last one that was gathered */
	struct profile *named; /* Σ over the contexts of image and stream */
	struct export_frames frames;
	double value[EXPORT_MAX_COLUMNS];
	double idle; /* samples that are left out */
};

/* Calls fn with the current frames and values. */
static int hand_out(struct flat *f, uint32_t id)
{
	const char *name = id == NO_CONTEXT ? NULL : strings_at(&f->contexts, id);
	char value[CONTEXT_VALUE_MAX + 1];
	const char *context = name ? context_value(name, f->w->kind, value) : NULL;
	struct export_labels labels;
	struct export_stack stack = {
		.frame = f->frames.at,
		.nr_frames = f->frames.nr,
		.context = context ? context : export_samples_missing_context(f->w),
		.host = f->epochs->epoch[0].host,
		.label = labels.at,
		.value = f->value
	};

	export_labels_make(&labels, f->w->sel.db, f->w->kinds, name, stack.host);
	stack.nr_labels = labels.nr;
	return f->fn(f->ctx, &stack);
}

static int compare_counts(const void *a, const void *b)
{
	const struct place_count *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

static int find_frames(struct flat *f, struct image *im, uint64_t offset)
{
	f->frames.nr = 0;
	if (!f->image.id)
		return export_frames_add_unknown(&f->frames, stack_unknown_str(offset));
	if (f->image.desc.kind == IMAGE_IDLE)
		return export_frames_add_idle(&f->frames);
	return export_frames_add(&f->frames, &f->image, im, offset);
}

static struct evidence_use use_at(const struct flat *f, struct image *im,
				  uint64_t offset)
{
	if (!f->image.id)
		return procedure_evidence_unknown_use(f->w->evidence,
						      stack_unknown_str(offset));
	return procedure_evidence_use(f->w->evidence, &f->image,
				      im ? image_symbol_at(im, offset) : NULL);
}

static int hand_out_counts(struct flat *f, struct image *im)
{
	struct evidence_use use = { 0 };
	int err = 0;

	for (size_t i = 0, next; i < f->nr_counts && !err; i = next) {
		const struct place_count *first = &f->count[i];

		if (!i || first->offset != first[-1].offset) {
			use = use_at(f, im, first->offset);
			err = find_frames(f, im, first->offset);
		}
		memset(f->value, 0, sizeof(f->value));
		for (next = i;
		     next < f->nr_counts && f->count[next].offset == first->offset &&
		     f->count[next].context == first->context;
		     next++)
			export_samples_add(f->w, f->count[next].event, f->count[next].n,
					   f->count[next].weight, use, f->value);
		if (!err)
			err = hand_out(f, first->context);
	}
	return err;
}

/* Passes on the gathered counts of an image. */
static int end_image(struct flat *f)
{
	struct image *im = NULL;
	int err = 0;

	if (!f->nr_counts)
		return 0;
	qsort(f->count, f->nr_counts, sizeof(*f->count), compare_counts);
	if (f->image.id && f->image.desc.kind != IMAGE_IDLE)
		err = image_cache_get(f->images, &f->image, &im);
	if (err != -ENOMEM)
		err = hand_out_counts(f, im);
	if (im)
		image_cache_warn_lines(f->images, &f->image, im);
	f->nr_counts = 0;
	return err;
}

static int begin_image(struct flat *f, const struct query_image *image)
{
	char *name = strdup(image->desc.name);

	if (!name)
		return -ENOMEM;
	free((char *)f->image.desc.name);
	f->image = *image;
	f->image.desc.name = name;
	return 0;
}

static int begin_stream(struct flat *f, int64_t stream)
{
	profile_free(f->named);
	f->named = profile_new();
	f->stream = stream;
	return f->named ? 0 : -ENOMEM;
}

static int add_count(struct flat *f, const struct place_count *count)
{
	if (GROW(f->count, f->nr_counts))
		return -ENOMEM;
	f->count[f->nr_counts++] = *count;
	return 0;
}

/*
 * Returns how many samples of c, the count of all processes, have no context. The
 * contexts came first, so f->named has their samples.
 */
static uint64_t unnamed(const struct flat *f, const struct count *c)
{
	const uint64_t named = profile_at(f->named, c->offset).n;

	return c->n > named ? c->n - named : 0;
}

static int add_counts(struct flat *f, const struct query_profile *q,
		      struct place_count count)
{
	const bool idle = q->image.desc.kind == IMAGE_IDLE;
	const struct count *c;
	size_t nr;
	int err = 0;

	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		count.offset = idle ? 0 : c[i].offset;
		count.n = q->context ? c[i].n : unnamed(f, &c[i]);
		if (idle && !f->w->req->idle)
			f->idle += (double)count.n;
		else if (count.n)
			err = add_count(f, &count);
	}
	return err;
}

/* Adds samples of a context. The profile of all processes comes after all contexts. */
static int note_named(struct flat *f, const struct query_profile *q)
{
	return q->context && !select_has_contexts(&f->w->sel)
		       ? profile_merge(f->named, q->profile)
		       : 0;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct flat *f = ctx;
	struct place_count count = { .context = NO_CONTEXT };
	size_t event;
	int err = 0;

	if (!events_find(&f->w->ev, q->stream, &event, &count.weight))
		return 0;
	count.event = (uint32_t)event;
	if (!f->image.desc.name || q->image.id != f->image.id) {
		err = end_image(f);
		if (!err)
			err = begin_image(f, &q->image);
		if (!err)
			err = begin_stream(f, q->stream);
	} else if (q->stream != f->stream) {
		err = begin_stream(f, q->stream);
	}
	if (!err && q->context)
		err = strings_add(&f->contexts, q->context, &count.context);
	if (!err)
		err = add_counts(f, q, count);
	return err ? err : note_named(f, q);
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct flat *f = ctx;

	progress_update(&f->progress, done, all);
}

/*
 * Adds samples without an image, by reason. But if contexts are selected, on_profile()
 * got these samples as image 0; and if images are selected, they are left out.
 */
static int hand_out_unknown(struct flat *f)
{
	const struct query_selection *query = &f->w->sel.query;
	struct query_losses losses = { 0 };
	double weight;
	size_t event;
	int err = 0;

	if (!query->image && !query_restricted_kinds(query))
		err = query_losses(f->w->sel.db, f->epochs, &losses);
	for (size_t i = 0; i < losses.nr && !err; i++) {
		const struct query_loss *l = &losses.loss[i];

		if (l->class != LOSS_UNKNOWN || !l->n ||
		    !events_find(&f->w->ev, l->stream, &event, &weight))
			continue;
		f->frames.nr = 0;
		err = export_frames_add_unknown(&f->frames, l->name);
		memset(f->value, 0, sizeof(f->value));
		export_samples_add(f->w, event, l->n, weight,
				   procedure_evidence_unknown_use(f->w->evidence,
								  l->name),
				   f->value);
		if (!err)
			err = hand_out(f, NO_CONTEXT);
	}
	query_losses_fini(&losses);
	return err;
}

/* Passes on all stacks of one machine. */
static int each_of_host(void *ctx, const struct query_epochs *epochs)
{
	struct flat *f = ctx;
	struct query_selection query = f->w->sel.query;
	int err;

	f->epochs = epochs;
	query.epochs = epochs;
	query.unknown = query_restricted_kinds(&query) != 0;
	query.apart = f->w->kinds;
	if (query.apart) {
		err = query_need_contexts(f->w->sel.db, epochs, query.apart);
		if (err && err != -CPI_EEMPTY)
			return err;
		if (err && query_restricted_kinds(&query))
			return 0;
		if (err)
			query.apart = 0;
	}
	err = query_profiles(f->w->sel.db, &query, on_profile, f, on_progress);
	if (!err)
		err = end_image(f);
	free((char *)f->image.desc.name);
	f->image.desc.name = NULL;
	return err ? err : hand_out_unknown(f);
}

int export_samples_flat(struct export_samples *w, export_stack_fn fn, void *ctx)
{
	struct flat f = { .w = w,
			  .fn = fn,
			  .ctx = ctx,
			  .progress = progress_begin("reading images") };
	int err = export_samples_open_images(w, &f.images);

	if (!err)
		err = export_samples_each_host(w, each_of_host, &f);
	progress_end(&f.progress);
	if (!err)
		export_samples_say_idle(f.idle);
	image_cache_free(f.images);
	profile_free(f.named);
	strings_fini(&f.contexts);
	export_frames_fini(&f.frames);
	free((char *)f.image.desc.name);
	free(f.count);
	return err;
}
