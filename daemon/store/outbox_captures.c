/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_captures.c - names and code that are in no file
 *
 * The kernel's names and code, and the vDSO, are gone after a reboot. Code that a
 * process made at run time was never in a file.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/store/outbox_private.h"

#define MIN_ROOM 4096 /* least free room for a kernel procedure */
/* limit for one flush, larger than any kernel's code */
#define MAX_KERNEL_CODE ((size_t)64 << 20)

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

/* Adds code; its bytes are not copied and must stay valid. */
static int add_code(struct outbox_captures *c, const struct flush_code *code)
{
	if (GROW(c->codes, c->nr_codes))
		return -ENOMEM;
	c->codes[c->nr_codes++] = *code;
	c->used += sizeof(*code);
	return 0;
}

/* Whether this many more bytes fit within the limit. */
static bool has_room(const struct outbox_captures *c, size_t bytes)
{
	const size_t used = outbox_captures_memory(c);

	return used <= c->max && bytes <= c->max - used;
}

/* Allocates memory for kernel code within the limit; NULL if there is no room. */
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

/*
 * Adds a procedure's code. If it cannot be read or does not fit, it is left out.
 * Returns 0 or -ENOMEM.
 */
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

/* Adds the kernel procedure at an offset, unless an earlier flush had it. */
static int capture_procedure(struct outbox_captures *c, const struct known_image *image,
			     uint64_t offset, const struct outbox_flush *in)
{
	struct kernel_symbol s;
	int err;

	if (!has_room(c, MIN_ROOM)) /* a later flush gets it */
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

/*
 * Drops objects that do not fit within the limit. Their samples stay, but without
 * names.
 */
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

/* Adds the kernel procedures of call stacks. */
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
