/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row's samples scatter by chance alone (Poisson), or by more. The test is
 * chi-squared over the runs, weighted by their exposures. All sums are kept while rows
 * are added, so no row's values need to be stored.
 */
#include "config.h"

#include "analysis/math/spread.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/math/distribution.h"

/* The common variation is taken from rows with this many samples per run. */
#define COMMON_MIN_COUNT 20

void spread_runs_add(struct spread_runs *r, double exposure)
{
	r->nr++;
	r->exposure += exposure;
	r->exposure_squares += exposure * exposure;
}

/* Welford's: sums of squares that nearly cancel lose no digits. */
void spread_add(struct spread *s, double value, double n, double exposure)
{
	const double from_mean = value - s->mean;

	s->min = s->nr ? fmin(s->min, value) : value;
	s->max = s->nr ? fmax(s->max, value) : value;
	s->nr++;
	s->present += value > 0;
	s->sum += value;
	s->mean += from_mean / s->nr;
	s->squares += from_mean * (value - s->mean);
	s->count += n;
	s->weighted += n * n / exposure;
}

double spread_deviation(const struct spread *s)
{
	return s->nr > 1 ? sqrt(s->squares / (s->nr - 1)) : NAN;
}

double spread_range(const struct spread *s)
{
	return s->sum > 0 ? (s->max - s->min) / s->sum : 0;
}

static double chi_squared(const struct spread *s, const struct spread_runs *runs)
{
	return s->weighted * runs->exposure / s->count - s->count;
}

/*
 * An unbiased estimate of the variance between runs, relative to the square of the
 * mean: X² grows by rate × (Σe - Σe²/Σe) for each unit of it. May be below 0 by chance.
 */
static double excess_variance(const struct spread *s, const struct spread_runs *runs)
{
	const double rate = s->count / runs->exposure;
	const double spare = runs->exposure - runs->exposure_squares / runs->exposure;

	return (chi_squared(s, runs) - (runs->nr - 1)) / (rate * spare);
}

static int ascending(const void *va, const void *vb)
{
	const double a = *(const double *)va, b = *(const double *)vb;

	return (a > b) - (a < b);
}

/* The median over the rows that have enough samples. */
static int common_variance(const struct spread *s, size_t nr,
			   const struct spread_runs *runs, double *out)
{
	double *v = calloc(nr + 1, sizeof(*v));
	size_t nr_v = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (runs->nr > 1 && s[i].count >= COMMON_MIN_COUNT * runs->nr)
			v[nr_v++] = excess_variance(&s[i], runs);
	}
	qsort(v, nr_v, sizeof(*v), ascending);
	*out = nr_v ? fmax(0, (v[(nr_v - 1) / 2] + v[nr_v / 2]) / 2) : 0;
	free(v);
	return 0;
}

static bool is_tested(const struct spread *s, const struct spread_runs *runs)
{
	return runs->nr > 1 && s->count >= SPREAD_MIN_COUNT * runs->nr;
}

static void judge(struct spread_test *t, double beyond, double rate)
{
	if (isnan(t->p))
		t->excess = SPREAD_UNTESTED;
	else if (!(t->q <= rate))
		t->excess = SPREAD_CHANCE;
	else
		t->excess = beyond <= rate ? SPREAD_RUNS : SPREAD_SAMPLING;
}

int spread_test(const struct spread *s, size_t nr, const struct spread_runs *runs,
		double rate, struct spread_test *out, double *cv)
{
	double *p = calloc(3 * nr + 1, sizeof(*p)), *beyond = p + nr, *q = beyond + nr;
	double common = 0;
	int err = p ? common_variance(s, nr, runs, &common) : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		const double df = runs->nr - 1.0, mean = s[i].count / runs->nr;
		double x;

		out[i] = (struct spread_test){ .ratio = NAN, .p = NAN, .cv = NAN };
		p[i] = beyond[i] = NAN;
		if (!is_tested(&s[i], runs))
			continue;
		x = chi_squared(&s[i], runs);
		out[i].ratio = x / df;
		out[i].p = p[i] = chi2_above(x, df);
		out[i].cv = sqrt(fmax(0, excess_variance(&s[i], runs)));
		beyond[i] = chi2_above(x / (1 + common * mean), df);
	}
	if (!err)
		err = false_discovery(p, nr, q);
	for (size_t i = 0; i < nr && !err; i++)
		out[i].q = q[i];
	if (!err)
		err = false_discovery(beyond, nr, q);
	for (size_t i = 0; i < nr && !err; i++)
		judge(&out[i], q[i], rate);
	if (!err)
		*cv = sqrt(common);
	free(p);
	return err;
}
