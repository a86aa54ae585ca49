/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.c - keeps sums, and finds the names of their places
 *
 * The sums are read first, with ids and offsets. Then the symbols of their images are
 * read. Symbols come in the order of the sorted places, so only one of them has to be
 * in memory.
 */
#include "config.h"

#include "report/fleet/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/log.h"
#include "db/clickhouse/storeschema.h"
#include "report/profile/prof.h"

struct fleet_place {
	uint64_t image, offset;
	size_t sum;
};

struct fleet_image {
	uint64_t id;
	const char *name;
};

/*
 * The places that are named, and the symbol that came last: it may name the next
 * one.
 */
struct naming {
	struct fleet_sums *sums;
	size_t at; /* places before it have a name */
	struct storesums_symbol symbol;
	char *name; /* of it; NULL: there is none yet */
};

struct interned_text {
	struct hnode node;
	char text[];
};

/* The one pointer of a text; NULL when out of memory. */
static const char *intern(struct fleet_sums *s, const char *text)
{
	const size_t size = strlen(text) + 1;
	const uint64_t hash = hash_bytes(0, text, size);
	struct hnode *n = hmap_first(&s->texts, hash);
	struct interned_text *t;

	for (; n; n = hmap_next(n)) {
		t = container_of(n, struct interned_text, node);
		if (!strcmp(t->text, text))
			return t->text;
	}
	t = arena_alloc(&s->arena, sizeof(*t) + size);
	if (!t || hmap_insert(&s->texts, &t->node, hash))
		return NULL;
	memcpy(t->text, text, size);
	return t->text;
}

static int take_sum(void *ctx, const struct storesums_sum *sum)
{
	struct fleet_sums *s = ctx;
	struct fleet_sum f = { .host = intern(s, sum->host),
			       .cluster = intern(s, sum->cluster),
			       .release = intern(s, sum->release),
			       .machine = intern(s, sum->machine),
			       .image = "",
			       .procedure = "",
			       .n = sum->n,
			       .amount = sum->amount,
			       .ns = sum->ns };

	if (s->nr >= FLEET_SUMS_BYTES / (sizeof(f) + sizeof(struct fleet_place))) {
		log_err("fleet: more than %zu sums: choose fewer hosts, a shorter "
			"time, or --by image",
			s->nr);
		return -CPI_ELIMIT;
	}
	if (!f.host || !f.cluster || !f.release || !f.machine)
		return -ENOMEM;
	if (GROW(s->sum, s->nr) || GROW(s->place, s->nr))
		return -ENOMEM;
	s->place[s->nr] = (struct fleet_place){ sum->image, sum->offset, s->nr };
	s->sum[s->nr++] = f;
	return 0;
}

static int take_image(void *ctx, uint64_t image, const char *name)
{
	struct fleet_sums *s = ctx;
	const char *text = intern(s, name);

	if (!text || GROW(s->image, s->nr_images))
		return -ENOMEM;
	s->image[s->nr_images++] = (struct fleet_image){ image, text };
	return 0;
}

static int compare_id(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static int compare_place(const void *x, const void *y)
{
	const struct fleet_place *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static const char *find_image(const struct fleet_sums *s, uint64_t id)
{
	const struct fleet_image key = { .id = id }, *found;

	/* The id comes first. */
	found = s->nr_images
			? bsearch(&key, s->image, s->nr_images, sizeof(key), compare_id)
			: NULL;
	return found ? found->name : "[unknown]";
}

/* The last symbol at or before a place, if it covers it; one of no size does. */
static const char *name_of(struct naming *g, const struct fleet_place *place)
{
	const struct storesums_symbol *f = &g->symbol;

	if (!g->name || f->image != place->image || f->start > place->offset ||
	    (f->size && place->offset - f->start >= f->size))
		return NO_SYMBOL_NAME;
	return intern(g->sums, g->name);
}

/*
 * Names the places before end by the newest symbol; if end is NULL, all that are
 * left.
 */
static int name_until(struct naming *g, const struct fleet_place *end)
{
	struct fleet_sums *s = g->sums;

	for (; g->at < s->nr; g->at++) {
		const struct fleet_place *place = &s->place[g->at];
		const char *name;

		if (end && compare_place(place, end) >= 0)
			break;
		name = name_of(g, place);
		if (!name)
			return -ENOMEM;
		s->sum[place->sum].procedure = name;
	}
	return 0;
}

/* Symbols come in the order of places. */
static int take_symbol(void *ctx, const struct storesums_symbol *symbol)
{
	struct naming *g = ctx;
	const struct fleet_place start = { .image = symbol->image,
					   .offset = symbol->start };
	int err = name_until(g, &start);

	if (err)
		return err;
	free(g->name);
	g->symbol = *symbol;
	g->name = strdup(symbol->name);
	return g->name ? 0 : -ENOMEM;
}

/* Lists each image of the sorted places once. */
static int list_images(const struct fleet_sums *s, uint64_t **out, size_t *nr)
{
	uint64_t *id = malloc((s->nr + 1) * sizeof(*id));
	size_t kept = 0;

	if (!id)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		if (!kept || id[kept - 1] != s->place[i].image)
			id[kept++] = s->place[i].image;
	}
	*out = id;
	*nr = kept;
	return 0;
}

static int name_procedures(struct ch_store *store, const uint64_t *image, size_t nr,
			   struct fleet_sums *s)
{
	struct naming g = { .sums = s };
	int err = storesums_symbols(store, image, nr, take_symbol, &g);

	if (!err)
		err = name_until(&g, NULL);
	free(g.name);
	return err;
}

static int name_sums(struct ch_store *store, bool by_offset, struct fleet_sums *s)
{
	uint64_t *image = NULL;
	size_t nr = 0;
	int err;

	if (s->nr)
		qsort(s->place, s->nr, sizeof(*s->place), compare_place);
	err = list_images(s, &image, &nr);
	if (!err)
		err = storesums_images(store, image, nr, take_image, s);
	if (s->nr_images)
		qsort(s->image, s->nr_images, sizeof(*s->image), compare_id);
	for (size_t i = 0; !err && i < s->nr; i++)
		s->sum[s->place[i].sum].image = find_image(s, s->place[i].image);
	if (!err && by_offset)
		err = name_procedures(store, image, nr, s);
	free(image);
	return err;
}

int fleet_sums_read(const char *url, const struct storesums_ask *ask,
		    struct fleet_sums *out)
{
	struct fleet_sums s = { 0 };
	struct ch_store *store;
	int err = ch_store_open(url, NULL, &store);

	if (err)
		return err;
	arena_init(&s.arena, 0);
	err = storeschema_check(store);
	if (!err)
		err = storesums_read(store, ask, take_sum, &s, &s.scope);
	if (!err && ask->by_image)
		err = name_sums(store, ask->by_offset, &s);
	ch_store_close(store);
	if (err)
		fleet_sums_fini(&s);
	else
		*out = s;
	return err;
}

void fleet_sums_fini(struct fleet_sums *s)
{
	hmap_fini(&s->texts);
	arena_fini(&s->arena);
	free(s->sum);
	free(s->place);
	free(s->image);
	memset(s, 0, sizeof(*s));
}
