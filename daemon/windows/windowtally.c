/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowtally.c - the windows that were attributed since the last flush
 */
#include "config.h"

#include "daemon/windows/windowtally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/times.h"

struct windowtally *windowtally_new(void)
{
	struct windowtally *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->tally = tally_new();
	if (t->tally)
		return t;
	free(t);
	return NULL;
}

static void free_sets(struct windowtally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->sets, n, next) {
		struct windowtally_set *set =
			container_of(n, struct windowtally_set, node);

		hmap_remove(&t->sets, n);
		windows_free(set->windows);
		accesses_free(set->accesses);
		free(set);
	}
	t->memory = 0;
}

void windowtally_free(struct windowtally *t)
{
	if (!t)
		return;
	free_sets(t);
	hmap_fini(&t->sets);
	imagenumbers_fini(&t->images);
	tally_free(t->tally);
	free(t);
}

static uint64_t hash_set(const struct known_image *image, const char *context)
{
	return hash_bytes((uintptr_t)image, context, strlen(context));
}

static struct windowtally_set *find_set(const struct windowtally *t,
					const struct known_image *image,
					const char *context)
{
	struct hnode *n = hmap_first(&t->sets, hash_set(image, context));

	for (; n; n = hmap_next(n)) {
		struct windowtally_set *set =
			container_of(n, struct windowtally_set, node);

		if (set->image == image && !strcmp(set->context, context))
			return set;
	}
	return NULL;
}

static struct windowtally_set *get_set(struct windowtally *t, struct known_image *image,
				       const char *context)
{
	const size_t size = strlen(context) + 1;
	const uint64_t hash = hash_set(image, context);
	struct windowtally_set *set = find_set(t, image, context);

	if (set)
		return set;
	set = calloc(1, sizeof(*set) + size);
	if (!set)
		return NULL;
	set->image = image;
	memcpy(set->context, context, size);
	set->windows = windows_new(WINDOWS_LIMIT, time_real_ns());
	if (!set->windows || hmap_insert(&t->sets, &set->node, hash)) {
		windows_free(set->windows);
		free(set);
		return NULL;
	}
	t->memory += sizeof(*set) + size + windows_memory(set->windows);
	return set;
}

/* A window, as the sets take it. */
struct numbered_window {
	struct window window;
	struct access access[ACCESSES_MAX_WINDOW];
	uint32_t nr_accesses;
	struct operand operand[OPERANDS_MAX_WINDOW];
	uint32_t nr_operands;
	uint32_t tid;
};

/* Whether there was memory for them. */
static bool add_accesses(struct windowtally *t, struct windowtally_set *set,
			 const struct numbered_window *w)
{
	size_t before;
	int err;

	if (!w->nr_accesses && !w->nr_operands)
		return true;
	if (!set->accesses) {
		set->accesses = accesses_new(ACCESSES_MAX_INSNS);
		if (!set->accesses)
			return false;
		t->memory += accesses_memory(set->accesses);
	}
	before = accesses_memory(set->accesses);
	err = w->nr_accesses
		      ? accesses_add(set->accesses, w->access, w->nr_accesses, w->tid)
		      : 0;
	if (!err && w->nr_operands)
		err = accesses_add_operands(set->accesses, w->operand, w->nr_operands);
	if (err) { /* an access may be in it by half: that is never stored */
		t->memory -= before;
		accesses_free(set->accesses);
		set->accesses = NULL;
		return false;
	}
	t->memory += accesses_memory(set->accesses) - before;
	return true;
}

/* *whole becomes false if the window's accesses are missing. */
static int add_to(struct windowtally *t, struct known_image *image, const char *context,
		  const struct numbered_window *w, bool *whole)
{
	struct windowtally_set *set = get_set(t, image, context);
	size_t before;
	int err;

	if (!set)
		return -ENOMEM;
	before = windows_memory(set->windows);
	err = windows_add(set->windows, &w->window);
	t->memory += windows_memory(set->windows) - before;
	if (!err && !add_accesses(t, set, w))
		*whole = false;
	return err;
}

/*
 * Adds the window to the set of its context; if there are too many sets, to that of
 * a coarser context, or to none. Returns 0 or a negative error.
 */
static int add_to_context(struct windowtally *t, const struct tally_window *in,
			  const struct numbered_window *w, bool *whole)
{
	struct known_image *image = in->start.image;
	char context[CONTEXT_NAME_SIZE];

	for (int try = 0; try < CONTEXT_TRIES; try++) {
		const size_t len = context_make_try(in->contexts, try, context);

		if (!len)
			break;
		if (find_set(t, image, context) ||
		    t->sets.nr < context_bound(try, WINDOWTALLY_SETS))
			return add_to(t, image, context, w, whole);
	}
	return 0;
}

static int add_edge(struct windowtally *t, enum edges_kind kind,
		    const struct tally_site *from, const struct tally_site *to)
{
	const struct edge e = { .from = from->offset, .to = to->offset, .n = 1 };

	return tally_add_edge(t->tally, 0, kind, from->image, to->image, &e);
}

