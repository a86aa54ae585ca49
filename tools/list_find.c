/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_find.c - which procedure is meant, and where are its samples?
 *
 * A name may stand in several images: all are found, the one with the most
 * samples is chosen, the others are named.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/list.h"
#include "tools/nearest.h"
#include "tools/procname.h"
#include "tools/progress.h"

#define BLIND_BYTES  4096 /* what 0xOFFSET shows where no symbol is */
#define MAX_PLACES   64
#define MAX_MENTIONS 5

struct find {
	struct listing *l;
	const char *name;
	bool by_offset;
	uint64_t offset;
	size_t nr_places;
	int64_t last_image; /* looked through already */
	int64_t weighed;    /* the newest that has its runs */
	struct progress progress;
};

static int add_place(struct find *f, const struct query_image *image,
		     enum place_kind kind, uint64_t start, uint64_t end,
		     const char *name)
{
	struct list_place *p;

	if (f->nr_places == MAX_PLACES)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->image = *image;
	p->image.desc.name = strdup(image->desc.name);
	p->name = strdup(name);
	p->kind = kind;
	p->start = start;
	p->end = end;
	p->next = f->l->places;
	f->l->places = p;
	f->nr_places++;
	return p->image.desc.name && p->name ? 0 : -ENOMEM;
}

static int add_symbol(struct find *f, const struct query_image *image,
		      const struct symbol *s)
{
	return add_place(f, image, PLACE_PROCEDURE, s->start, s->end, s->name);
}

static int add_named(struct find *f, const struct query_image *image, struct image *im)
{
	const struct symbol *const *symbols;
	const struct symbol *one;
	size_t nr;
	int err;

	err = image_symbol_named(im, f->name, &one);
	if (!err)
		return add_symbol(f, image, one);
	if (err != -CPI_ETOOMANY)
		return err == -CPI_ENOSYMBOL ? 0 : err;
	symbols = image_symbols(im, &nr);
	err = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (!strcmp(symbols[i]->raw, f->name) ||
		    procname_is(symbols[i]->name, f->name))
			err = add_symbol(f, image, symbols[i]);
	}
	return err;
}

static int add_at_offset(struct find *f, const struct query_image *image,
			 struct image *im)
{
	const struct symbol *s = im ? image_symbol_at(im, f->offset) : NULL;
	uint64_t end = f->offset + BLIND_BYTES;
	char name[32];

	if (s)
		return add_symbol(f, image, s);
	snprintf(name, sizeof(name), "[0x%" PRIx64 "]", f->offset);
	return add_place(f, image, PLACE_RANGE, f->offset,
			 end < f->offset ? UINT64_MAX : end, name);
}

/* Looks for the procedure in an image, the first time that it comes by. */
static int find_in_image(struct find *f, const struct query_image *image,
			 struct image *im)
{
	int err = 0;

	if (f->last_image == image->id)
		return 0;
	f->last_image = image->id;
	for (struct list_place *p = f->l->places; p; p = p->next) {
		if (p->image.id == image->id)
			return 0;
	}
	if (f->by_offset) {
		err = add_at_offset(f, image, im);
	} else if (!strcmp(f->name, NO_SYMBOL_NAME)) {
		err = add_place(f, image, PLACE_UNNAMED, 0, UINT64_MAX, NO_SYMBOL_NAME);
	} else if (im) {
		err = add_named(f, image, im);
	}
	return err;
}

/* As prof has it: with nested procedures, the inner one has the sample. */
static bool belongs_to(const struct list_place *p, struct image *im, uint64_t offset)
{
	const struct symbol *s;

	if (offset < p->start || offset >= p->end)
		return false;
	if (p->kind == PLACE_RANGE)
		return true;
	s = im ? image_symbol_at(im, offset) : NULL;
	return p->kind == PLACE_UNNAMED ? !s : s && s->start == p->start;
}

/* Adds those of the place, each of which is worth so much; of weights alone that. */
static int add_counts(struct list_place *p, struct image *im, struct profile *counts,
		      double worth, struct list_sample s)
{
	const bool are_samples = s.n;
	size_t nr;
	const struct count *c = profile_sorted(counts, &nr);

	for (size_t i = 0; c && i < nr; i++) {
		if (!belongs_to(p, im, c[i].offset))
			continue;
		s.offset = c[i].offset;
		s.weight = (double)c[i].n * worth;
		s.n = are_samples ? c[i].n : 0;
		s.taken = are_samples ? c[i].taken : 0;
		s.not_taken = are_samples ? c[i].not_taken : 0;
		buf_put(&p->samples, &s, sizeof(s));
		p->weight += s.event ? 0 : s.weight;
	}
	return p->samples.err;
}

static int add_samples(struct find *f, struct list_place *p, struct image *im,
		       struct profile *counts, size_t stream)
{
	const struct events *ev = &f->l->ev;
	const double unit = time_source_unit(&f->l->source, stream, counts);
	struct list_sample s = { .event = ev->of[stream], .n = 1 };
	int err = add_counts(p, im, counts, unit > 0 ? 0 : ev->weight[stream], s);

	s.n = 0;
	for (int w = 0; w < NR_WEIGHTS && unit > 0 && !err; w++) {
		if (profile_weights(counts, w))
			err = add_counts(p, im, profile_weights(counts, w),
					 ev->weight[stream] / unit, s);
	}
	f->l->weighed |= unit > 0;
	return err;
}

