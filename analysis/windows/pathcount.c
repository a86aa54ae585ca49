/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pathcount.c - how often control takes each path through a procedure, from windows
 *
 * The intervals assume that windows are independent of each other; passes of one window
 * are not. So an anchor whose windows have the weights w counts as (Σ w)² / Σ w²
 * windows. For the interval of a path, this number of windows is multiplied by (weight
 * of its complete passes) / (its estimated passes).
 */
#include "config.h"

#include "analysis/windows/pathcount.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/search.h"

/* One arrival of control at an anchor. */
struct visit {
	int anchor;     /* block */
	bool at_length; /* its window ended at the length limit */
	uint32_t window;
	uint64_t n;      /* windows like this */
	uint64_t left;   /* instructions until the window's end */
	double weight;   /* of all n */
	double reaching; /* probability that a window reaches this far */
};

struct pass {
	struct path *path;
	uint64_t nr_insns;
	double weight;
};

struct path {
	struct hnode node;
	struct pathcount_path out;
	uint32_t window; /* the last one that was counted, + 1 */
	double weight;   /* Σ of passes as they were seen */
};

struct path_counter {
	const struct cfg *cfg;
	struct pathwalk *walk;
	struct arena *arena;
	struct hmap paths;
	struct buf visits, passes;
	const struct window *window;
	uint32_t nr_windows;
	double weight;
	uint64_t came; /* windows that reached an anchor */
};

static struct visit *visits(const struct path_counter *c, size_t *nr)
{
	*nr = c->visits.len / sizeof(struct visit);
	return (struct visit *)c->visits.data;
}

static bool is_path(const struct path *path, const struct pathwalk_path *p)
{
	const struct pathcount_path *o = &path->out;

	return o->end == p->end && o->nr_blocks == p->nr_blocks &&
	       o->caller.known == p->caller.known &&
	       (!p->caller.known || (o->caller.image == p->caller.image &&
				     o->caller.offset == p->caller.offset)) &&
	       !memcmp(o->block, p->block, p->nr_blocks * sizeof(*p->block));
}

static struct path *new_path(struct path_counter *c, const struct pathwalk_path *p,
			     uint64_t hash)
{
	struct path *path = arena_alloc(c->arena, sizeof(*path));
	int *block = arena_array(c->arena, p->nr_blocks, sizeof(*block));

	if (!path || !block || hmap_insert(&c->paths, &path->node, hash))
		return NULL;
	memcpy(block, p->block, p->nr_blocks * sizeof(*block));
	path->out = (struct pathcount_path){ .block = block,
					     .nr_blocks = p->nr_blocks,
					     .end = p->end,
					     .caller = p->caller };
	return path;
}

static struct path *path_of(struct path_counter *c, const struct pathwalk_path *p)
{
	const uint64_t from = p->caller.known ? p->caller.offset : UINT64_MAX;
	const uint64_t hash = hash_bytes(hash_u64(from) + (uint64_t)p->end, p->block,
					 p->nr_blocks * sizeof(*p->block));

	for (struct hnode *n = hmap_first(&c->paths, hash); n; n = hmap_next(n)) {
		struct path *path = container_of(n, struct path, node);

		if (is_path(path, p))
			return path;
	}
	return new_path(c, p, hash);
}

static int add_pass(struct path_counter *c, const struct pathwalk_path *p)
{
	const struct pass pass = { path_of(c, p), p->nr_insns, c->weight };

	if (!pass.path)
		return -ENOMEM;
	buf_put(&c->passes, &pass, sizeof(pass));
	pass.path->out.seen += c->window->n;
	pass.path->weight += c->weight;
	if (pass.path->window != c->nr_windows)
		pass.path->out.windows += c->window->n;
	pass.path->window = c->nr_windows;
	return c->passes.err;
}

