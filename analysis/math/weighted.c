/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighted.c - quantiles by sorting and adding up weights
 */
#include "config.h"

#include "analysis/math/weighted.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *va, const void *vb)
{
	const struct weighted_value *a = va, *b = vb;

	return (a->value > b->value) - (a->value < b->value);
}

void weighted_sort(struct weighted_value *v, size_t nr)
{
	if (nr) /* v may be NULL, which qsort() refuses */
		qsort(v, nr, sizeof(*v), ascending);
}

static double sum_weights(const struct weighted_value *v, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += v[i].weight;
	return sum;
}

double weighted_quantile(struct weighted_value *v, size_t nr, double share)
{
	const double wanted = share * sum_weights(v, nr);
	double below = 0;

	weighted_sort(v, nr);
	for (size_t i = 0; i + 1 < nr; i++) {
		below += v[i].weight;
		if (!(below < wanted))
			return v[i].value;
	}
	return nr ? v[nr - 1].value : NAN;
}

double weighted_median(struct weighted_value *v, size_t nr)
{
	const double all = sum_weights(v, nr);
	double below = 0;

	weighted_sort(v, nr);
	for (size_t i = 0; i + 1 < nr; i++) {
		below += v[i].weight;
		if (fabs(below - all / 2) <= 1e-9 * all)
			return (v[i].value + v[i + 1].value) / 2;
		if (below > all / 2)
			return v[i].value;
	}
	return nr ? v[nr - 1].value : 0;
}
