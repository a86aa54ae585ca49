/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/outbox.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/grow.h"
#include "daemon/outbox_trees.h"
#include "daemon/outbox_windows.h"

#define MAX_KERNEL_CODE ((size_t)64 << 20) /* of one flush; more than kernels have */

struct item {
	struct item *next;
	bool is_epoch;
	bool has_moved; /* a flush's: to a later epoch than its own */
	/* an epoch's */
	uint64_t now_ns;
	uint32_t uncertainty_ms;
	char *label;
	/* a flush's: it points into the tally and the arrays here */
	struct flush flush;
	size_t cap_symbols, cap_codes;
	struct tally *tally;
	struct outbox_trees *stacks;        /* NULL: none */
	struct outbox_window_sets *windows; /* NULL: none */
	struct anchorset *anchors;          /* NULL: none */
	struct jit_object *objects;
	struct arena kernel_code; /* what was read of it */
	size_t captured; /* bytes: the objects, and what names and lists all captures */
};

struct outbox {
	struct item *first, **end;
	uint64_t seq; /* of the last flush */
};

struct outbox *outbox_new(void)
{
	struct outbox *o = calloc(1, sizeof(*o));

	if (o)
		o->end = &o->first;
	return o;
}

static void item_free(struct item *i)
{
	struct flush *f;

	if (!i)
		return;
	f = &i->flush;
	for (size_t n = 0; n < f->nr_symbols; n++)
		free((char *)f->symbols[n].name);
	free((void *)f->streams);
	free((void *)f->profiles);
	free((void *)f->comms);
	free((void *)f->edges);
	free((void *)f->losses);
	free((void *)f->symbols);
	free((void *)f->codes);
	tally_free(i->tally);
	outbox_trees_free(i->stacks);
	outbox_window_sets_free(i->windows);
	anchorset_free(i->anchors);
	jit_free_objects(i->objects);
	arena_fini(&i->kernel_code);
	free(i->label);
	free(i);
}

void outbox_free(struct outbox *o)
{
	if (!o)
		return;
	while (o->first) {
		struct item *i = o->first;

		o->first = i->next;
		item_free(i);
	}
	free(o);
}

static void append(struct outbox *o, struct item *i)
{
	*o->end = i;
	o->end = &i->next;
}

int outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
		     const char *label)
{
	struct item *i = calloc(1, sizeof(*i));

	if (!i)
		return -ENOMEM;
	i->is_epoch = true;
	i->now_ns = now_ns;
	i->uncertainty_ms = uncertainty_ms;
	if (label && *label) {
		i->label = strdup(label);
		if (!i->label) {
			free(i);
			return -ENOMEM;
		}
	}
	append(o, i);
	return 0;
}

static int list_profiles(struct flush *f, const struct tally *t)
{
	struct flush_profile *profiles = calloc(t->profiles.nr + 1, sizeof(*profiles));
	struct hnode *n, *next;

	if (!profiles)
		return -ENOMEM;
	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		profiles[f->nr_profiles++] =
			(struct flush_profile){ .image = &p->image->desc,
						.stream = p->event,
						.context = p->context,
						.profile = p->profile };
	}
	f->profiles = profiles;
	return 0;
}

static int list_comms(struct flush *f, const struct tally *t)
{
	struct flush_comm *comms = calloc(t->comms.nr + 1, sizeof(*comms));
	struct hnode *n, *next;

	if (!comms)
		return -ENOMEM;
	hmap_for_each (&t->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		comms[f->nr_comms++] =
			(struct flush_comm){ .image = c->image ? &c->image->desc : NULL,
					     .stream = c->event,
					     .comm = c->comm,
					     .n = c->n };
	}
	f->comms = comms;
	return 0;
}

static const struct image_desc *desc_of(const struct known_image *image)
{
	return image ? &image->desc : NULL;
}

int outbox_list_edges(const struct tally *t, const struct flush_edges **out, size_t *nr)
{
	struct flush_edges *edges = calloc(t->edges.nr + 1, sizeof(*edges));
	struct hnode *n, *next;
	size_t i = 0;

	if (!edges)
		return -ENOMEM;
	hmap_for_each (&t->edges, n, next) {
		struct tally_edges *e = container_of(n, struct tally_edges, node);

		edges[i++] = (struct flush_edges){ .image = desc_of(e->image),
						   .target = desc_of(e->target),
						   .stream = e->event,
						   .kind = e->kind,
						   .edges = e->edges };
	}
	*out = edges;
	*nr = i;
	return 0;
}

static int list_losses(struct flush *f, const struct tally *t, int nr_events)
{
	struct flush_loss *losses = calloc(nr_events * NR_LOSSES + 1, sizeof(*losses));

	if (!losses)
		return -ENOMEM;
	for (int e = 0; e < nr_events; e++)
		f->nr_losses += loss_list(t->loss[e], e, losses + f->nr_losses);
	f->losses = losses;
	return 0;
}