/* Adds a stream's samples of an image to the places in it. */
static int add_to_places(struct find *f, const struct query_profile *q,
			 struct image *im)
{
	const struct query_stream *s =
		query_stream_by_id(&f->l->sel.streams, q->stream);
	const size_t stream = s ? (size_t)(s - f->l->sel.streams.stream) : 0;
	const bool is_first = !f->l->ev.of[stream] && f->weighed != q->image.id;
	struct list_place *p = f->l->places;
	int err;

	while (p && p->image.id != q->image.id)
		p = p->next;
	if (!s || !p || !time_source_takes(&f->l->source, stream))
		return 0;
	if (is_first)
		f->weighed = q->image.id;
	err = time_source_weigh(&f->l->source, &q->image, im, stream, is_first,
				q->profile);
	for (; p && !err; p = p->next) {
		if (p->image.id == q->image.id)
			err = add_samples(f, p, im, q->profile, stream);
	}
	return err;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct find *f = ctx;
	struct image *im = NULL;
	int err;

	if (q->image.desc.kind == IMAGE_IDLE)
		return 0;
	err = image_cache_get(f->l->images, &q->image, &im);
	if (err == -ENOMEM)
		return err;
	err = find_in_image(f, &q->image, im);
	return err ? err : add_to_places(f, q, im);
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct find *f = ctx;

	progress_update(&f->progress, done, all);
}

static int search(struct listing *l, const char *name, const char *image)
{
	struct query_selection query = l->sel.query;
	struct find f = { .l = l, .name = name, .last_image = -1 };
	char *end;
	int err;

	if (image)
		query.image = image;
	if (!strncmp(name, "0x", 2)) {
		errno = 0;
		f.offset = strtoull(name, &end, 16);
		f.by_offset = !*end && end > name + 2 && !errno;
	}
	if (f.by_offset && !query.image) {
		log_err("%s: say of which image, with --image", name);
		return -EINVAL;
	}
	f.progress = progress_begin("reading images");
	err = query_profiles(l->sel.db, &query, on_profile, &f, on_progress);
	progress_end(&f.progress);
	if (err)
		select_failed(l->ctx, &l->sel, err);
	return err;
}

static void choose(struct listing *l)
{
	unsigned int mentions = 0;

	for (struct list_place *p = l->places; p; p = p->next) {
		if (!l->place || p->weight > l->place->weight)
			l->place = p;
	}
	if (!l->place || !l->places->next)
		return;
	log_warn(
		"%s is in several places; this is the one with the most samples, in %s",
		l->place->name, l->place->image.desc.name);
	for (struct list_place *p = l->places; p; p = p->next) {
		if (p != l->place && mentions++ < MAX_MENTIONS)
			log_warn("also: 0x%" PRIx64 " in %s", p->start,
				 p->image.desc.name);
	}
}

static int compare_samples(const void *va, const void *vb)
{
	const struct list_sample *a = va, *b = vb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

/* The procedure with samples whose name is nearest to the one that was wanted. */
struct suggest {
	struct listing *l;
	struct nearest near;
	char *best;
};

static int try_names(void *ctx, const struct query_profile *q)
{
	struct suggest *g = ctx;
	const struct symbol *last = NULL;
	struct image *im;
	const struct count *c;
	size_t nr;

	if (image_cache_get(g->l->images, &q->image, &im))
		return 0;
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; c && i < nr; i++) {
		const struct symbol *s = image_symbol_at(im, c[i].offset);

		if (!s || s == last)
			continue;
		last = s;
		nearest_try(&g->near, s->name);
		if (g->near.best != s->name)
			continue;
		free(g->best);
		g->best = strdup(s->name); /* the image may be closed */
	}
	return 0;
}

static int failed_none(struct listing *l, const char *proc)
{
	const size_t nr = image_cache_nr_failed(l->images);
	struct suggest g = { .l = l, .near = nearest_init(proc) };

	query_profiles(l->sel.db, &l->sel.query, try_names, &g, NULL);
	if (g.best)
		log_err("%s: no procedure of that name in an image with samples: did "
			"you mean '%s'?",
			proc, g.best);
	else
		log_err("%s: no procedure of that name in an image with samples: "
			"'cpi prof' lists them; 0xOFFSET with --image shows code "
			"without a name",
			proc);
	if (nr)
		log_err("%zu images could not be opened: 'cpi prof' says why", nr);
	free(g.best);
	return -CPI_ENOSYMBOL;
}

int list_find(struct listing *l, const char *proc)
{
	const char *colon = l->ctx->opt.image ? NULL : procname_image_end(proc);
	char *image, *glob;
	int err = 0;

	if (colon) { /* that image alone: to open all takes long */
		image = strndup(proc, colon - proc);
		glob = image ? select_glob(image) : NULL;
		err = glob ? search(l, colon + 1, glob) : -ENOMEM;
		free(glob);
		free(image);
	}
	if (!err && !l->places)
		err = search(l, proc, NULL);
	if (err)
		return err;
	choose(l);
	if (!l->place)
		return failed_none(l, proc);
	if (l->place->samples.len)
		qsort(l->place->samples.data,
		      l->place->samples.len / sizeof(struct list_sample),
		      sizeof(struct list_sample), compare_samples);
	return 0;
}
