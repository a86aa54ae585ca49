/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_parts.c - computes the scatter of a row from sums
 *
 * A rolled-up epoch keeps only sums over its parts. The scatter of a row among the
 * parts follows from these sums by expanding Σ (x - pT)². The terms nearly cancel for a
 * steady row, so a small negative result is rounding and counts as 0.
 */
#include "config.h"

#include "analysis/compare/compare_parts.h"

#include <math.h>

/* The relative size of rounding errors where squares nearly cancel. */
#define ROUNDING 1e-9

void compare_parts_add(struct compare_parts *p, double time)
{
	if (!(time > 0) || !isfinite(time))
		return;
	p->time += time;
	p->squares += time * time;
	p->cubes += time * time * time;
}

double compare_parts_squares(const struct compare_parts *p)
{
	const double h = p->squares / (p->time * p->time);

	return h > 0 && h < 1 ? h : 1;
}

double compare_parts_cubes(const struct compare_parts *p)
{
	const double g = p->cubes / (p->time * p->time * p->time);

	return g > 0 && g < 1 ? g : 1;
}

double compare_parts_within(const struct compare_parts *p, const struct compare_sums *s)
{
	const double squares = s->squares / (s->time * s->time);
	const double cross = s->cross / (s->time * p->time);
	const double within = squares - 2 * cross + compare_parts_squares(p);

	if (!(s->time > 0) || !(p->time > 0) || !isfinite(within) || within < -ROUNDING)
		return NAN;
	return fmax(within, 0);
}
