/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distribution.h - tails of the distributions that tests of significance need
 *
 * The relative error is at most 1e-10, or the absolute one 1e-13. NAN in gives NAN out.
 */
#ifndef CPI_ANALYSIS_DISTRIBUTION_H
#define CPI_ANALYSIS_DISTRIBUTION_H

#include <stddef.h>

/* P(X > x) of chi-squared with df > 0 degrees of freedom. */
double chi2_above(double x, double df);

/* P(T > t) of Student's t; df may be INFINITY: the normal distribution. */
double student_above(double t, double df);

/* The t with P(T > t) = p, 0 < p < 1. */
double student_quantile_above(double p, double df);

/* The first and second derivative of the logarithm of the gamma function; x > 0. */
double digamma(double x);
double trigamma(double x);

/* The x > 0 whose trigamma is y > 0. */
double trigamma_inverse(double y);

/*
 * Benjamini and Hochberg: q[i] is the least false discovery rate at which i is found. A
 * p of NAN means not tested: its q is NAN, and it does not count. Returns 0 or -ENOMEM.
 */
int false_discovery(const double *p, size_t nr, double *q);

#endif
