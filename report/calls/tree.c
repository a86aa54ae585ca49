/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.c - adds the stacks of one or two selections to a tree, from the root or from a
 * procedure
 */
#include "config.h"

#include "report/calls/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"

static int on_stack(void *ctx, const uint32_t *frame, size_t nr, struct call_cost cost)
{
	struct tree *t = ctx;
	size_t k;

	if (t->req->part == TREE_WHOLE)
		return calltree_add(&t->tree, frame, nr, t->side, cost);
	k = calltree_outermost(frame, nr, t->wanted);
	if (k == nr)
		return 0;
	if (t->req->part == TREE_CALLERS)
		return calltree_add(&t->tree, frame + k, nr - k, t->side, cost);
	return calltree_add(&t->tree, frame, k + 1, t->side, cost);
}

static bool is_unknown(uint32_t frame, void *ctx)
{
	const struct frames *frames = ctx;

	return frames->frame[frame]->kind == FRAME_UNKNOWN;
}

double tree_unknown(const struct tree *t)
{
	struct frames *frames = (struct frames *)&t->frames;
	const struct call_node *within =
		NULL; /* a node that was counted, with all below */
	double unknown = 0;

	for (const struct call_node *n = t->tree.root; n; n = calltree_next(n)) {
		if (within && n->depth > within->depth)
			continue;
		within = NULL;
		if (!n->parent || !is_unknown(n->frame, frames))
			continue;
		within = n;
		unknown += calltree_size(&t->tree, n->total);
	}
	return unknown / calltree_size(&t->tree, t->tree.root->total);
}

static int open_side(struct tree *t, unsigned int how, const char *spec)
{
	struct calls *c = &t->calls[t->side];
	int err = calls_open(&t->req->calls, spec, how, &t->frames, c);

	if (err)
		return err;
	t->nr_sides++;
	if (!strcmp(c->ev.event[0].name, t->calls[0].ev.event[0].name))
		return 0;
	log_err("%s: %s and %s cannot be compared: choose an event that both have, "
		"with --event",
		t->req->command, t->calls[0].ev.event[0].name, c->ev.event[0].name);
	return -EINVAL;
}

static int add_side(struct tree *t)
{
	struct calls *c = &t->calls[t->side];
	int err = 0;

	if (t->req->part != TREE_WHOLE)
		err = calls_find(c, t->req->procedure, &t->wanted);
	if (!err)
		err = calls_each(c, on_stack, t);
	if (!err)
		select_end_read(&c->sel);
	return err;
}

int tree_open(const struct tree_request *req, unsigned int how, const char *const *spec,
	      int nr_sides, struct tree *t)
{
	int err;

	memset(t, 0, sizeof(*t));
	t->req = req;
	how |= CALLS_ENDS | (req->commands ? CALLS_COMMANDS : 0);
	err = calltree_init(&t->tree, req->part == TREE_CALLERS || req->inverted);
	if (req->fold) {
		t->tree.folds = is_unknown;
		t->tree.folds_ctx = &t->frames;
	}
	for (t->side = 0; t->side < nr_sides && !err; t->side++) {
		err = open_side(t, how, spec[t->side]);
		if (!err)
			err = add_side(t);
	}
	if (err)
		tree_close(t);
	return err;
}

void tree_close(struct tree *t)
{
	for (int side = 0; side < t->nr_sides; side++)
		calls_close(&t->calls[side]);
	calltree_fini(&t->tree);
	frames_fini(&t->frames);
	free(t->wanted);
}

static int by_name(uint32_t a, uint32_t b, void *ctx)
{
	return frames_compare(ctx, a, b);
}

static double size_of(const struct tree *t, double percent)
{
	return calltree_size(&t->tree, t->tree.root->total) * percent / 100;
}

size_t tree_nr_above(const struct tree *t, double percent)
{
	const double least = size_of(t, percent);
	size_t nr = 0;

	for (struct call_node *n = t->tree.root; n; n = calltree_next(n))
		nr += calltree_size(&t->tree, n->total) >= least;
	return nr;
}

int tree_finish(struct tree *t, double percent)
{
	int err;

	calltree_prune(&t->tree, size_of(t, percent));
	err = calltree_sort(&t->tree, by_name, &t->frames);
	if (err)
		log_err("%s: %s", t->req->command, err_str(err));
	return err;
}
