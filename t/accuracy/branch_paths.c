/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch_paths.c - walks backwards through all that agrees with a branch history
 *
 * A frame is a call whose callee the walk is in; without one it is in the procedure
 * that was sampled, or in one that called it. Work is bounded: where merges multiply,
 * the path is not unique anyway.
 */
#include "config.h"

#include "t/accuracy/branch_paths.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "t/accuracy/paths_private.h"

#define MAX_STEPS  20000
#define MAX_FRAMES 64

struct walk {
	const struct path_graph *g;
	const struct path_query *q;
	struct path now, *out;
	int frame[MAX_FRAMES], nr_frames;
	int nr_insns; /* of now, but for those behind the sample */
	bool has_before;
	int nr_found, steps;
};

static int step(struct walk *w, int node, int nr_bits);

/* Two are as good as many. */
static bool is_done(const struct walk *w)
{
	return w->nr_found == (w->q->likeliest ? 1 : 2);
}

static void found(struct walk *w)
{
	if (w->q->distance && w->nr_insns > w->q->distance && !w->has_before)
		return;
	if (!w->nr_found++)
		*w->out = w->now;
}

static bool calls(const struct path_graph *g, int site, int entry)
{
	for (int e = g->node[entry].first_in; e >= 0; e = g->edge[e].next) {
		if (g->edge[e].kind == PATH_EDGE_CALL && g->edge[e].from == site)
			return true;
	}
	return false;
}

static bool is_way(const struct walk *w, const struct path_edge *e)
{
	return e->count || !w->q->observed || e->kind == PATH_EDGE_BEHIND;
}

/* To the returns of a procedure. */
static int enter(struct walk *w, int entry, int nr_bits)
{
	const struct path_graph *g = w->g;
	int err = 0;

	for (int x = g->first_exit[entry]; x >= 0 && !err && !is_done(w);
	     x = g->node[x].next_exit) {
		if (g->node[x].ends == PATH_RETURNS)
			err = step(w, x, nr_bits);
	}
	return err;
}

/* Whether anything is known of what ran between a call and the node behind it. */
static bool is_followed(const struct path_graph *g, int site, int node)
{
	for (int e = g->node[node].first_in; e >= 0; e = g->edge[e].next) {
		if (g->edge[e].kind == PATH_EDGE_RETURN)
			return true;
	}
	return g->first_out[site] >= 0;
}

/*
 * Behind a call: whatever it called returned. Where that ended with a jump to another
 * procedure, it was this one that was seen to return.
 */
static int step_into(struct walk *w, int site, int node, int nr_bits)
{
	const struct path_graph *g = w->g;
	int err = 0;

	if (w->nr_frames == MAX_FRAMES)
		return -CPI_ELIMIT;
	if (!is_followed(g, site, node)) /* as if it did nothing */
		return step(w, site, nr_bits);
	w->frame[w->nr_frames++] = site;
	for (int e = g->first_out[site];
	     e >= 0 && !err && !is_done(w) && !w->q->observed; e = g->edge[e].next_out)
		err = enter(w, g->edge[e].to, nr_bits);
	for (int e = g->node[node].first_in; e >= 0 && !err && !is_done(w);
	     e = g->edge[e].next) {
		const int from = g->edge[e].from;

		if (g->edge[e].kind == PATH_EDGE_RETURN &&
		    (w->q->observed || !calls(g, site, g->node[from].procedure)))
			err = step(w, from, nr_bits);
	}
	w->nr_frames--;
	return err;
}

/* At a procedure's begin, which a call or a jump led to. */
static int step_out(struct walk *w, int entry, int nr_bits)
{
	const struct path_graph *g = w->g;
	int err = 0;

	if (w->nr_frames) {
		const int site = w->frame[--w->nr_frames];

		if (calls(g, site, entry))
			err = step(w, site, nr_bits);
		w->frame[w->nr_frames++] = site;
		return err;
	}
	if (w->q->inside) {
		found(w);
		return 0;
	}
	for (int e = g->node[entry].first_in; e >= 0 && !err && !is_done(w);
	     e = g->edge[e].next) {
		if (g->edge[e].kind == PATH_EDGE_CALL && is_way(w, &g->edge[e]))
			err = step(w, g->edge[e].from, nr_bits);
	}
	return err;
}

