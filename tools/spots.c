/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/spots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void spots_init(struct spots *s, uint64_t limit)
{
	*s = (struct spots){ .limit = limit ? limit : SPOTS_DEFAULT };
	if (s->limit > SPOTS_MAX)
		s->limit = SPOTS_MAX;
}

static void spot_fini(struct spot *s)
{
	free(s->procedure);
	free(s->image);
	free(s->build_id);
	free(s->text);
	free(s->file);
	free(s->reasons);
	free(s->culprits);
	records_free(s->records);
}

static struct spot *all_spots(const struct spots *s, size_t *nr)
{
	*nr = s->spot.len / sizeof(struct spot);
	return (struct spot *)s->spot.data;
}

void spots_fini(struct spots *s)
{
	size_t nr;
	struct spot *spot = all_spots(s, &nr);

	for (size_t i = 0; i < nr; i++)
		spot_fini(&spot[i]);
	buf_fini(&s->spot);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_amount(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;
	int c;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	c = compare_text(a->image, b->image);
	if (c)
		return c;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return compare_text(a->reasons, b->reasons);
}

const struct spot *spots_sorted(struct spots *s, size_t *nr)
{
	struct spot *spot = all_spots(s, nr);

	if (*nr)
		qsort(spot, *nr, sizeof(*spot), by_amount);
	for (size_t i = s->limit; i < *nr; i++)
		spot_fini(&spot[i]);
	if (*nr >= s->limit) {
		*nr = s->limit;
		s->spot.len = *nr * sizeof(*spot);
		s->least = spot[*nr - 1].amount;
	}
	return spot;
}

int spots_add(struct spots *s, double amount, struct spot **out)
{
	struct spot *spot;
	size_t nr;

	*out = NULL;
	if (!(amount > s->least))
		return 0;
	all_spots(s, &nr);
	if (nr >= 2 * s->limit)
		spots_sorted(s, &nr);
	spot = buf_reserve(&s->spot, sizeof(*spot));
	if (!spot)
		return -ENOMEM;
	s->spot.len += sizeof(*spot);
	*spot = (struct spot){ .amount = amount };
	*out = spot;
	return 0;
}
