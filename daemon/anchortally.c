/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/anchortally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/times.h"

#define LEAST_RUNNING_NS (100 * 1000) /* that a visit is about */
#define LEAST_SHARE      0.1          /* of its time which hits have to leave */

const char *anchor_loss_name(enum anchor_loss loss)
{
	static const char *const name[] = {
#define ANCHOR_LOSS_NAME(name, text) [ANCHOR_##name] = text,
		ANCHOR_LOSSES(ANCHOR_LOSS_NAME)
#undef ANCHOR_LOSS_NAME
	};

	return name[loss];
}

struct anchortally *anchortally_new(void)
{
	return calloc(1, sizeof(struct anchortally));
}

static struct anchor_place *place_of(const struct hnode *n)
{
	return container_of(n, struct anchor_place, node);
}

void anchortally_free(struct anchortally *t)
{
	struct hnode *n, *next;

	if (!t)
		return;
	hmap_for_each (&t->places, n, next) {
		hmap_remove(&t->places, n);
		free(place_of(n));
	}
	hmap_fini(&t->places);
	free(t);
}

static bool is_same(const struct anchor_place *a, const struct anchor_place *b)
{
	return a->image == b->image && a->mapped == b->mapped &&
	       a->offset == b->offset && !strcmp(a->comm, b->comm);
}

void anchortally_see(struct anchortally *t, const struct anchor_place *like)
{
	const uint64_t hash =
		hash_bytes(like->offset ^ hash_u64((uintptr_t)like->image), like->comm,
			   strlen(like->comm));
	struct anchor_place *p;

	for (struct hnode *n = hmap_first(&t->places, hash); n; n = hmap_next(n)) {
		p = place_of(n);
		if (is_same(p, like)) {
			p->seen++;
			return;
		}
	}
	if (t->places.nr == ANCHORTALLY_PLACES)
		return;
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	p->image = like->image;
	p->mapped = like->mapped;
	p->offset = like->offset;
	snprintf(p->comm, sizeof(p->comm), "%s", like->comm);
	p->seen = 1;
	if (hmap_insert(&t->places, &p->node, hash))
		free(p);
}

/* Where p has it; 0: nowhere. */
static uint64_t find_address(const struct process *p, const struct anchor_place *place)
{
	size_t nr;
	const struct range *r = procmap_ranges(p, &nr);

	for (size_t i = 0; i < nr; i++) {
		const uint64_t address = place->offset - r[i].bias;

		if (r[i].value == place->mapped && r[i].start <= address &&
		    address < r[i].end)
			return address;
	}
	return 0;
}

/* Turns become as many as the square root of how often it was seen. */
static double waits(const struct anchor_place *p)
{
	return (double)p->seen / ((p->turns + 1) * (p->turns + 1));
}

struct anchor_place *anchortally_choose(struct anchortally *t, const struct process *p,
					const char *comm, uint64_t *address)
{
	struct anchor_place *best = NULL;
	struct hnode *n, *next;

	hmap_for_each (&t->places, n, next) {
		struct anchor_place *place = place_of(n);
		uint64_t at;

		if (strcmp(place->comm, comm) != 0 ||
		    (best && waits(place) <= waits(best)))
			continue;
		at = find_address(p, place);
		if (!at)
			continue;
		best = place;
		*address = at;
	}
	if (best)
		best->turns++;
	return best;
}

enum anchor_loss anchortally_visit(struct anchortally *t, struct anchor_place *place,
				   uint64_t enabled_ns, uint64_t running_ns,
				   uint64_t hits, double hit_ns)
{
	const double all = (double)running_ns, taken = (double)hits * hit_ns;
	struct anchor_sums visit = { .visits = 1,
				     .hits = hits,
				     .enabled_ns = enabled_ns,
				     .running_ns = running_ns,
				     .hit_ns = (uint64_t)taken };

	t->now.hits += hits;
	if (!hits && running_ns < LEAST_RUNNING_NS)
		return anchortally_lose(t, ANCHOR_IDLE);
	if (all - taken < all * LEAST_SHARE) {
		place->turns += 1 / LEAST_SHARE;
		return anchortally_lose(t, ANCHOR_TOO_FREQUENT);
	}
	place->turns += taken / (all - taken);
	visit.rate = (double)hits / (all - taken) * NSEC_PER_SEC;
	visit.squares = visit.rate * visit.rate;
	anchor_sums_add(&place->sums, &visit);
	t->now.visits++;
	return ANCHOR_NR_LOSSES;
}

enum anchor_loss anchortally_lose(struct anchortally *t, enum anchor_loss loss)
{
	t->now.visits++;
	t->now.lost[loss]++;
	return loss;
}

void anchorset_free(struct anchorset *s)
{
	if (!s)
		return;
	free((void *)s->flush.anchor);
	free(s->image);
	free(s->comm);
	free(s);
}

static void list_losses(const struct anchortally *t, struct anchorset *s)
{
	for (int l = 0; l < ANCHOR_NR_LOSSES; l++)
		s->loss[l] = (struct flush_anchor_loss){ anchor_loss_name(l),
							 t->now.lost[l] };
	s->flush.loss = s->loss;
	s->flush.nr_losses = ANCHOR_NR_LOSSES;
}

struct anchorset *anchortally_list(const struct anchortally *t)
{
	struct anchorset *s = calloc(1, sizeof(*s));
	const size_t room = t->places.nr + 1;
	struct flush_anchor *anchor;
	struct hnode *n, *next;

	if (!s)
		return NULL;
	s->flush.visits = t->now.visits;
	s->flush.anchor = anchor = calloc(room, sizeof(*anchor));
	s->image = calloc(room, sizeof(struct known_image *));
	s->comm = calloc(room, sizeof(*s->comm));
	if (!anchor || !s->image || !s->comm) {
		anchorset_free(s);
		return NULL;
	}
	hmap_for_each (&t->places, n, next) {
		const struct anchor_place *p = place_of(n);
		const size_t i = s->flush.nr_anchors;

		if (!p->sums.visits)
			continue;
		memcpy(s->comm[i], p->comm, sizeof(p->comm));
		s->image[i] = p->image;
		anchor[i] = (struct flush_anchor){ &p->image->desc, p->offset,
						   s->comm[i], p->sums };
		s->flush.nr_anchors++;
	}
	list_losses(t, s);
	return s;
}

/* What is not seen any more makes room. */
void anchortally_took(struct anchortally *t)
{
	struct hnode *n, *next;

	t->before.visits += t->now.visits;
	t->before.hits += t->now.hits;
	for (int l = 0; l < ANCHOR_NR_LOSSES; l++)
		t->before.lost[l] += t->now.lost[l];
	memset(&t->now, 0, sizeof(t->now));
	hmap_for_each (&t->places, n, next) {
		struct anchor_place *p = place_of(n);

		memset(&p->sums, 0, sizeof(p->sums));
		p->seen /= 2;
		p->turns /= 2;
		if (!p->seen) {
			hmap_remove(&t->places, n);
			free(p);
		}
	}
}

void anchortally_mark_images(const struct anchortally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->places, n, next) {
		place_of(n)->image->marked = true;
		place_of(n)->mapped->marked = true;
	}
}

void anchorset_mark_images(const struct anchorset *s)
{
	for (size_t i = 0; i < s->flush.nr_anchors; i++)
		s->image[i]->marked = true;
}
