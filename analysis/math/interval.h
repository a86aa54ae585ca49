/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interval.h - estimates from samples, with confidence intervals
 *
 * Intervals have a confidence of 95 %.
 */
#ifndef CPI_ANALYSIS_INTERVAL_H
#define CPI_ANALYSIS_INTERVAL_H

#include <stdint.h>

struct interval {
	double value, low, high;
};

/*
 * Estimates how many events have a property from the k samples that have it, each of
 * which stands for period events (MICRO'97 section 5.1). The relative error is 1 /
 * sqrt(k).
 */
struct interval interval_count(uint64_t k, double period);

/* The share k of n; both may be fractions. { NAN, 0, 1 } if n is 0. */
struct interval interval_share(double k, double n);

/* The same with z standard deviations to each side: 1.645 for 90 %. */
struct interval interval_share_at(double k, double n, double z);

/*
 * The ratio k / n of the rates of two independent counts. { NAN, 0, INFINITY } if both
 * are 0; high is INFINITY if n is 0.
 */
struct interval interval_ratio(uint64_t k, uint64_t n);

#endif
