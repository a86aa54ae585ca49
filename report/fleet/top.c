/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.c - adds sums up by what a row stands for
 */
#include "config.h"

#include "report/fleet/top.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const char *name_of(const struct fleet_sum *s, int by)
{
	switch (by) {
	case FLEET_PROCEDURE:
		return s->procedure;
	case FLEET_IMAGE:
		return s->image;
	case FLEET_RELEASE:
		return s->release;
	case FLEET_CLUSTER:
		return s->cluster;
	case FLEET_MACHINE:
		return s->machine;
	default:
		return s->host;
	}
}

/* Texts are the same pointer if they are equal. */
static int add(struct fleet_top *t, const struct fleet_sum *s, int by)
{
	const char *name = name_of(s, by);
	const char *image = by == FLEET_PROCEDURE ? s->image : NULL;
	const uint64_t hash = hash_u64((uintptr_t)name ^ hash_u64((uintptr_t)image));
	struct hnode *n = hmap_first(&t->map, hash);
	struct fleet_row *r = NULL;

	for (; n && !r; n = hmap_next(n)) {
		r = container_of(n, struct fleet_row, node);
		if (r->name != name || r->image != image)
			r = NULL;
	}
	if (!r) {
		r = &t->row[t->nr];
		*r = (struct fleet_row){ .name = name, .image = image };
		if (hmap_insert(&t->map, &r->node, hash))
			return -ENOMEM;
		t->nr++;
	}
	fleet_amount_add(&r->time, s->n, s->ns);
	t->ns += s->ns;
	return 0;
}

static int by_cost(const void *x, const void *y)
{
	const struct fleet_row *a = x, *b = y;
	int order;

	if (a->time.amount != b->time.amount)
		return a->time.amount < b->time.amount ? 1 : -1;
	order = strcmp(a->name, b->name);
	return order || !a->image ? order : strcmp(a->image, b->image);
}

static int add_all(struct fleet_top *t, int by)
{
	int err = 0;

	t->row = calloc(t->sums.nr + 1, sizeof(*t->row));
	if (!t->row)
		return -ENOMEM;
	for (size_t i = 0; !err && i < t->sums.nr; i++)
		err = add(t, &t->sums.sum[i], by);
	hmap_fini(&t->map); /* before the rows move */
	memset(&t->map, 0, sizeof(t->map));
	qsort(t->row, t->nr, sizeof(*t->row), by_cost);
	return err;
}

/* ---- cycles and instructions ---- */

/* By text: the strings of two answers are apart. */
static uint64_t text_hash(const char *name, const char *image)
{
	const uint64_t hash = hash_bytes(0, name, strlen(name));

	return image ? hash_bytes(hash, image, strlen(image)) : hash;
}

static struct fleet_row *find_row(const struct fleet_top *t, const char *name,
				  const char *image)
{
	struct hnode *n = hmap_first(&t->map, text_hash(name, image));

	for (; n; n = hmap_next(n)) {
		struct fleet_row *r = container_of(n, struct fleet_row, node);

		if (!strcmp(r->name, name) && (!image || !strcmp(r->image, image)))
			return r;
	}
	return NULL;
}

static int map_rows(struct fleet_top *t)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->nr; i++)
		err = hmap_insert(&t->map, &t->row[i].node,
				  text_hash(t->row[i].name, t->row[i].image));
	return err;
}

static int read_event(const char *url, struct storesums_ask ask, const char *event,
		      int by, struct fleet_top *t)
{
	const bool cycles = !strcmp(event, "cycles");
	struct fleet_sums sums;
	int err;

	ask.event = event;
	ask.any_event = ask.may_lack = true;
	err = fleet_sums_read(url, &ask, &sums);
	if (err)
		return err;
	for (size_t i = 0; i < sums.nr; i++) {
		const struct fleet_sum *s = &sums.sum[i];
		struct fleet_row *r = find_row(t, name_of(s, by),
					       by == FLEET_PROCEDURE ? s->image : NULL);
		struct fleet_amount *to = !r       ? NULL
					  : cycles ? &r->cycles
						   : &r->instructions;

		if (to)
			fleet_amount_add(to, s->n, s->amount);
	}
	fleet_sums_fini(&sums);
	return 0;
}

/* Of the same epochs: "the newest day" may be another one meanwhile. */
static int read_cpi(const char *url, struct storesums_ask ask, int by,
		    struct fleet_top *t)
{
	int err = map_rows(t);

	ask.from_ns = t->sums.scope.asked_from_ns;
	ask.to_ns = t->sums.scope.asked_to_ns;
	if (!err)
		err = read_event(url, ask, "cycles", by, t);
	if (!err)
		err = read_event(url, ask, "instructions", by, t);
	return err;
}

int fleet_top_read(const char *url, const struct fleet_request *req,
		   struct fleet_top *out)
{
	const struct storesums_ask ask = {
		.choice = req->choice,
		.times = req->times,
		.event = req->event,
		.by_host = req->by == FLEET_HOST,
		.by_cluster = req->by == FLEET_CLUSTER,
		.by_release = req->by == FLEET_RELEASE,
		.by_machine = req->by == FLEET_MACHINE,
		.by_image = req->by == FLEET_IMAGE || req->by == FLEET_PROCEDURE,
		.by_offset = req->by == FLEET_PROCEDURE,
		.exact = req->exact,
	};
	struct fleet_top t = { 0 };
	int err = fleet_sums_read(url, &ask, &t.sums);

	if (err)
		return err;
	/* Epochs without a length, as imported ones may be, still divide time. */
	t.seconds = fmax((double)(t.sums.scope.to_ns - t.sums.scope.from_ns), 1) / 1e9;
	err = add_all(&t, req->by);
	if (!err && req->cpi)
		err = read_cpi(url, ask, req->by, &t);
	if (err)
		fleet_top_fini(&t);
	else
		*out = t;
	return err;
}

void fleet_top_fini(struct fleet_top *t)
{
	hmap_fini(&t->map);
	free(t->row);
	fleet_sums_fini(&t->sums);
	memset(t, 0, sizeof(*t));
}
