/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interval.h - what samples say of all, and how far off that may be
 *
 * The true value is in an interval in 95 of 100 cases.
 */
#ifndef CPI_ANALYSIS_INTERVAL_H
#define CPI_ANALYSIS_INTERVAL_H

#include <stdint.h>

struct interval {
	double value, low, high;
};

/*
 * kS: k samples, one of period, that have a property stand for so many that have it
 * (MICRO'97 section 5.1). The error of the value is 1 / sqrt(k) of it.
 */
struct interval interval_count(uint64_t k, double period);

/* The share k of n, which may be parts of samples; NAN, 0, 1 where n is 0. */
struct interval interval_share(double k, double n);

#endif
