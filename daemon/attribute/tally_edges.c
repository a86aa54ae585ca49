/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally_edges.c - the edges of a tally, by pairs of images
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "daemon/attribute/tally.h"

static struct tally_edges *get_edges(struct tally *t, int event, enum edges_kind kind,
				     struct known_image *image,
				     struct known_image *target)
{
	uint64_t hash = hash_u64(hash_u64((uintptr_t)image) ^ (uintptr_t)target ^
				 (uint64_t)event << 56 ^ (uint64_t)kind << 48);
	struct tally_edges *e;
	struct hnode *n;

	for (n = hmap_first(&t->edges, hash); n; n = hmap_next(n)) {
		e = container_of(n, struct tally_edges, node);
		if (e->image == image && e->target == target && e->event == event &&
		    e->kind == kind)
			return e;
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	*e = (struct tally_edges){ .image = image,
				   .target = target,
				   .event = event,
				   .kind = kind,
				   .edges = edges_new() };
	if (!e->edges || hmap_insert(&t->edges, &e->node, hash)) {
		edges_free(e->edges);
		free(e);
		return NULL;
	}
	t->memory += sizeof(*e) + edges_memory(e->edges);
	return e;
}

int tally_add_edge(struct tally *t, int event, enum edges_kind kind,
		   struct known_image *image, struct known_image *target,
		   const struct edge *edge)
{
	struct tally_edges *e;
	size_t before;
	int err;

	e = tally_is_full(t) ? NULL : get_edges(t, event, kind, image, target);
	if (!e)
		return -ENOMEM;
	before = edges_memory(e->edges);
	err = edges_add(e->edges, edge);
	t->memory += edges_memory(e->edges) - before;
	return err;
}

void tally_free_edges(struct tally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->edges, n, next) {
		struct tally_edges *e = container_of(n, struct tally_edges, node);

		t->memory -= sizeof(*e) + edges_memory(e->edges);
		hmap_remove(&t->edges, n);
		edges_free(e->edges);
		free(e);
	}
}

void tally_mark_edges(const struct tally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->edges, n, next) {
		struct tally_edges *e = container_of(n, struct tally_edges, node);

		if (e->image)
			e->image->marked = true;
		if (e->target)
			e->target->marked = true;
	}
}
