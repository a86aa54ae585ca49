/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/stats_busy.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/spread.h"
#include "base/hash.h"
#include "tools/imagecache.h"
#include "tools/progress.h"

struct procedure {
	struct hnode node;
	int64_t image;
	uint64_t start;
	uint64_t n;
};

struct reading {
	struct stats_busy *b;
	const struct events *ev;
	struct image_cache *images;
	struct progress progress;
};

static uint64_t hash_of(int64_t image, uint64_t start)
{
	return hash_u64(hash_u64((uint64_t)image) ^ start);
}

static struct procedure *find(const struct stats_busy *b, int64_t image, uint64_t start)
{
	struct hnode *n = hmap_first(&b->map, hash_of(image, start));

	for (; n; n = hmap_next(n)) {
		struct procedure *p = container_of(n, struct procedure, node);

		if (p->image == image && p->start == start)
			return p;
	}
	return NULL;
}

static int add(struct stats_busy *b, int64_t image, uint64_t start, uint64_t n)
{
	struct procedure *p = find(b, image, start);

	if (p) {
		p->n += n;
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct procedure){ .image = image, .start = start, .n = n };
	if (hmap_insert(&b->map, &p->node, hash_of(image, start))) {
		free(p);
		return -ENOMEM;
	}
	return 0;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct reading *r = ctx;
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
			err = add(r->b, q->image.id, symbol->start, c[i].n);
	}
	return err;
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct reading *r = ctx;

	progress_update(&r->progress, done, all);
}

int stats_busy_read(struct stats_busy *b, const struct selection *sel,
		    const struct events *ev, struct image_cache *images)
{
	struct reading r = { .b = b, .ev = ev, .images = images };
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
		free(container_of(n, struct procedure, node));
	hmap_fini(&b->map);
}

bool stats_busy_has(const struct stats_busy *b, int64_t image, uint64_t start)
{
	const struct procedure *p = find(b, image, start);

	return p && p->n >= b->least;
}
