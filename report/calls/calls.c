/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.c - names the frames of call stacks
 *
 * A place is an offset in an image. The first reading gathers all different places and
 * sorts them by image, so that each image is opened once for their names. The second
 * reading only turns places into frame numbers.
 */
#include "config.h"

#include "report/calls/calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/progress.h"
#include "db/query/stacks.h"
#include "report/profile/prof.h"
#include "report/select/imagecache.h"
#include "report/select/select_stacks.h"

#define MAX_PLACES   (1u << 22)
#define SPECIAL_SIZE 64 /* of the name of a frame without an image */

/* Has a copy of the name, so it outlives the row of the database. */
struct call_image {
	struct hnode node;
	struct query_image image;
};

/* An offset in an image, and its frames: the procedure and what is inlined there. */
struct call_place {
	struct hnode node;
	const struct call_image *image;
	uint64_t offset;
	size_t first, nr; /* in the chain */
};

static struct call_image *find_image(const struct calls *c, int64_t id)
{
	struct hnode *n;

	for (n = hmap_first(&c->images, hash_u64(id)); n; n = hmap_next(n)) {
		struct call_image *im = container_of(n, struct call_image, node);

		if (im->image.id == id)
			return im;
	}
	return NULL;
}

static char *copy_name(struct arena *a, const char *name)
{
	char *copy = arena_alloc(a, strlen(name) + 1);

	return copy ? strcpy(copy, name) : NULL;
}

static int image_of(struct calls *c, const struct query_image *image,
		    const struct call_image **out)
{
	struct call_image *im = find_image(c, image->id);

	if (!im) {
		im = arena_alloc(&c->arena, sizeof(*im));
		if (!im || hmap_insert(&c->images, &im->node, hash_u64(image->id)))
			return -ENOMEM;
		im->image = *image;
		im->image.desc.name =
			copy_name(&c->arena, image->desc.name ? image->desc.name : "");
		if (!im->image.desc.name)
			return -ENOMEM;
	}
	*out = im;
	return 0;
}

static uint64_t place_hash(const struct query_frame *f)
{
	return hash_u64(hash_u64((uint64_t)f->image->id) ^ f->offset);
}

static struct call_place *find_place(const struct calls *c, const struct query_frame *f)
{
	struct hnode *n;

	for (n = hmap_first(&c->places, place_hash(f)); n; n = hmap_next(n)) {
		struct call_place *s = container_of(n, struct call_place, node);

		if (s->image->image.id == f->image->id && s->offset == f->offset)
			return s;
	}
	return NULL;
}

