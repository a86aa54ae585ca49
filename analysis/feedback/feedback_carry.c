/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First all lines of the newer image are collected by function name, then each line of
 * the tree is looked up among them. Names are compared by pointer, because both sides
 * use the tree's copy of a name. Functions whose name the image no longer has lose all
 * counts.
 */
#include "config.h"

#include "analysis/feedback/feedback_carry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

#define ANY_LINE UINT32_MAX /* the build has the function */

/* A line that the build has. */
struct known_line {
	struct hnode node;
	const char *name; /* as the tree keeps it */
	uint32_t line;
};

struct tallied {
	struct hnode node;
	struct feedback_carried carried;
};

struct carrying {
	struct feedback *f;
	struct image *im;
	struct hmap known, tallies;
	bool any;
};

static uint64_t hash_of(const char *name, uint32_t line)
{
	return hash_u64(hash_u64((uintptr_t)name) ^ line);
}

static bool has(const struct carrying *c, const char *name, uint32_t line)
{
	struct hnode *n = hmap_first(&c->known, hash_of(name, line));

	for (; n; n = hmap_next(n)) {
		const struct known_line *k = container_of(n, struct known_line, node);

		if (k->name == name && k->line == line)
			return true;
	}
	return false;
}

static int add_known(struct carrying *c, const char *name, uint32_t line)
{
	struct known_line *k;

	if (has(c, name, line))
		return 0;
	k = arena_alloc(feedback_arena(c->f), sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->name = name;
	k->line = line;
	return hmap_insert(&c->known, &k->node, hash_of(name, line));
}

static int on_row(void *ctx, uint64_t offset)
{
	struct carrying *c = ctx;
	struct origin p[IMAGE_MAX_ORIGINS];
	const size_t nr = image_origins_at(c->im, offset, p);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const char *name = feedback_find_name(c->f, p[i].function);

		c->any = true;
		if (!name)
			continue;
		err = add_known(c, name, ANY_LINE);
		if (!err && p[i].line && p[i].start)
			err = add_known(c, name, feedback_line_of(&p[i]));
	}
	return err;
}

static struct tallied *tally_of(struct carrying *c, const char *name)
{
	const uint64_t hash = hash_u64((uintptr_t)name);
	struct tallied *t;

	for (struct hnode *n = hmap_first(&c->tallies, hash); n; n = hmap_next(n)) {
		t = container_of(n, struct tallied, node);
		if (t->carried.name == name)
			return t;
	}
	t = arena_alloc(feedback_arena(c->f), sizeof(*t));
	if (!t || hmap_insert(&c->tallies, &t->node, hash))
		return NULL;
	t->carried.name = name;
	t->carried.gone = !has(c, name, ANY_LINE);
	return t;
}

static int carry_lines(struct carrying *c, struct feedback_function *fn, bool lost)
{
	struct feedback_line **at = &fn->lines;
	struct tallied *t = tally_of(c, fn->name);

	if (!t)
		return -ENOMEM;
	while (*at) {
		struct feedback_line *line = *at;

		t->carried.all += line->n;
		if (!lost && has(c, fn->name, line->at.line)) {
			at = &line->next;
			continue;
		}
		t->carried.lost += line->n;
		*at = line->next;
	}
	return 0;
}

/*
 * lost: the functions into which these were inlined, or the lines of those calls,
 * are gone.
 */
static int carry_list(struct carrying *c, struct feedback_function **at, bool lost)
{
	int err = 0;

	while (*at && !err) {
		struct feedback_function *fn = *at;
		const bool gone =
			lost || !has(c, fn->name, ANY_LINE) ||
			(fn->caller && !has(c, fn->caller->name, fn->at.line));

		err = carry_lines(c, fn, gone);
		if (!err)
			err = carry_list(c, &fn->inlined, gone);
		if (gone)
			*at = fn->next;
		else
			at = &fn->next;
	}
	return err;
}

static int by_loss(const void *va, const void *vb)
{
	const struct feedback_carried *a = va, *b = vb;

	if (a->lost != b->lost)
		return a->lost > b->lost ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int list_tallies(const struct carrying *c, const struct feedback_carried **out,
			size_t *nr)
{
	struct feedback_carried *list =
		arena_array(feedback_arena(c->f), c->tallies.nr, sizeof(*list));
	struct hnode *n, *next;

	if (!list)
		return -ENOMEM;
	*nr = 0;
	hmap_for_each (&c->tallies, n, next)
		list[(*nr)++] = container_of(n, struct tallied, node)->carried;
	if (*nr)
		qsort(list, *nr, sizeof(*list), by_loss);
	*out = list;
	return 0;
}

int feedback_carry(struct feedback *f, struct image *im,
		   const struct feedback_carried **out, size_t *nr)
{
	struct carrying c = { .f = f, .im = im };
	int err = image_each_row(im, on_row, &c);

	if (!err && !c.any)
		err = -CPI_EEMPTY;
	if (!err)
		err = carry_list(&c, feedback_list(f), false);
	if (!err)
		err = list_tallies(&c, out, nr);
	hmap_fini(&c.known);
	hmap_fini(&c.tallies);
	return err;
}