static int on_path(void *ctx, const struct pathwalk_path *p)
{
	struct path_counter *c = ctx;
	const struct visit visit = {
		.anchor = p->block[0],
		.at_length = !c->window->reason,
		.window = c->nr_windows,
		.n = c->window->n,
		.left = p->left,
		.weight = c->weight,
	};

	buf_put(&c->visits, &visit, sizeof(visit));
	if (c->visits.err)
		return c->visits.err;
	return p->end < 0 ? 0 : add_pass(c, p);
}

static int on_window(void *ctx, const struct window *w, uint32_t image, double weight)
{
	struct path_counter *c = ctx;
	const size_t before = c->visits.len;
	int err;

	c->window = w;
	c->weight = weight;
	c->nr_windows++;
	err = pathwalk_window(c->walk, w, image, on_path, c);
	if (c->visits.len > before)
		c->came += w->n;
	return err;
}

static int by_window(const void *va, const void *vb)
{
	const struct visit *a = va, *b = vb;

	if (a->anchor != b->anchor)
		return a->anchor < b->anchor ? -1 : 1;
	return (a->window > b->window) - (a->window < b->window);
}

static int by_left(const void *va, const void *vb)
{
	const struct visit *a = va, *b = vb;

	if (a->anchor != b->anchor)
		return a->anchor < b->anchor ? -1 : 1;
	return (a->left > b->left) - (a->left < b->left);
}

/* The index after the last visit of visit i's anchor. */
static size_t end_of_anchor(const struct visit *v, size_t nr, size_t i)
{
	size_t end = i;

	while (end < nr && v[end].anchor == v[i].anchor)
		end++;
	return end;
}

/*
 * Sums up an anchor's visits, sorted by window; returns how many windows they count as.
 */
static double add_anchor(const struct visit *v, size_t nr, struct pathcount_anchor *out)
{
	double squares = 0;

	*out = (struct pathcount_anchor){ .block = v->anchor };
	for (size_t i = 0, next; i < nr; i = next) {
		double weight = 0;

		for (next = i; next < nr && v[next].window == v[i].window; next++) {
			out->seen += v[next].n;
			weight += v[next].weight;
		}
		out->windows += v[i].n;
		out->passes += weight;
		squares += weight * weight / (double)v[i].n;
	}
	return squares > 0 ? out->passes * out->passes / squares : 0;
}

/* The product limit (Kaplan and Meier) of one anchor's visits, sorted by left. */
static void find_reaching(struct visit *v, size_t nr)
{
	double still = 0, chance = 1;

	for (size_t i = 0; i < nr; i++)
		still += v[i].weight;
	for (size_t i = 0, next; i < nr; i = next) {
		double gone = 0, ended = 0;

		for (next = i; next < nr && v[next].left == v[i].left; next++) {
			v[next].reaching = fmax(chance, 1.0 / PATHCOUNT_MAX_SCALE);
			gone += v[next].weight;
			ended += v[next].at_length ? v[next].weight : 0;
		}
		chance *= still > 0 ? fmax(1 - ended / still, 0) : 0;
		still -= gone;
	}
}

/*
 * The weight of one complete pass: the inverse of the probability to record it whole.
 */
static double scale_of(const struct visit *v, size_t nr, const struct pass *pass)
{
	const struct visit key = { .anchor = pass->path->out.block[0],
				   .left = pass->nr_insns };
	const size_t low = SEARCH(i, nr, by_left(&v[i], &key) >= 0);

	return 1 / v[low].reaching;
}

/*
 * Fills the anchors; worth[block] gets the number of windows that the anchor counts as.
 */
