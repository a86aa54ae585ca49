/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_find.c - finds the procedures with a name, and their samples
 *
 * Several images may have a procedure of the name: all are found, the one with the most
 * samples is chosen, and messages name the others.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/err.h"
#include "base/log.h"
#include "base/number.h"
#include "base/path.h"
#include "base/progress.h"
#include "report/explain/place.h"
#include "report/profile/prof.h"
#include "report/select/procname.h"

#define BLIND_BYTES  4096 /* range of 0xOFFSET if no symbol covers it */
#define MAX_PLACES   64
#define MAX_MENTIONS 5

struct find {
	struct scope *s;
	struct found_places *out;
	const char *name;
	bool by_offset;
	uint64_t offset;
	size_t nr_places;
	/*
	 * Ids of the only images to be searched, which have samples in the procedure;
	 * empty: all are. To open all of them takes long.
	 */
	struct buf only;
	int64_t last_image; /* the newest image that was searched */
	int64_t measured;   /* the newest image whose runs were used */
	struct progress progress;
};

static int add_place(struct find *f, const struct query_image *image,
		     enum place_kind kind, uint64_t start, uint64_t end,
		     const char *name)
{
	struct found_place *p;

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
	p->next = f->out->first;
	f->out->first = p;
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

/* Looks for the procedure in an image when the image's first row is read. */
static int find_in_image(struct find *f, const struct query_image *image,
			 struct image *im)
{
	int err = 0;

	if (f->last_image == image->id)
		return 0;
	f->last_image = image->id;
	for (struct found_place *p = f->out->first; p; p = p->next) {
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

/* As in cpi prof, a sample in nested procedures belongs to the innermost one. */
static bool belongs_to(const struct found_place *p, struct image *im, uint64_t offset)
{
	const struct symbol *s;

	if (offset < p->start || offset >= p->end)
		return false;
	if (p->kind == PLACE_RANGE)
		return true;
	s = im ? image_symbol_at(im, offset) : NULL;
	return p->kind == PLACE_UNNAMED ? !s : s && s->start == p->start;
}

/*
 * Adds the counts in the place, each with worth as its time. If the counts are weights
 * (s.n is 0), adds their time, but no samples.
 */
static int add_counts(struct found_place *p, struct image *im, struct profile *counts,
		      double worth, struct place_sample s)
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

static int add_samples(struct find *f, struct found_place *p, struct image *im,
		       struct profile *counts, size_t stream)
{
	const struct events *ev = &f->s->ev;
	const double unit = time_source_unit(&f->s->source, stream, counts);
	struct place_sample s = { .event = ev->of[stream], .n = 1 };
	int err = add_counts(p, im, counts, unit > 0 ? 0 : ev->weight[stream], s);

	s.n = 0;
	for (int w = 0; w < NR_WEIGHTS && unit > 0 && !err; w++) {
		if (profile_weights(counts, w))
			err = add_counts(p, im, profile_weights(counts, w),
					 ev->weight[stream] / unit, s);
	}
	f->out->has_weights |= unit > 0;
	return err;
}

/* Adds a stream's samples of an image to the places in it. */
static int add_to_places(struct find *f, const struct query_profile *q,
			 struct image *im)
{
	const struct query_stream *of =
		query_stream_by_id(&f->s->sel.streams, q->stream);
	const size_t stream = of ? (size_t)(of - f->s->sel.streams.stream) : 0;
	const bool is_first = !f->s->ev.of[stream] && f->measured != q->image.id;
	struct found_place *p = f->out->first;
	int err;

	while (p && p->image.id != q->image.id)
		p = p->next;
	if (!of || !p || !time_source_takes(&f->s->source, stream))
		return 0;
	if (is_first)
		f->measured = q->image.id;
	err = time_source_weigh(&f->s->source, &q->image, im, stream, is_first,
				q->profile);
	for (; p && !err; p = p->next) {
		if (p->image.id == q->image.id)
			err = add_samples(f, p, im, q->profile, stream);
	}
	return err;
}

static bool has_samples(const struct find *f, int64_t image)
{
	const int64_t *id = (const int64_t *)f->only.data;
	size_t nr = f->only.len / sizeof(*id);

	while (nr && id[nr - 1] != image)
		nr--;
	return nr > 0;
}

/* In a query, the image that is named before the procedure takes --image's place. */
static bool is_selected(const struct find *f, const struct query_image *image)
{
	const char *glob = f->s->sel.image_glob;

	if (f->only.len && !has_samples(f, image->id))
		return false;
	return !glob || path_matches(glob, image->desc.name);
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct find *f = ctx;
	struct image *im = NULL;
	int err;

	if (q->image.desc.kind == IMAGE_IDLE || !is_selected(f, &q->image))
		return 0;
	err = image_cache_get(f->s->images, &q->image, &im);
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

static int search(struct scope *s, const char *name, const char *image,
		  struct found_places *out)
{
	struct query_selection query = s->sel.query;
	struct find f = { .s = s, .out = out, .name = name, .last_image = -1 };
	int err;

	if (image)
		query.image = image;
	f.by_offset = !strncmp(name, "0x", 2) && !number_parse(name, 0, &f.offset);
	if (f.by_offset && !query.image) {
		log_err("%s: name the image of this offset with --image", name);
		return -EINVAL;
	}
	if (!image) /* a named image may have the procedure without samples in it */
		procedure_evidence_images(s->evidence, name, &f.only);
	f.progress = progress_begin("reading images");
	err = f.only.err
		      ? f.only.err
		      : query_profiles(s->sel.db, &query, on_profile, &f, on_progress);
	progress_end(&f.progress);
	buf_fini(&f.only);
	if (err)
		select_failed(&s->sel, err);
	return err;
}

static void choose(struct found_places *all)
{
	unsigned int mentions = 0;

	for (struct found_place *p = all->first; p; p = p->next) {
		if (!all->chosen || p->weight > all->chosen->weight)
			all->chosen = p;
	}
	if (!all->chosen || !all->first->next)
		return;
	log_warn(
		"%s is in several places; this is the one with the most samples, in %s",
		all->chosen->name, all->chosen->image.desc.name);
	for (struct found_place *p = all->first; p; p = p->next) {
		if (p != all->chosen && mentions++ < MAX_MENTIONS)
			log_warn("also: 0x%" PRIx64 " in %s", p->start,
				 p->image.desc.name);
	}
}

static int compare_samples(const void *va, const void *vb)
{
	const struct place_sample *a = va, *b = vb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

/* Looks for the procedure with samples whose name is nearest to the wanted one. */
struct suggest {
	struct scope *s;
	struct did_you_mean guess;
	char *best;
};

static int try_names(void *ctx, const struct query_profile *q)
{
	struct suggest *g = ctx;
	const struct symbol *last = NULL;
	struct image *im;
	const struct count *c;
	size_t nr;

	if (image_cache_get(g->s->images, &q->image, &im))
		return 0;
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; c && i < nr; i++) {
		const struct symbol *s = image_symbol_at(im, c[i].offset);

		if (!s || s == last)
			continue;
		last = s;
		did_you_mean_try(&g->guess, s->name);
		if (g->guess.best != s->name)
			continue;
		free(g->best);
		g->best = strdup(s->name); /* the image may be closed */
	}
	return 0;
}

static int failed_none(struct scope *s, const char *proc)
{
	const size_t nr = image_cache_nr_failed(s->images);
	struct suggest g = { .s = s, .guess = did_you_mean_init(proc) };

	query_profiles(s->sel.db, &s->sel.query, try_names, &g, NULL);
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
		log_err("%zu %s could not be opened: 'cpi prof' says why", nr,
			nr == 1 ? "image" : "images");
	free(g.best);
	return -CPI_ENOSYMBOL;
}

/* The end of the image in "IMAGE:NAME" or "IMAGE+0xOFFSET"; NULL if there is none. */
static const char *image_end(const char *proc)
{
	const char *end = procname_image_end(proc);

	return end ? end : strstr(proc, "+0x");
}

static int search_all(struct scope *s, const char *proc, struct found_places *out)
{
	const char *colon = image_end(proc);
	char *image, *glob;
	int err = 0;

	if (colon) { /* search only that image: opening all takes long */
		image = strndup(proc, colon - proc);
		glob = image ? select_glob(image) : NULL;
		err = glob ? search(s, colon + 1, glob, out) : -ENOMEM;
		free(glob);
		free(image);
	}
	if (!err && !out->first)
		err = search(s, proc, NULL, out);
	return err;
}

const struct place_sample *place_samples(const struct found_place *p, size_t *nr)
{
	*nr = p->samples.len / sizeof(struct place_sample);
	return (const struct place_sample *)p->samples.data;
}

/*
 * Reports mark a place without a symbol, "gzip+0x4290 (stripped)": ignores this
 * mark.
 */
static int search_as_shown(struct scope *s, const char *proc, struct found_places *out)
{
	static const char note[] = " (stripped)";
	const size_t len = strlen(proc), note_len = sizeof(note) - 1;
	char *name;
	int err;

	if (len <= note_len || strcmp(proc + len - note_len, note) != 0)
		return search_all(s, proc, out);
	name = strndup(proc, len - note_len);
	err = name ? search_all(s, name, out) : -ENOMEM;
	free(name);
	return err;
}

int place_find(struct scope *s, const char *proc, struct found_places *out)
{
	struct found_places p = { .first = NULL };
	int err = search_as_shown(s, proc, &p);

	if (!err) {
		choose(&p);
		if (!p.chosen)
			err = failed_none(s, proc);
	}
	if (err) {
		found_places_fini(&p);
		return err;
	}
	if (p.chosen->samples.len)
		qsort(p.chosen->samples.data,
		      p.chosen->samples.len / sizeof(struct place_sample),
		      sizeof(struct place_sample), compare_samples);
	*out = p;
	return 0;
}

void found_places_fini(struct found_places *places)
{
	struct found_place *p, *next;

	for (p = places->first; p; p = next) {
		next = p->next;
		free((char *)p->image.desc.name);
		free(p->name);
		buf_fini(&p->samples);
		free(p);
	}
}
