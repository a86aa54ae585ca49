/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places are treated like procedures that call each other (callscale.h): the scaled
 * flow into a place from others equals the flow out of it. The numbers of windows that
 * come and leave say how exact that is. A place that few windows connect keeps the
 * scale that time gives it, because nothing suggests another one.
 *
 * Iterating 30 times with a fixed share for time was less accurate: a place that one
 * window in ten leaves got a third of the correction that 400 windows asked for.
 */
#include "config.h"

#include "analysis/math/window_balance.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "analysis/math/callscale.h"
#include "base/err.h"

#define CYCLES 1.2 /* deviation of the logarithm of cycles per instruction */
#define LEAST  0.1 /* windows: even a few count */

/* What was seen of a place. */
struct balance_place {
	double come, left; /* windows */
	double leaving;    /* ... by weight */
	int number;        /* among places that windows connect */
};

struct window_balance {
	struct balance_place *place;
	struct callscale_procedure *procedure;
	struct callscale_call *call;
	int nr;
	size_t nr_calls;
};

static int number_place(struct window_balance *b, uint32_t place)
{
	struct balance_place *p = &b->place[place];

	if (!p->come && !p->left)
		p->number = b->nr++;
	return p->number;
}

static int add_step(struct window_balance *b, const struct window_step *s,
		    uint32_t nr_places)
{
	if (s->from >= nr_places || s->to >= nr_places || !(s->n >= 0))
		return -EINVAL;
	if (s->from == s->to || !s->n)
		return 0;
	b->call[b->nr_calls++] =
		(struct callscale_call){ number_place(b, s->from),
					 number_place(b, s->to), s->weight };
	b->place[s->from].left += s->n;
	b->place[s->from].leaving += s->weight;
	b->place[s->to].come += s->n;
	return 0;
}

/* log_factor has the guesses, and then the results. */
static int solve_places(struct window_balance *b, uint32_t nr_places,
			struct arena *arena, double *log_factor)
{
	static const struct callscale_prior prior = { CYCLES, LEAST, true };
	double *found;
	int err;

	b->procedure = arena_array(arena, b->nr, sizeof(*b->procedure));
	if (!b->procedure)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_places; i++) {
		const struct balance_place *p = &b->place[i];
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

int window_balance_solve(const struct window_step *step, size_t nr, uint32_t nr_places,
			 const double *guess, struct arena *arena, double **log_factor)
{
	struct window_balance b = { 0 };
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
		err = add_step(&b, &step[i], nr_places);
	if (!err && b.nr)
		err = solve_places(&b, nr_places, arena, factor);
	if (!err)
		*log_factor = factor;
	return err;
}