static int find_anchors(struct path_counter *c, struct pathcount *out, double *worth,
			size_t *anchor_of)
{
	size_t nr;
	struct visit *v = visits(c, &nr);

	out->anchor = arena_array(c->arena, c->cfg->nr_blocks, sizeof(*out->anchor));
	if (!out->anchor)
		return -ENOMEM;
	if (nr)
		qsort(v, nr, sizeof(*v), by_window);
	for (size_t i = 0, end; i < nr; i = end) {
		end = end_of_anchor(v, nr, i);
		anchor_of[v[i].anchor] = out->nr_anchors;
		worth[v[i].anchor] =
			add_anchor(&v[i], end - i, &out->anchor[out->nr_anchors++]);
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_left);
	for (size_t i = 0, end; i < nr; i = end) {
		end = end_of_anchor(v, nr, i);
		find_reaching(&v[i], end - i);
	}
	return 0;
}

static void estimate_passes(struct path_counter *c, struct pathcount_anchor *anchors,
			    const size_t *anchor_of)
{
	const size_t nr_passes = c->passes.len / sizeof(struct pass);
	const struct pass *pass = (const struct pass *)c->passes.data;
	size_t nr;
	const struct visit *v = visits(c, &nr);

	for (size_t i = 0; i < nr_passes; i++) {
		struct pathcount_path *p = &pass[i].path->out;
		const double passes = pass[i].weight * scale_of(v, nr, &pass[i]);

		p->passes += passes;
		anchors[anchor_of[p->block[0]]].known += passes;
	}
}

static int by_passes(const void *va, const void *vb)
{
	const struct pathcount_path *a = va, *b = vb;

	if (a->passes != b->passes)
		return a->passes < b->passes ? 1 : -1;
	if (a->nr_blocks != b->nr_blocks)
		return a->nr_blocks < b->nr_blocks ? -1 : 1;
	if (a->caller.offset != b->caller.offset)
		return a->caller.offset < b->caller.offset ? -1 : 1;
	return memcmp(a->block, b->block, a->nr_blocks * sizeof(*a->block));
}

/* Fills the paths. The weighted paths of an anchor may by chance exceed its passes. */
static int put_paths(struct path_counter *c, struct pathcount *out, const double *worth,
		     const size_t *anchor_of)
{
	struct hnode *n, *following;

	out->path = arena_array(c->arena, c->paths.nr + 1, sizeof(*out->path));
	if (!out->path)
		return -ENOMEM;
	hmap_for_each (&c->paths, n, following) {
		const struct path *path = container_of(n, struct path, node);
		struct pathcount_path *p = &out->path[out->nr_paths++];
		const int block = path->out.block[0];
		const struct pathcount_anchor *a = &out->anchor[anchor_of[block]];
		const double all = fmax(a->passes, a->known);
		double windows;

		*p = path->out;
		windows = worth[block] * path->weight / p->passes;
		p->passes *= a->passes / all;
		p->share = interval_share(fmin(p->passes / a->passes, 1) * windows,
					  windows);
	}
	qsort(out->path, out->nr_paths, sizeof(*out->path), by_passes);
	for (size_t i = 0; i < out->nr_anchors; i++)
		out->anchor[i].known =
			fmin(out->anchor[i].known / out->anchor[i].passes, 1);
	return 0;
}

int pathcount_find(const struct cfg *cfg, const struct window_weights *f,
		   uint32_t image, struct arena *arena, struct pathcount *out)
{
	struct path_counter c = { .cfg = cfg, .arena = arena };
	double *worth = arena_array(arena, cfg->nr_blocks, sizeof(*worth));
	size_t *anchor_of = arena_array(arena, cfg->nr_blocks, sizeof(*anchor_of));
	struct pathcount found = { 0 };
	int err = -ENOMEM;

	c.walk = pathwalk_new(cfg, image, arena);
	if (c.walk && worth && anchor_of)
		err = window_weights_each(f, on_window, &c);
	if (!err)
		err = find_anchors(&c, &found, worth, anchor_of);
	if (!err) {
		estimate_passes(&c, found.anchor, anchor_of);
		err = put_paths(&c, &found, worth, anchor_of);
	}
	if (!err) {
		found.windows = c.came;
		*out = found;
	}
	hmap_fini(&c.paths);
	buf_fini(&c.visits);
	buf_fini(&c.passes);
	return err;
}
