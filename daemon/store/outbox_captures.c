/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_captures.c - names and code that only this boot, or a process, can tell
 *
 * What will be gone after a reboot: the kernel's names and code, and the vDSO. And what
 * was never in a file: code that was made at run time.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/store/outbox_private.h"

#define MIN_ROOM        4096               /* for a procedure of the kernel */
#define MAX_KERNEL_CODE ((size_t)64 << 20) /* of one flush; more than kernels have */

size_t outbox_captures_memory(const struct outbox_captures *c)
{
	return c->kernel_code.used + c->used;
}

static int add_symbol(struct outbox_captures *c, const struct known_image *image,
		      uint64_t start, uint64_t size, const char *name)
{
	struct flush_symbol *added;

	if (GROW(c->symbols, c->nr_symbols))
		return -ENOMEM;
	added = &c->symbols[c->nr_symbols];
	*added = (struct flush_symbol){ .image = &image->desc,
					.start = start,
					.size = size,
					.name = strdup(name) };
	if (!added->name)
		return -ENOMEM;
	c->nr_symbols++;
	c->used += sizeof(*added) + strlen(name) + 1;
	return 0;
}

/* The bytes must stay. */
static int add_code(struct outbox_captures *c, const struct flush_code *code)
{
	if (GROW(c->codes, c->nr_codes))
		return -ENOMEM;
	c->codes[c->nr_codes++] = *code;
	c->used += sizeof(*code);
	return 0;
}

/* For what is captured; anything above the bound is left out. */
static bool has_room(const struct outbox_captures *c, size_t bytes)
{
	const size_t used = outbox_captures_memory(c);

	return used <= c->max && bytes <= c->max - used;
}

/* Memory that comes in chunks, but not beyond the bound. */
static void *alloc_code(struct outbox_captures *c, size_t size)
{
	struct arena *a = &c->kernel_code;
	size_t limit = c->used < c->max ? c->max - c->used : 0;

	if (limit > MAX_KERNEL_CODE)
		limit = MAX_KERNEL_CODE;
	if (limit < a->used || !limit)
		return NULL;
	a->limit = limit;
	return arena_alloc(a, size);
}

/* Where it cannot be read, or there is no room, there is none. */
static int capture_kernel_code(struct outbox_captures *c,
			       const struct known_image *image,
			       const struct kernel_symbol *s, struct kerneltext *text)
{
	const size_t size = s->end - s->start;
	struct flush_code code = { .image = &image->desc,
				   .start = s->start - s->base,
				   .size = size };
	void *bytes = alloc_code(c, size);

	if (!bytes || kerneltext_read(text, s->start, bytes, size))
		return 0;
	code.bytes = bytes;
	return add_code(c, &code);
}

/* The kernel procedure at an offset, if it was not given out before. */
static int capture_procedure(struct outbox_captures *c, const struct known_image *image,
			     uint64_t offset, const struct outbox_flush *in)
{
	struct kernel_symbol s;
	int err;

	if (!has_room(c, MIN_ROOM)) /* it is given out to a later flush */
		return 0;
	if (!kernel_capture(in->kernel, image, offset, &s))
		return 0;
	err = add_symbol(c, image, s.start - s.base, s.end - s.start, s.name);
	if (!err && in->text)
		err = capture_kernel_code(c, image, &s, in->text);
	return err;
}

static int capture_kernel(struct outbox_captures *c, const struct tally_profile *p,
			  const struct outbox_flush *in)
{
	const struct count *count;
	size_t nr;
	int err = 0;

	count = profile_sorted(p->profile, &nr);
	for (size_t n = 0; count && n < nr && !err; n++)
		err = capture_procedure(c, p->image, count[n].offset, in);
	return err;
}

/* Objects for which there is no room have no names; no sample is lost by it. */
static void drop_objects(struct outbox_captures *c)
{
	struct jit_object *o, **at = &c->objects;
	size_t left = c->max;

	while ((o = *at)) {
		const size_t names = 2 * (strlen(o->name) + 1);
		const size_t bytes = sizeof(*o) + sizeof(struct flush_symbol) +
				     sizeof(struct flush_code) + names +
				     (o->bytes ? o->size : 0);

		if (bytes <= left) {
			left -= bytes;
			at = &o->next;
			continue;
		}
		*at = o->next;
		o->next = NULL;
		jit_free_objects(o);
	}
}

static int capture_objects(struct outbox_captures *c)
{
	int err = 0;

	for (const struct jit_object *o = c->objects; o && !err; o = o->next) {
		err = add_symbol(c, o->image, o->offset, o->size, o->name);
		if (!err && o->bytes)
			err = add_code(c,
				       &(struct flush_code){ .image = &o->image->desc,
							     .start = o->offset,
							     .bytes = o->bytes,
							     .size = o->size });
		c->used += sizeof(*o) + strlen(o->name) + 1 + (o->bytes ? o->size : 0);
	}
	return err;
}

static int capture_vdso(struct outbox_captures *c, const struct known_image *image)
{
	struct flush_code code = { .image = &image->desc };

	return kernel_vdso(&code.bytes, &code.size) ? 0 : add_code(c, &code);
}

static int capture_tally(struct outbox_captures *c, const struct outbox_flush *in)
{
	bool have_vdso = false;
	struct hnode *n, *next;
	int err = 0;

	hmap_for_each (&in->tally->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (p->context[0] || err)
			continue;
		if (p->image->desc.kind == IMAGE_VDSO) {
			if (!have_vdso)
				err = capture_vdso(c, p->image);
			have_vdso = true;
		} else if (p->image->desc.kind != IMAGE_FILE &&
			   p->image->desc.kind != IMAGE_JIT) {
			err = capture_kernel(c, p, in);
		}
	}
	return err;
}

struct capturing {
	struct outbox_captures *captures;
	const struct outbox_flush *in;
};

static int capture_stack(void *ctx, const struct stack_frame *frames, size_t nr,
			 enum stack_mark mark, uint64_t n)
{
	const struct capturing *c = ctx;
	struct known_image *const *images = c->in->stacks->tally->images.image;
	int err = 0;

	(void)mark;
	(void)n;
	for (size_t i = 0; !err && i < nr; i++) {
		const struct known_image *image = images[frames[i].image];

		if (image && image_kind_is_kernel(image->desc.kind))
			err = capture_procedure(c->captures, image, frames[i].offset,
						c->in);
	}
	return err;
}

/* What the kernel's frames are called, too. */
static int capture_stacks(struct outbox_captures *c, const struct outbox_flush *in)
{
	struct capturing capturing = { c, in };
	struct hnode *n, *next;
	int err = 0;

	hmap_for_each (&in->stacks->tally->trees, n, next) {
		if (!err)
			err = stack_tree_each(
				container_of(n, struct stacktally_tree, node)->tree,
				capture_stack, &capturing);
	}
	return err;
}

int outbox_captures_take(struct outbox_captures *c, const struct outbox_flush *in)
{
	int err;

	arena_init(&c->kernel_code, MAX_KERNEL_CODE);
	c->max = in->capture_bytes;
	c->objects = in->jit ? jit_take(in->jit) : NULL;
	drop_objects(c);
	err = capture_objects(c);
	if (!err && in->kernel)
		err = capture_tally(c, in);
	if (!err && in->kernel && in->stacks)
		err = capture_stacks(c, in);
	return err;
}

void outbox_captures_fini(struct outbox_captures *c)
{
	for (size_t i = 0; i < c->nr_symbols; i++)
		free((char *)c->symbols[i].name);
	free(c->symbols);
	free(c->codes);
	jit_free_objects(c->objects);
	arena_fini(&c->kernel_code);
}
