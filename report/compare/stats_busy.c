/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_busy.c - counts samples by procedure, to find those worth an analysis
 *
 * Only symbols are looked up, which is cheap; procedures are kept by image and start.
 */
#include "config.h"

#include "report/compare/stats_busy.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/math/spread.h"
#include "base/hash.h"
#include "base/progress.h"
#include "report/select/imagecache.h"

struct busy_procedure {
	struct hnode node;
	int64_t image;
	uint64_t start;
	uint64_t n;
};

struct busy_reading {
	struct stats_busy *b;
	const struct events *ev;
	struct image_cache *images;
	struct progress progress;
};

static uint64_t hash_of(int64_t image, uint64_t start)
{
	return hash_u64(hash_u64((uint64_t)image) ^ start);
}

static struct busy_procedure *find_procedure(const struct stats_busy *b, int64_t image,
					     uint64_t start)
{
	struct hnode *n = hmap_first(&b->map, hash_of(image, start));

	for (; n; n = hmap_next(n)) {
		struct busy_procedure *p = container_of(n, struct busy_procedure, node);

		if (p->image == image && p->start == start)
			return p;
	}
	return NULL;
}

static int add_procedure(struct stats_busy *b, int64_t image, uint64_t start,
			 uint64_t n)
{
	struct busy_procedure *p = find_procedure(b, image, start);

	if (p) {
		p->n += n;
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct busy_procedure){ .image = image, .start = start, .n = n };
	if (hmap_insert(&b->map, &p->node, hash_of(image, start))) {
		free(p);
		return -ENOMEM;
	}
	return 0;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct busy_reading *r = ctx;
	const struct symbol *symbol;
	const struct count *c;
	struct image *im;
	double weight;
	size_t event, nr;
	int err;

	if (q->image.desc.kind == IMAGE_IDLE ||
	    !events_find(r->ev, q->stream, &event, &weight) || event)
		return 0;
	err = image_cache_get(r->images, &q->image, &im);
	if (err)
		return err == -ENOMEM ? err : 0;
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		symbol = image_symbol_at(im, c[i].offset);
		if (symbol)
			err = add_procedure(r->b, q->image.id, symbol->start, c[i].n);
	}
	return err;
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct busy_reading *r = ctx;

	progress_update(&r->progress, done, all);
}

int stats_busy_read(struct stats_busy *b, const struct selection *sel,
		    const struct events *ev, struct image_cache *images)
{
	struct busy_reading r = { .b = b, .ev = ev, .images = images };
	int err;

	b->least = (double)SPREAD_MIN_COUNT * sel->epochs.nr;
	r.progress = progress_begin("reading images");
	err = query_profiles(sel->db, &sel->query, on_profile, &r, on_progress);
	progress_end(&r.progress);
	return err;
}

void stats_busy_fini(struct stats_busy *b)
{
	struct hnode *n, *next;

	hmap_for_each (&b->map, n, next)
		free(container_of(n, struct busy_procedure, node));
	hmap_fini(&b->map);
}

bool stats_busy_has(const struct stats_busy *b, int64_t image, uint64_t start)
{
	const struct busy_procedure *p = find_procedure(b, image, start);

	return p && p->n >= b->least;
}
