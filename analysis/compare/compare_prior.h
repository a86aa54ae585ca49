/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_prior.h - how much rows vary: a mixture of variances, learned from all rows
 *
 * Some rows are steady from run to run, others come in bursts. A single typical
 * variance would describe neither, and a steady row shrunk towards it could never be
 * seen to change. So the prior is a distribution over a grid of variances, without a
 * shape: the one that makes the rows' own variances likeliest (the NPMLE of Ignatiadis
 * and Sen, Empirical partially Bayes multiple testing and compound chi-squared
 * decisions, 2023). A row is then shrunk towards the rows that vary about as it does.
 */
#ifndef CPI_ANALYSIS_COMPARE_PRIOR_H
#define CPI_ANALYSIS_COMPARE_PRIOR_H

#include <stddef.h>

#define COMPARE_PRIOR_SIZE 64

struct compare_prior {
	size_t nr; /* 0: no rows tell; else COMPARE_PRIOR_SIZE */
	double scale[COMPARE_PRIOR_SIZE];
	double weight[COMPARE_PRIOR_SIZE]; /* sum 1 */
};

/*
 * Learns from nr variances, each with its degrees of freedom, above 0. Returns 0 or
 * -ENOMEM.
 */
int compare_prior_fit(const double *variance, const double *df, size_t nr,
		      struct compare_prior *out);

/*
 * Fills weight with the posterior of the grid, given a row's own variance with df
 * degrees of freedom; 0 means that nothing is known of the row. p->nr is not 0.
 */
void compare_prior_posterior(const struct compare_prior *p, double variance, double df,
			     double weight[COMPARE_PRIOR_SIZE]);

#endif