/* Whether there was room for all. */
static bool add_edges(struct windowtally *t, const struct tally_window *w)
{
	const struct tally_site *at = &w->start, *last = NULL;
	bool whole = true;

	for (uint32_t i = 0; i < w->nr_jumps; i++) {
		last = &w->jump[i].from;
		whole &= !add_edge(t, EDGES_RUN, at, last);
		whole &= !add_edge(t, EDGES_BRANCH, last, &w->jump[i].to);
		at = &w->jump[i].to;
	}
	if (!last || last->image != w->last.image || last->offset != w->last.offset)
		whole &= !add_edge(t, EDGES_RUN, at, &w->last);
	return whole;
}

static int number_accesses(struct windowtally *t, const struct tally_window *in,
			   struct numbered_window *w)
{
	int err = in->nr_accesses <= ACCESSES_MAX_WINDOW ? 0 : -EINVAL;

	w->nr_accesses = in->nr_accesses;
	w->tid = in->tid;
	for (uint32_t i = 0; !err && i < in->nr_accesses; i++) {
		const struct tally_access *a = &in->access[i];

		w->access[i] = (struct access){ .offset = a->at.offset,
						.address = a->address,
						.size = a->size,
						.nr = a->nr,
						.store = a->store,
						.writes = a->writes,
						.known = a->known };
		err = imagenumbers_get(&t->images, a->at.image, &w->access[i].image);
	}
	return err;
}

static int number_operands(struct windowtally *t, const struct tally_window *in,
			   struct numbered_window *w)
{
	int err = in->nr_operands <= OPERANDS_MAX_WINDOW ? 0 : -EINVAL;

	w->nr_operands = err ? 0 : in->nr_operands;
	for (uint32_t i = 0; !err && i < in->nr_operands; i++) {
		const struct tally_operand *o = &in->operand[i];

		w->operand[i] = (struct operand){ .offset = o->at.offset,
						  .kind = o->kind,
						  .size = o->size,
						  .known = o->known,
						  .taken = o->taken,
						  .more = o->more,
						  .value = o->value };
		err = imagenumbers_get(&t->images, o->at.image, &w->operand[i].image);
	}
	return err;
}

/*
 * *whole is false if its accesses are missing, or it could not be added to its
 * context.
 */
static int add_window(struct windowtally *t, const struct tally_window *in, bool *whole)
{
	struct window_jump jump[WINDOW_MAX_INSNS];
	struct numbered_window w;
	int err = in->nr_jumps <= WINDOW_MAX_INSNS ? 0 : -EINVAL;

	w.nr_operands = 0;
	if (windowtally_memory(t) > WINDOWTALLY_MAX_BYTES)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < in->nr_jumps; i++) {
		jump[i].from = in->jump[i].from.offset;
		jump[i].to = in->jump[i].to.offset;
		err = imagenumbers_get(&t->images, in->jump[i].to.image,
				       &jump[i].image);
	}
	w.window = (struct window){ .start = in->start.offset,
				    .jump = jump,
				    .nr_jumps = in->nr_jumps,
				    .nr_insns = in->nr_insns,
				    .end = in->end,
				    .reason = in->reason,
				    .n = 1 };
	if (!err)
		err = number_accesses(t, in, &w);
	if (!err)
		err = number_operands(t, in, &w);
	*whole = true;
	if (!err)
		err = add_to(t, in->start.image, "", &w, whole);
	if (!err && in->contexts && add_to_context(t, in, &w, whole))
		*whole = false;
	explicit_bzero(w.operand, w.nr_operands * sizeof(w.operand[0])); /* secrets */
	return err;
}

void windowtally_add(struct windowtally *t, const struct tally_window *w)
{
	bool whole;

	if (add_window(t, w, &whole)) {
		windowtally_lose(t, SAMPLE_NO_SPACE, 1);
		return;
	}
	t->kept++;
	if (!add_edges(t, w) || !whole)
		t->tally->cut_stacks++;
}

void windowtally_lose(struct windowtally *t, enum loss loss, uint64_t n)
{
	tally_lose(t->tally, 0, loss, n, NULL);
}

void windowtally_drop(struct windowtally *t, enum loss loss)
{
	windowtally_lose(t, loss, t->kept);
	t->kept = 0;
	free_sets(t);
	tally_drop(t->tally, loss);
}

uint64_t windowtally_nr_lost(const struct windowtally *t)
{
	return tally_total(t->tally);
}

size_t windowtally_memory(const struct windowtally *t)
{
	return sizeof(*t) + t->memory + tally_memory(t->tally) +
	       t->images.nr * IMAGENUMBERS_BYTES;
}

bool windowtally_is_half_full(const struct windowtally *t)
{
	return windowtally_memory(t) > WINDOWTALLY_MAX_BYTES / 2;
}

void windowtally_mark_images(const struct windowtally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->sets, n, next)
		container_of(n, struct windowtally_set, node)->image->marked = true;
	imagenumbers_mark(&t->images);
	tally_mark_images(t->tally);
}
