/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places are to each other as procedures are that call each other (callscale.h): what
 * comes to one from others, scaled as those are, is what leaves it. How well that is
 * known follows from how many windows were seen to come and to leave. What few of them
 * connect keeps the scale that time gives it, for nothing tells of another one.
 *
 * To take what comes and goes for 30 rounds of turns, where time has a fixed part in
 * each, was further off: a place that one window in ten leaves got a third of what it
 * lacked, though 400 windows said so.
 */
#include "config.h"

#include "analysis/balance.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "analysis/callscale.h"
#include "base/err.h"

#define CYCLES 1.2 /* deviation of the logarithm of cycles per instruction */
#define LEAST  0.1 /* windows: any that come and go count */

/* What was seen of a place. */
struct place {
	double come, left; /* windows */
	double leaving;    /* ... by weight */
	int number;        /* among those where something came or left */
};

struct balance {
	struct place *place;
	struct callscale_procedure *procedure;
	struct callscale_call *call;
	int nr;
	size_t nr_calls;
};

static int number(struct balance *b, uint32_t place)
{
	struct place *p = &b->place[place];

	if (!p->come && !p->left)
		p->number = b->nr++;
	return p->number;
}

static int add(struct balance *b, const struct balance_step *s, uint32_t nr_places)
{
	if (s->from >= nr_places || s->to >= nr_places || !(s->n >= 0))
		return -EINVAL;
	if (s->from == s->to || !s->n)
		return 0;
	b->call[b->nr_calls++] = (struct callscale_call){ number(b, s->from),
							  number(b, s->to), s->weight };
	b->place[s->from].left += s->n;
	b->place[s->from].leaving += s->weight;
	b->place[s->to].come += s->n;
	return 0;
}

/* log_factor: the guesses, and then what is found. */
static int solve(struct balance *b, uint32_t nr_places, struct arena *arena,
		 double *log_factor)
{
	static const struct callscale_prior prior = { CYCLES, LEAST, true };
	double *found;
	int err;

	b->procedure = arena_array(arena, b->nr, sizeof(*b->procedure));
	if (!b->procedure)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_places; i++) {
		const struct place *p = &b->place[i];
		const double both = p->come + p->left;

		if (both > 0)
			b->procedure[p->number] = (struct callscale_procedure){
				.samples = both,
				.entries = p->leaving,
				.seen = p->come * p->left / both,
				.guess = log_factor[i],
			};
	}
	err = callscale_find(&prior, b->procedure, b->nr, b->call, b->nr_calls, arena,
			     &found);
	for (uint32_t i = 0; i < nr_places && !err; i++) {
		if (b->place[i].come + b->place[i].left > 0)
			log_factor[i] = found[b->place[i].number];
	}
	return err;
}

int balance_find(const struct balance_step *step, size_t nr, uint32_t nr_places,
		 const double *guess, struct arena *arena, double **log_factor)
{
	struct balance b = { 0 };
	double *factor = arena_array(arena, nr_places, sizeof(*factor));
	int err = 0;

	if (nr_places > INT_MAX)
		return -CPI_ELIMIT;
	b.place = arena_array(arena, nr_places, sizeof(*b.place));
	b.call = arena_array(arena, nr, sizeof(*b.call));
	if (!factor || !b.place || !b.call)
		return -ENOMEM;
	if (guess)
		memcpy(factor, guess, nr_places * sizeof(*factor));
	for (size_t i = 0; i < nr && !err; i++)
		err = add(&b, &step[i], nr_places);
	if (!err && b.nr)
		err = solve(&b, nr_places, arena, factor);
	if (!err)
		*log_factor = factor;
	return err;
}
