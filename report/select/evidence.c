/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.c - combines random samples and the scheduler's ticks into one time
 */
#include "config.h"

#include "report/select/evidence.h"

#include <errno.h>

void evidence_begin(struct evidence *e, const struct events *ev)
{
	*e = (struct evidence){ .ticks = events_named(ev, EVENT_TICKS) };
	e->both = e->ticks > 0 && e->ticks < ev->nr && ev->event[0].is_time;
}

static double mean_period(const struct event_sum *sum)
{
	return sum->n && sum->weight > 0 ? sum->weight / (double)sum->n : 1;
}

/* A scale of 0 means that one of the two has no samples in user mode. */
static void take_scale(struct evidence *e, double scale, double ticks_period,
		       double random_period)
{
	e->scale = scale > 0 ? scale : 1;
	e->factors = scale > 0 ? combine_factors(ticks_period, random_period, scale)
			       : (struct combine_factors){ 1, 1 };
}

int evidence_fit(struct evidence *e, struct combine_row *rows, size_t nr,
		 const struct event_sum *random, const struct event_sum *ticks)
{
	const double random_period = mean_period(random);
	const double ticks_period = mean_period(ticks);
	double scale = 0;
	int err = e->both ? combine_rows(rows, nr, ticks_period, random_period, &scale)
			  : 0;

	if (err == -ENOMEM)
		return err;
	take_scale(e, scale, ticks_period, random_period);
	return 0;
}

void evidence_fit_part(struct evidence *e, const struct combine_row *rows, size_t nr,
		       const struct event_sum *random, const struct event_sum *ticks)
{
	take_scale(e, e->both ? combine_ratio(rows, nr) : 0, mean_period(ticks),
		   mean_period(random));
}

bool evidence_counts(const struct evidence *e, size_t event)
{
	return !event || (e->both && event == e->ticks);
}

double evidence_factor(const struct evidence *e, size_t event, bool random_only)
{
	if (!evidence_counts(e, event))
		return 0;
	if (!e->both || random_only)
		return event ? 0 : 1;
	return event ? e->factors.ticks : e->factors.random;
}
