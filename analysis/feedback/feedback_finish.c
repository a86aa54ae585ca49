/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedback_finish.c - the tree as it is written: whole numbers, in order
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/feedback/feedback.h"
#include "base/arena.h"

/* LLVM's weights of branches end at 2^32. */
#define MAX_COUNT 1e9

struct finishing {
	struct arena *arena;
	double scale;
};

static double max_of(const struct feedback_function *fn)
{
	double max = 0;

	for (const struct feedback_line *l = fn->lines; l; l = l->next)
		max = fmax(max, l->n);
	for (const struct feedback_function *c = fn->inlined; c; c = c->next)
		max = fmax(max, max_of(c));
	return max;
}

double feedback_max(struct feedback *f)
{
	double max = 0;

	for (const struct feedback_function *fn = *feedback_list(f); fn; fn = fn->next)
		max = fmax(max, max_of(fn));
	return max;
}

double feedback_scale(double max)
{
	return max > 0 && isfinite(max) ? pow(10, floor(log10(MAX_COUNT / max))) : 1;
}

uint64_t feedback_count(double n, double scale)
{
	n = round(n * scale);
	return n >= 0 && n < 0x1p63 ? (uint64_t)n : 0;
}

static int compare_keys(const struct feedback_key *a, const struct feedback_key *b)
{
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->discriminator > b->discriminator) -
	       (a->discriminator < b->discriminator);
}

static int by_key(const void *va, const void *vb)
{
	const struct feedback_line *a = *(struct feedback_line *const *)va;
	const struct feedback_line *b = *(struct feedback_line *const *)vb;

	return compare_keys(&a->at, &b->at);
}

static int by_call(const void *va, const void *vb)
{
	const struct feedback_function *a = *(struct feedback_function *const *)va;
	const struct feedback_function *b = *(struct feedback_function *const *)vb;
	const int order = compare_keys(&a->at, &b->at);

	return order ? order : strcmp(a->name, b->name);
}

static int by_total(const void *va, const void *vb)
{
	const struct feedback_function *a = *(struct feedback_function *const *)va;
	const struct feedback_function *b = *(struct feedback_function *const *)vb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool target_precedes(const struct feedback_target *a,
			    const struct feedback_target *b)
{
	return a->count != b->count ? a->count > b->count
				    : strcmp(a->name, b->name) < 0;
}

/* The most frequent first; those that round to nothing go. */
static void finish_targets(const struct finishing *x, struct feedback_line *line)
{
	struct feedback_target *t = line->targets, *next, **at;

	line->targets = NULL;
	for (; t; t = next) {
		next = t->next;
		t->count = feedback_count(t->n, x->scale);
		if (!t->count)
			continue;
		for (at = &line->targets; *at && target_precedes(*at, t);
		     at = &(*at)->next)
			;
		t->next = *at;
		*at = t;
	}
}

static int finish_lines(const struct finishing *x, struct feedback_function *fn)
{
	size_t nr = 0;

	for (struct feedback_line *l = fn->lines; l; l = l->next)
		nr++;
	fn->line = arena_array(x->arena, nr, sizeof(struct feedback_line *));
	if (!fn->line)
		return -ENOMEM;
	for (struct feedback_line *l = fn->lines; l; l = l->next) {
		l->count = feedback_count(l->n, x->scale);
		finish_targets(x, l);
		fn->total += l->count;
		fn->line[fn->nr_lines++] = l;
	}
	if (nr)
		qsort(fn->line, nr, sizeof(struct feedback_line *), by_key);
	return 0;
}

static int finish_function(const struct finishing *x, struct feedback_function *fn);

static int finish_children(const struct finishing *x, struct feedback_function *fn)
{
	size_t nr = 0;
	int err = 0;

	for (struct feedback_function *c = fn->inlined; c; c = c->next)
		nr++;
	fn->child = arena_array(x->arena, nr, sizeof(struct feedback_function *));
	if (!fn->child)
		return -ENOMEM;
	for (struct feedback_function *c = fn->inlined; c && !err; c = c->next) {
		err = finish_function(x, c);
		fn->total += c->total;
		if (c->total)
			fn->child[fn->nr_children++] = c;
	}
	if (fn->nr_children)
		qsort(fn->child, fn->nr_children, sizeof(struct feedback_function *),
		      by_call);
	return err;
}

/* Whether anything is known of a line, or something that ran was inlined there. */
static bool is_told(const struct feedback_function *fn, const struct feedback_key *at)
{
	for (const struct feedback_line *l = fn->lines; l; l = l->next) {
		if (!compare_keys(&l->at, at))
			return true;
	}
	for (size_t i = 0; i < fn->nr_children; i++) {
		if (!compare_keys(&fn->child[i]->at, at))
			return true;
	}
	return false;
}

/* What was inlined and did not run: a 0 at its call. */
static int add_zeros(const struct finishing *x, struct feedback_function *fn)
{
	for (struct feedback_function *c = fn->inlined; c; c = c->next) {
		struct feedback_line *zero;

		if (c->total || is_told(fn, &c->at))
			continue;
		zero = arena_alloc(x->arena, sizeof(*zero));
		if (!zero)
			return -ENOMEM;
		zero->of = fn;
		zero->at = c->at;
		zero->next = fn->lines;
		fn->lines = zero;
	}
	return 0;
}

static int finish_function(const struct finishing *x, struct feedback_function *fn)
{
	int err;

	fn->total = 0;
	fn->nr_lines = fn->nr_children = 0;
	fn->head_count = feedback_count(fn->head, x->scale);
	err = finish_children(x, fn);
	if (!err)
		err = add_zeros(x, fn);
	return err ? err : finish_lines(x, fn);
}

int feedback_finish(struct feedback *f, double scale,
		    struct feedback_function *const **out, size_t *nr)
{
	const struct finishing x = { feedback_arena(f), scale };
	struct feedback_function **all;
	size_t found = 0;
	int err = 0;

	for (struct feedback_function *fn = *feedback_list(f); fn; fn = fn->next)
		found++;
	all = arena_array(x.arena, found, sizeof(*all));
	if (!all)
		return -ENOMEM;
	found = 0;
	for (struct feedback_function *fn = *feedback_list(f); fn && !err;
	     fn = fn->next) {
		err = finish_function(&x, fn);
		all[found++] = fn;
	}
	if (err)
		return err;
	if (found)
		qsort(all, found, sizeof(*all), by_total);
	*out = all;
	*nr = found;
	return 0;
}