static int step_along(struct walk *w, int node, const struct path_edge *e, int nr_bits)
{
	const bool taken = w->q->bits >> nr_bits & 1;

	switch (e->kind) {
	case PATH_EDGE_FREE:
		return step(w, e->from, nr_bits);
	case PATH_EDGE_TAKEN:
		return taken ? step(w, e->from, nr_bits + 1) : 0;
	case PATH_EDGE_NOT_TAKEN:
		return taken ? 0 : step(w, e->from, nr_bits + 1);
	case PATH_EDGE_BEHIND:
		return step_into(w, e->from, node, nr_bits);
	case PATH_EDGE_CALL:
	case PATH_EDGE_RETURN:
		break; /* step_out() and step_into() go there */
	}
	return 0;
}

static int step_back(struct walk *w, int node, int nr_bits)
{
	const struct path_graph *g = w->g;
	int err = 0;

	if (nr_bits == w->q->nr_bits) {
		found(w);
		return 0;
	}
	for (int e = g->node[node].first_in; e >= 0 && !err && !is_done(w);
	     e = g->edge[e].next) {
		if (is_way(w, &g->edge[e]))
			err = step_along(w, node, &g->edge[e], nr_bits);
	}
	if (!err && !is_done(w) && g->node[node].procedure == node)
		err = step_out(w, node, nr_bits);
	return err;
}

static int step(struct walk *w, int node, int nr_bits)
{
	const bool had_before = w->has_before;
	const int insns = w->now.nr ? w->g->node[node].nr_insns : w->q->insn + 1;
	int err;

	if (w->now.nr == PATHS_MAX_NODES || w->steps++ == MAX_STEPS)
		return -CPI_ELIMIT;
	w->now.node[w->now.nr++] = node;
	w->nr_insns += insns;
	w->has_before |= node == w->q->before;
	err = step_back(w, node, nr_bits);
	w->has_before = had_before;
	w->nr_insns -= insns;
	w->now.nr--;
	return err;
}

int path_find(const struct path_graph *g, const struct path_query *q, struct path *out)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct path *first = calloc(1, sizeof(*first));
	int err = w && first ? 0 : -ENOMEM;

	if (!err) {
		*w = (struct walk){ .g = g, .q = q, .out = first };
		err = step(w, q->node, 0);
	}
	if (!err)
		err = w->nr_found > 1 ? -CPI_ETOOMANY : w->nr_found ? 0 : -CPI_EEMPTY;
	if (!err)
		*out = *first;
	free(w);
	free(first);
	return err;
}

/* The way in that was gone most often. */
static const struct path_edge *likeliest(const struct path_graph *g, int node)
{
	const struct path_edge *best = NULL;

	for (int e = g->node[node].first_in; e >= 0; e = g->edge[e].next) {
		const struct path_edge *edge = &g->edge[e];

		if (edge->kind != PATH_EDGE_BEHIND &&
		    (!best || edge->count > best->count))
			best = edge;
	}
	return best;
}

/* The call that a return came behind. */
static int site_behind(const struct path_graph *g, int node)
{
	for (int e = g->node[node].first_in; e >= 0; e = g->edge[e].next) {
		if (g->edge[e].kind == PATH_EDGE_BEHIND)
			return g->edge[e].from;
	}
	return -1;
}

int path_likely(const struct path_graph *g, const struct path_query *q,
		struct path *out)
{
	int frame[MAX_FRAMES], nr_frames = 0, nr_bits = 0, node = q->node, nr = 0;

	while (nr < PATHS_MAX_NODES) {
		const struct path_edge *e = likeliest(g, node);

		out->node[nr++] = node;
		out->nr = nr;
		if (nr_bits == q->nr_bits)
			return 0;
		if (!e || !e->count)
			return -CPI_EEMPTY;
		if (e->kind == PATH_EDGE_CALL && !nr_frames && q->inside)
			return 0;
		node = e->from;
		nr_bits += e->kind == PATH_EDGE_TAKEN || e->kind == PATH_EDGE_NOT_TAKEN;
		if (e->kind == PATH_EDGE_CALL && nr_frames)
			node = frame[--nr_frames];
		if (e->kind == PATH_EDGE_RETURN && nr_frames < MAX_FRAMES)
			frame[nr_frames++] = site_behind(g, out->node[nr - 1]);
		if (node < 0)
			return -CPI_EEMPTY;
	}
	return -CPI_ELIMIT;
}
