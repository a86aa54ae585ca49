/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weighted.h - quantiles of values that have weights
 *
 * The functions sort the array by value. Weights are not negative.
 */
#ifndef CPI_ANALYSIS_WEIGHTED_H
#define CPI_ANALYSIS_WEIGHTED_H

#include <stddef.h>

struct weighted_value {
	double value, weight;
};

void weighted_sort(struct weighted_value *v, size_t nr);

/*
 * The smallest value up to which at least this share of all weight is; the largest
 * value if rounding leaves none. NAN if there is no value.
 */
double weighted_quantile(struct weighted_value *v, size_t nr, double share);

/*
 * The median: if two values divide the weight exactly in half, their mean. 0 if there
 * is no value.
 */
double weighted_median(struct weighted_value *v, size_t nr);

#endif