static int add_symbol(struct item *i, const struct known_image *image, uint64_t start,
		      uint64_t size, const char *name)
{
	struct flush *f = &i->flush;
	struct flush_symbol *grown = grow((void *)f->symbols, f->nr_symbols,
					  &i->cap_symbols, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->symbols = grown;
	grown += f->nr_symbols;
	*grown = (struct flush_symbol){ .image = &image->desc,
					.start = start,
					.size = size,
					.name = strdup(name) };
	if (!grown->name)
		return -ENOMEM;
	f->nr_symbols++;
	i->captured += sizeof(*grown) + strlen(name) + 1;
	return 0;
}

/* The bytes must stay. */
static int add_code(struct item *i, const struct flush_code *code)
{
	struct flush *f = &i->flush;
	struct flush_code *grown =
		grow((void *)f->codes, f->nr_codes, &i->cap_codes, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->codes = grown;
	grown[f->nr_codes++] = *code;
	i->captured += sizeof(*grown);
	return 0;
}

/* Where it cannot be read there is none. */
static int capture_kernel_code(struct item *i, const struct known_image *image,
			       const struct kernel_symbol *s, struct kerneltext *text)
{
	const size_t size = s->end - s->start;
	struct flush_code code = { .image = &image->desc,
				   .start = s->start - s->base,
				   .size = size };
	void *bytes = arena_alloc(&i->kernel_code, size);

	if (!bytes || kerneltext_read(text, s->start, bytes, size))
		return 0;
	code.bytes = bytes;
	return add_code(i, &code);
}

/* The kernel procedure at an offset, if it was not given out before. */
static int capture_procedure(struct item *i, const struct known_image *image,
			     uint64_t offset, const struct outbox_flush *in)
{
	const struct kernel_symbol *s = kernel_capture(in->kernel, image, offset);
	int err;

	if (!s)
		return 0;
	err = add_symbol(i, image, s->start - s->base, s->end - s->start, s->name);
	if (!err && in->text)
		err = capture_kernel_code(i, image, s, in->text);
	return err;
}

static int capture_kernel(struct item *i, const struct tally_profile *p,
			  const struct outbox_flush *in)
{
	const struct count *c;
	size_t nr;
	int err = 0;

	c = profile_sorted(p->profile, &nr);
	for (size_t n = 0; c && n < nr && !err; n++)
		err = capture_procedure(i, p->image, c[n].offset, in);
	return err;
}

static int capture_objects(struct item *i)
{
	int err = 0;

	for (const struct jit_object *o = i->objects; o && !err; o = o->next) {
		err = add_symbol(i, o->image, o->offset, o->size, o->name);
		if (!err && o->bytes)
			err = add_code(i,
				       &(struct flush_code){ .image = &o->image->desc,
							     .start = o->offset,
							     .bytes = o->bytes,
							     .size = o->size });
		i->captured += sizeof(*o) + strlen(o->name) + 1;
		i->captured += o->bytes ? o->size : 0;
	}
	return err;
}

static int capture_vdso(struct item *i, const struct known_image *image)
{
	struct flush_code code = { .image = &image->desc };

	return kernel_vdso(&code.bytes, &code.size) ? 0 : add_code(i, &code);
}

/*
 * What will be gone after a reboot, the kernel's names and code and the vDSO; and what
 * was never in a file.
 */
static int list_captures(struct item *i, const struct outbox_flush *in)
{
	bool have_vdso = false;
	struct hnode *n, *next;
	int err = capture_objects(i);

	hmap_for_each (&in->tally->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (p->context[0] || err || !in->kernel)
			continue;
		if (p->image->desc.kind == IMAGE_VDSO) {
			if (!have_vdso)
				err = capture_vdso(i, p->image);
			have_vdso = true;
		} else if (p->image->desc.kind != IMAGE_FILE &&
			   p->image->desc.kind != IMAGE_JIT) {
			err = capture_kernel(i, p, in);
		}
	}
	return err;
}

struct capturing {
	struct item *item;
	const struct outbox_flush *in;
};

static int capture_stack(void *ctx, const struct stack_frame *frames, size_t nr,
			 enum stack_mark mark, uint64_t n)
{
	const struct capturing *c = ctx;
	struct known_image *const *images = c->in->stacks->tally->images.image;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct known_image *image = images[frames[i].image];

		if (image && image_kind_is_kernel(image->desc.kind))
			err = capture_procedure(c->item, image, frames[i].offset,
						c->in);
	}
	return err;
}

/* What the kernel's frames are called, too. */
static int capture_stacks(struct item *i, const struct outbox_flush *in)
{
	const struct flush_stacks *f = &i->stacks->flush;
	struct capturing c = { i, in };
	int err = 0;

	for (size_t t = 0; !err && t < f->nr_trees; t++)
		err = stack_tree_each(f->trees[t].tree, capture_stack, &c);
	return err;
}

int outbox_add_flush(struct outbox *o, const struct outbox_flush *in)
{
	struct item *i = calloc(1, sizeof(*i));
	struct flush_stream *streams;
	int err = -ENOMEM;

	streams = calloc(in->nr_streams + 1, sizeof(*streams));
	if (!i || !streams) {
		free(streams);
		free(i);
		return err;
	}
	for (int k = 0; k < in->nr_streams; k++)
		streams[k] = in->streams[k];
	i->flush = (struct flush){ .seq = o->seq + 1,
				   .from_ns = in->from_ns,
				   .to_ns = in->to_ns,
				   .duration_ns = in->duration_ns,
				   .streams = streams,
				   .nr_streams = in->nr_streams };
	arena_init(&i->kernel_code, MAX_KERNEL_CODE);
	i->objects = in->jit ? jit_take(in->jit) : NULL;
	err = list_profiles(&i->flush, in->tally);
	if (!err)
		err = list_comms(&i->flush, in->tally);
	if (!err)
		err = outbox_list_edges(in->tally, &i->flush.edges, &i->flush.nr_edges);
	if (!err)
		err = list_losses(&i->flush, in->tally, in->nr_streams);
	if (!err && in->stacks)
		err = outbox_trees_new(in->stacks, &i->stacks);
	if (!err && in->windows)
		err = outbox_window_sets_new(in->windows, &i->windows);
	if (!err)
		err = list_captures(i, in);
	if (!err && i->stacks && in->kernel)
		err = capture_stacks(i, in);
	if (err) {
		item_free(i);
		return err;
	}
	if (i->stacks) {
		i->stacks->tally = in->stacks->tally;
		i->flush.stacks = &i->stacks->flush;
	}
	if (i->windows) {
		i->windows->tally = in->windows->tally;
		i->flush.windows = &i->windows->flush;
	}
	if (in->anchors) {
		i->anchors = in->anchors;
		i->flush.anchors = &i->anchors->flush;
	}
	i->tally = in->tally;
	o->seq++;
	append(o, i);
	return 0;
}

static int store_item(struct item *i, struct store *s)
{
	if (i->is_epoch)
		return store_epoch(s, i->now_ns, i->uncertainty_ms, i->label);
	return store_flush(s, &i->flush);
}

/*
 * Puts the next epoch before the flush that is first. Once: what fails for itself does
 * not take the epochs from those behind it. False: there is none, or it was done.
 */
static bool move_to_next_epoch(struct outbox *o)
{
	struct item *flush = o->first, **at = &flush->next, *epoch;

	if (flush->is_epoch || flush->has_moved)
		return false;
	while (*at && !(*at)->is_epoch)
		at = &(*at)->next;
	epoch = *at;
	if (!epoch)
		return false;
	*at = epoch->next;
	if (!*at)
		o->end = at;
	epoch->next = flush;
	o->first = epoch;
	flush->has_moved = true;
	return true;
}

int outbox_store(struct outbox *o, struct store *s)
{
	while (o->first) {
		struct item *i = o->first;
		int err = store_item(i, s);

		assert(err != -EINVAL); /* received = stored + losses is ours to keep */
		if (err_is_lasting(err) && move_to_next_epoch(o))
			continue;
		if (err)
			return err;
		o->first = i->next;
		if (!o->first)
			o->end = &o->first;
		item_free(i);
	}
	return 0;
}

size_t outbox_memory(const struct outbox *o)
{
	size_t bytes = 0;

	for (const struct item *i = o->first; i; i = i->next)
		bytes += sizeof(*i) + (i->tally ? tally_memory(i->tally) : 0) +
			 (i->stacks ? stacktally_memory(i->stacks->tally) : 0) +
			 (i->windows ? windowtally_memory(i->windows->tally) : 0) +
			 i->kernel_code.used + i->captured;
	return bytes;
}

uint64_t outbox_nr_samples(const struct outbox *o, int event)
{
	uint64_t n = 0;

	for (const struct item *i = o->first; i; i = i->next) {
		if (i->is_epoch)
			continue;
		n += i->flush.streams[event].received;
		for (int l = 0; l < NR_LOSSES; l++)
			n -= i->tally->loss[event][l];
	}
	return n;
}

void outbox_mark_images(const struct outbox *o)
{
	for (const struct item *i = o->first; i; i = i->next) {
		if (i->tally)
			tally_mark_images(i->tally);
		if (i->stacks)
			stacktally_mark_images(i->stacks->tally);
		if (i->windows)
			windowtally_mark_images(i->windows->tally);
		if (i->anchors)
			anchorset_mark_images(i->anchors);
	}
}
