/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_prior.c - the likeliest mixture of variances, by expectation maximization
 *
 * A row's own variance is chi-squared around its true one. The likelihood is concave in
 * the weights, so that each step leads towards the one maximum; after some tens of
 * steps p-values no longer change.
 */
#include "config.h"

#include "analysis/compare/compare_prior.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Variances outside are taken for these: no row varies so little or so much. */
#define LEAST_VARIANCE 1e-6
#define MOST_VARIANCE  1e6
#define STEPS          60

/* The likelihood of the grid's variances, the greatest being 1. */
static void likelihoods(const struct compare_prior *p, double variance, double df,
			double out[COMPARE_PRIOR_SIZE])
{
	const double seen = fmin(fmax(variance, LEAST_VARIANCE), MOST_VARIANCE);
	double most = -INFINITY;

	for (size_t k = 0; k < p->nr; k++) {
		out[k] = -df / 2 * (log(p->scale[k]) + seen / p->scale[k]);
		most = fmax(most, out[k]);
	}
	for (size_t k = 0; k < p->nr; k++)
		out[k] = exp(out[k] - most);
}

/* Multiplies by the weights and divides by the sum. */
static void weigh(const struct compare_prior *p, double likelihood[COMPARE_PRIOR_SIZE])
{
	double sum = 0;

	for (size_t k = 0; k < p->nr; k++)
		sum += likelihood[k] *= p->weight[k];
	for (size_t k = 0; k < p->nr; k++)
		likelihood[k] = sum > 0 ? likelihood[k] / sum : p->weight[k];
}

/* Equal steps of the logarithm, from the least to the greatest of the variances. */
static void make_grid(struct compare_prior *p, const double *variance, size_t nr)
{
	double low = MOST_VARIANCE, high = LEAST_VARIANCE;

	for (size_t i = 0; i < nr; i++) {
		low = fmin(low, fmax(variance[i], LEAST_VARIANCE));
		high = fmax(high, fmin(variance[i], MOST_VARIANCE));
	}
	high = fmax(high, low);
	p->nr = COMPARE_PRIOR_SIZE;
	for (size_t k = 0; k < p->nr; k++) {
		p->scale[k] = low * pow(high / low, k / (p->nr - 1.0));
		p->weight[k] = 1.0 / p->nr;
	}
}

int compare_prior_fit(const double *variance, const double *df, size_t nr,
		      struct compare_prior *out)
{
	double *likelihood = calloc(nr + 1, COMPARE_PRIOR_SIZE * sizeof(*likelihood));
	struct compare_prior p = { .nr = 0 };

	if (!likelihood)
		return -ENOMEM;
	if (nr)
		make_grid(&p, variance, nr);
	for (size_t i = 0; i < nr; i++)
		likelihoods(&p, variance[i], df[i],
			    likelihood + i * COMPARE_PRIOR_SIZE);
	for (int step = 0; step < STEPS && nr; step++) {
		double sum[COMPARE_PRIOR_SIZE] = { 0 }, one[COMPARE_PRIOR_SIZE];

		for (size_t i = 0; i < nr; i++) {
			for (size_t k = 0; k < p.nr; k++)
				one[k] = likelihood[i * COMPARE_PRIOR_SIZE + k];
			weigh(&p, one);
			for (size_t k = 0; k < p.nr; k++)
				sum[k] += one[k] / nr;
		}
		for (size_t k = 0; k < p.nr; k++)
			p.weight[k] = sum[k];
	}
	free(likelihood);
	*out = p;
	return 0;
}

void compare_prior_posterior(const struct compare_prior *p, double variance, double df,
			     double weight[COMPARE_PRIOR_SIZE])
{
	likelihoods(p, variance, df, weight);
	weigh(p, weight);
}
