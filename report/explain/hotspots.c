/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotspots.c - the rows of a listing that have most of its time
 */
#include "config.h"

#include "report/explain/hotspots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_LISTING 60 /* rows that are all shown */
#define MAX_SPOTS     40
#define COVERED       0.9 /* of the time, by the spots */
#define AROUND        5   /* rows on each side of one */

struct spot {
	double weight;
	size_t at;
};

static int by_weight(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static void show_around(size_t at, struct hotspots *h)
{
	const size_t from = at > AROUND ? at - AROUND : 0;
	const size_t to = h->nr - at > AROUND ? at + AROUND + 1 : h->nr;

	memset(h->shown + from, true, to - from);
}

int hotspots_find(const double *weight, size_t nr, struct hotspots *out)
{
	struct hotspots h = { NULL, nr };
	double all = 0, covered = 0;
	struct spot *spot;

	for (size_t i = 0; i < nr; i++)
		all += weight[i];
	if (nr <= SHORT_LISTING || all <= 0) {
		*out = h;
		return 0;
	}
	h.shown = calloc(nr, sizeof(*h.shown));
	spot = calloc(nr, sizeof(*spot));
	if (!h.shown || !spot) {
		free(h.shown);
		free(spot);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		spot[i] = (struct spot){ weight[i], i };
	qsort(spot, nr, sizeof(*spot), by_weight);
	for (size_t i = 0; i < MAX_SPOTS && covered < COVERED * all; i++) {
		covered += spot[i].weight;
		show_around(spot[i].at, &h);
	}
	free(spot);
	*out = h;
	return 0;
}

void hotspots_fini(struct hotspots *h)
{
	free(h->shown);
}

size_t hotspots_next(const struct hotspots *h, size_t i)
{
	do
		i++;
	while (i < h->nr && !hotspots_shows(h, i));
	return i;
}
