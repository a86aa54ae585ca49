/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of n visits with the rates r, the mean has the variance s² / n. Of few, s is not
 * known well: it is taken as if there were MORE others, which deviate by a half.
 * Beside that, how often a breakpoint is hit is a count, and what a hit costs is known
 * to COST: the more of the time hits took, the less is known of the rest.
 */
#include "config.h"

#include "analysis/anchored.h"

#include <math.h>
#include <stdlib.h>

#define MORE  2.0
#define HALF  0.5
#define COST  0.1  /* deviation of what a hit costs, relative */
#define APART 0.35 /* deviation of the logarithm, between procedures */

bool anchored_estimate(const struct anchor_sums *sums, double seconds,
		       struct anchored *out)
{
	const double n = (double)sums->visits, hits = (double)sums->hits;
	const double left = (double)sums->running_ns - (double)sums->hit_ns;
	const double mean = sums->rate / n, share = (double)sums->hit_ns / left;
	double spread;

	if (sums->visits < ANCHORED_VISITS || sums->hits < ANCHORED_HITS ||
	    !(left > 0) || !(mean > 0) || !isfinite(mean) || !isfinite(sums->squares) ||
	    !(seconds > 0))
		return false;
	spread = fmax(sums->squares / (mean * mean) - n, 0);
	spread = (spread + MORE * HALF * HALF) / (n - 1 + MORE);
	out->executions = mean * seconds;
	out->variance = spread / n + 1 / hits + COST * COST * share * share;
	return true;
}

void anchored_add(struct anchored *to, const struct anchored *from)
{
	const double sum = to->executions + from->executions;
	const double a = to->executions / sum, b = from->executions / sum;

	to->executions = sum;
	to->variance = a * a * to->variance + b * b * from->variance;
}

static int compare(const void *va, const void *vb)
{
	const struct anchored_ratio *a = va, *b = vb;

	return (a->log > b->log) - (a->log < b->log);
}

static double weight(const struct anchored_ratio *r)
{
	return 1 / (r->variance + APART * APART);
}

double anchored_common(struct anchored_ratio *ratio, size_t nr)
{
	double all = 0, sum = 0;
	size_t i = 0;

	qsort(ratio, nr, sizeof(*ratio), compare);
	for (size_t k = 0; k < nr; k++)
		all += weight(&ratio[k]);
	while (i + 1 < nr && sum + weight(&ratio[i]) < all / 2)
		sum += weight(&ratio[i++]);
	return ratio[i].log;
}
