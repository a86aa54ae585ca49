/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * startweights.c - numbers of first and later jumps, in a table without keys
 *
 * Jumps that share a place share their weight, so the table has a fixed size.
 */
#include "config.h"

#include "daemon/windows/startweights.h"

#include <stdlib.h>

#define PLACES_LOG2 12 /* jumps with the same place share their weight */
#define PLACES      (1u << PLACES_LOG2)
#define PRIOR       0.5        /* windows that count once */
#define MOST_STARTS (1u << 20) /* then all numbers are halved */

struct place {
	uint32_t starts; /* windows that have this jump as the first one */
	uint32_t passes; /* of it as a later one */
};

struct startweights {
	struct place place[PLACES];
	uint64_t starts, passes; /* of all */
	uint64_t random;
};

struct startweights *startweights_new(void)
{
	struct startweights *s = calloc(1, sizeof(*s));

	if (s)
		s->random = 88172645463325252;
	return s;
}

void startweights_free(struct startweights *s)
{
	free(s);
}

static struct place *place_of(struct startweights *s, uint64_t jump)
{
	return &s->place[jump * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_LOG2)];
}

static double draw(struct startweights *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (double)(s->random >> 11) * 0x1p-53;
}

static void halve(struct startweights *s)
{
	s->starts = s->passes = 0;
	for (unsigned int i = 0; i < PLACES; i++) {
		s->starts += s->place[i].starts /= 2;
		s->passes += s->place[i].passes /= 2;
	}
}

static double weight_of(const struct startweights *s, const struct place *p)
{
	const double usual = ((double)s->passes + PRIOR) / ((double)s->starts + PRIOR);

	return (p->passes / usual + PRIOR) / (p->starts + PRIOR);
}

unsigned int startweights_add(struct startweights *s, const uint64_t *jump, uint32_t nr)
{
	struct place *first = nr ? place_of(s, jump[0]) : NULL;
	double weight = 1;

	if (!first)
		return 1;
	weight = weight_of(s, first) + draw(s);
	first->starts++;
	s->starts++;
	s->passes += nr - 1;
	for (uint32_t i = 1; i < nr; i++)
		place_of(s, jump[i])->passes++;
	if (s->starts >= MOST_STARTS)
		halve(s);
	return weight < STARTWEIGHTS_MOST ? (unsigned int)weight : STARTWEIGHTS_MOST;
}
