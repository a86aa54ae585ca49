/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.c - combines random samples and the scheduler's ticks into one time
 */
#include "config.h"

#include "report/select/evidence.h"

#include <errno.h>
#include <stdlib.h>

void evidence_begin(struct evidence *e, const struct events *ev)
{
	*e = (struct evidence){ .ticks = events_named(ev, EVENT_TICKS) };
	e->both = e->ticks > 0 && e->ticks < ev->nr && ev->event[0].is_time;
}

static double mean_period(const struct event_sum *sum)
{
	return sum->n && sum->weight > 0 ? sum->weight / (double)sum->n : 1;
}

/* A scale of 0 means that one of the two has no samples in this mode. */
static void take_scale(struct evidence *e, enum evidence_mode mode, double scale,
		       double ticks_period, double random_period)
{
	e->scale[mode] = scale > 0 ? scale : 1;
	e->factors[mode] = scale > 0
				   ? combine_factors(ticks_period, random_period, scale)
				   : (struct combine_factors){ 1, 1 };
}

/* Random time over ticks' time of the rows that do not depart; 0: one is missing. */
static double ratio_of(const struct evidence_row *rows, size_t nr,
		       enum evidence_mode mode)
{
	double ticks = 0, random = 0;

	for (size_t i = 0; i < nr; i++) {
		ticks += rows[i].departs ? 0 : rows[i].in[mode].ticks_ns;
		random += rows[i].departs ? 0 : rows[i].in[mode].random_ns;
	}
	return ticks > 0 ? random / ticks : 0;
}

/*
 * Compares the rows in one mode. *scale gets 0 if one kind of samples is missing.
 * Returns 0 or -ENOMEM.
 */
static int fit_mode(struct evidence_row *rows, size_t nr, enum evidence_mode mode,
		    double ticks_period, double random_period, double *scale)
{
	struct combine_row *of_mode = calloc(nr + 1, sizeof(*of_mode));
	int err;

	if (!of_mode)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		of_mode[i] = rows[i].in[mode];
	*scale = 0;
	err = combine_rows(of_mode, nr, ticks_period, random_period, scale);
	for (size_t i = 0; i < nr && !err; i++)
		rows[i].departs |= of_mode[i].departs;
	free(of_mode);
	return err == -ENODATA ? 0 : err;
}

int evidence_fit(struct evidence *e, struct evidence_row *rows, size_t nr,
		 const struct event_sum *random, const struct event_sum *ticks)
{
	const double random_period = mean_period(random);
	const double ticks_period = mean_period(ticks);
	double scale[NR_EVIDENCE_MODES] = { 0 };
	int err = 0;

	for (int mode = 0; mode < NR_EVIDENCE_MODES && e->both && !err; mode++)
		err = fit_mode(rows, nr, mode, ticks_period, random_period,
			       &scale[mode]);
	if (err)
		return err;
	for (int mode = 0; mode < NR_EVIDENCE_MODES; mode++) {
		/* The other mode may have made more rows depart. */
		const double last = scale[mode] > 0 ? ratio_of(rows, nr, mode) : 0;

		take_scale(e, mode, last > 0 ? last : scale[mode], ticks_period,
			   random_period);
	}
	return 0;
}

void evidence_fit_part(struct evidence *e, const struct evidence_row *rows, size_t nr,
		       const struct event_sum *random, const struct event_sum *ticks)
{
	for (int mode = 0; mode < NR_EVIDENCE_MODES; mode++)
		take_scale(e, mode, e->both ? ratio_of(rows, nr, mode) : 0,
			   mean_period(ticks), mean_period(random));
}

bool evidence_counts(const struct evidence *e, size_t event)
{
	return !event || (e->both && event == e->ticks);
}

double evidence_factor(const struct evidence *e, size_t event, struct evidence_use use)
{
	const struct combine_factors *f = &e->factors[use.mode];

	if (!evidence_counts(e, event))
		return 0;
	if (!e->both || use.random_only)
		return event ? 0 : 1;
	return event ? f->ticks : f->random;
}

double evidence_time(const struct evidence *e, struct evidence_use use,
		     double random_ns, double ticks_ns)
{
	return random_ns * evidence_factor(e, 0, use) +
	       ticks_ns * evidence_factor(e, e->ticks, use);
}