static int add_place(struct calls *c, const struct query_frame *f)
{
	struct call_place *s;
	int err;

	if (find_place(c, f))
		return 0;
	if (c->nr_places == MAX_PLACES)
		return -CPI_ELIMIT;
	if (GROW(c->place, c->nr_places))
		return -ENOMEM;
	s = arena_alloc(&c->arena, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->offset = f->offset;
	err = image_of(c, f->image, &s->image);
	if (!err)
		err = hmap_insert(&c->places, &s->node, place_hash(f));
	if (!err)
		c->place[c->nr_places++] = s;
	return err;
}

/* The outermost frames of a stack, which have no place. */
struct outer {
	struct frame_key key[2]; /* the innermost first; names may point to mark */
	size_t nr;
	char mark[SPECIAL_SIZE];
	char comm[CONTEXT_VALUE_MAX + 1];
};

static void special_name(const char *what, char name[SPECIAL_SIZE])
{
	snprintf(name, SPECIAL_SIZE, "[%s]", what);
}

/* Makes the frames for missing callers ("[no_start]") and for the command. */
static void outer_of(const struct calls *c, const struct query_stack *row,
		     struct outer *o)
{
	const char *comm = context_value(row->context, CONTEXT_COMM, o->comm);

	o->nr = 0;
	if (!row->nr_frames ||
	    (c->how & CALLS_ENDS && !stack_mark_is_whole(row->mark))) {
		special_name(stack_mark_str(row->mark), o->mark);
		o->key[o->nr++] = (struct frame_key){ .name = o->mark };
	}
	if (c->how & CALLS_COMMANDS)
		o->key[o->nr++] = (struct frame_key){
			.is_command = true,
			.name = comm ? comm : "[unknown command]",
		};
}

static int on_place(void *ctx, const struct query_stack *row)
{
	struct calls *c = ctx;
	struct outer outer;
	uint32_t id;
	int err = 0;

	for (size_t i = 0; i < row->nr_frames && !err; i++)
		err = add_place(c, &row->frames[i]);
	outer_of(c, row, &outer);
	for (size_t i = 0; i < outer.nr && !err; i++)
		err = frames_put(c->frames, &outer.key[i], &id);
	return err;
}

static int by_place(const void *va, const void *vb)
{
	const struct call_place *a = *(struct call_place *const *)va;
	const struct call_place *b = *(struct call_place *const *)vb;

	if (a->image != b->image)
		return a->image->image.id < b->image->image.id ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int put_frame(struct calls *c, const struct frame_key *key)
{
	uint32_t id;
	int err = frames_put(c->frames, key, &id);

	if (err)
		return err;
	buf_put(&c->chain, &id, sizeof(id));
	return c->chain.err;
}

/* Makes a frame without an image, such as "[map_gap]". */
static int put_special(struct calls *c, const char *what)
{
	char name[SPECIAL_SIZE];
	const struct frame_key key = { .name = name };

	special_name(what, name);
	return put_frame(c, &key);
}

/* Adds the frames of a place: first what is inlined there, then the procedure. */
static int name_in_image(struct calls *c, struct image *im, const struct call_place *s)
{
	const struct symbol *symbol = im ? image_symbol_at(im, s->offset) : NULL;
	struct frame_key key = { .image = &s->image->image };
	const struct inlined *inlined = NULL;
	size_t nr = 0;
	int err = 0;

	if (symbol && c->req->inlines)
		nr = image_inlined_at(im, s->offset, &inlined);
	for (size_t i = 0; i < nr && !err; i++) {
		key.inlined = true;
		key.name = inlined[i].name;
		key.line = inlined[i].call;
		err = put_frame(c, &key);
	}
	if (err)
		return err;
	key.inlined = false;
	key.name = symbol ? symbol->name : NO_SYMBOL_NAME;
	key.line = (struct line){ NULL, 0 };
	if (symbol && c->how & CALLS_LINES)
		key.line = image_line_at(im, symbol->start);
	return put_frame(c, &key);
}

static int name_place(struct calls *c, struct image_cache *images, struct call_place *s)
{
	struct image *im = NULL;
	int err;

	s->first = c->chain.len / sizeof(uint32_t);
	if (s->image->image.id) {
		err = image_cache_get(images, &s->image->image, &im);
		if (err != -ENOMEM)
			err = name_in_image(c, im, s);
		if (im && c->req->inlines)
			image_cache_warn_lines(images, &s->image->image, im);
	} else {
		err = put_special(c, stack_unknown_str(s->offset));
	}
	s->nr = c->chain.len / sizeof(uint32_t) - s->first;
	return err;
}

static int name_places(struct calls *c)
{
	const enum machine machine = machine_of(select_newest(&c->sel)->arch);
	struct image_cache *images =
		image_cache_new(c->sel.db, machine,
				c->sel.verbose ? IMAGE_WARN_ALL : IMAGE_WARN_ONE);
	struct progress progress = progress_begin("naming the frames of stacks");
	int err = -ENOMEM;

	if (images)
		err = image_cache_search(images, c->req->select.debug_dir,
					 c->req->select.debuginfod);
	if (c->nr_places)
		qsort(c->place, c->nr_places, sizeof(*c->place), by_place);
	for (size_t i = 0; i < c->nr_places && !err; i++) {
		progress_update(&progress, i, c->nr_places);
		err = name_place(c, images, c->place[i]);
	}
	progress_end(&progress);
	image_cache_free(images);
	return err;
}

static int failed(struct calls *c, int err)
{
	if (err == -CPI_ELIMIT)
		log_err("%s: the stacks have more than %u different code addresses: "
			"choose fewer epochs",
			db_path(c->sel.db), MAX_PLACES);
	else if (err)
		select_failed(&c->sel, err);
	return err;
}

int calls_open(const struct calls_request *req, const char *spec, unsigned int how,
	       struct frames *frames, struct calls *c)
{
	int err;

	memset(c, 0, sizeof(*c));
	c->req = req;
	c->how = how;
	c->frames = frames;
	arena_init(&c->arena, 0);
	err = select_stacks(&req->select, spec, &c->sel);
	if (err)
		return err;
	err = events_init(&c->ev, &c->sel.streams, select_newest(&c->sel)->clock_hz);
	if (!err)
		err = query_stacks(c->sel.db, &c->sel.query, on_place, c);
	if (!err)
		err = name_places(c);
	failed(c, err);
	if (err)
		calls_close(c);
	return err;
}

void calls_close(struct calls *c)
{
	hmap_fini(&c->images);
	hmap_fini(&c->places);
	free(c->place);
	buf_fini(&c->chain);
	buf_fini(&c->frame);
	arena_fini(&c->arena);
	events_fini(&c->ev);
	select_close(&c->sel);
}

struct stack_walk {
	struct calls *c;
	calls_fn fn;
	void *ctx;
};

/* Writes the frames of a stack to c->frame; false: one of its places has no name. */
static bool find_frames(struct calls *c, const struct query_stack *row)
{
	struct outer outer;
	uint32_t id;

	buf_reset(&c->frame);
	for (size_t i = 0; i < row->nr_frames; i++) {
		const struct call_place *s = find_place(c, &row->frames[i]);

		if (!s)
			return false;
		buf_put(&c->frame, c->chain.data + s->first * sizeof(uint32_t),
			s->nr * sizeof(uint32_t));
	}
	outer_of(c, row, &outer);
	for (size_t i = 0; i < outer.nr; i++) {
		if (!frames_find(c->frames, &outer.key[i], &id))
			return false;
		buf_put(&c->frame, &id, sizeof(id));
	}
	return true;
}

static int on_stack(void *ctx, const struct query_stack *row)
{
	struct stack_walk *each = ctx;
	struct calls *c = each->c;
	struct call_cost cost = { .n = row->n };
	size_t event;

	if (!events_find(&c->ev, row->stream, &event, &cost.weight) || event)
		return 0;
	cost.weight *= (double)row->n;
	if (row->nr_frames && row->frames[0].image->desc.kind == IMAGE_IDLE) {
		call_cost_add(&c->idle, cost);
		if (!c->req->idle)
			return 0;
	}
	if (!find_frames(c, row))
		return 0;
	if (c->frame.err)
		return c->frame.err;
	call_cost_add(&c->busy, cost);
	return each->fn(each->ctx, (const uint32_t *)c->frame.data,
			c->frame.len / sizeof(uint32_t), cost);
}

int calls_each(struct calls *c, calls_fn fn, void *ctx)
{
	struct stack_walk each = { c, fn, ctx };

	return failed(c, query_stacks(c->sel.db, &c->sel.query, on_stack, &each));
}
