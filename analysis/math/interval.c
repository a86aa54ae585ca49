/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interval.c - Poisson's and Wilson's intervals
 *
 * Of two Poisson counts, the first is binomial in their sum (Przyborowski and Wilenski
 * 1940): so the interval of the share gives that of the ratio.
 *
 * Deviation from the paper: it gives the coefficient of variation, 1 / sqrt(k), which
 * does not give an interval for small k. This file uses Byar's approximation of the
 * exact Poisson interval.
 */
#include "config.h"

#include "analysis/math/interval.h"

#include <math.h>

#define Z 1.959963984540054 /* of 95 % */

/* Breslow and Day 1987, section 2.3; sqrt(1 - 1/S) for S that is not large. */
struct interval interval_count(uint64_t k, double period)
{
	const double above = k + 1.0, finite = sqrt(fmax(1 - 1 / period, 0));
	const double low = k ? k * pow(1 - 1 / (9.0 * k) - Z / (3 * sqrt(k)), 3) : 0;
	const double high = above * pow(1 - 1 / (9 * above) + Z / (3 * sqrt(above)), 3);

	return (struct interval){ k * period, (k - (k - low) * finite) * period,
				  (k + (high - k) * finite) * period };
}

/* Wilson 1927: right near 0 and 1, too. */
struct interval interval_share_at(double k, double n, double z)
{
	const double p = k / n, z2n = z * z / n;
	const double middle = (p + z2n / 2) / (1 + z2n);
	const double half = z * sqrt(p * (1 - p) / n + z2n / (4 * n)) / (1 + z2n);

	if (!(n > 0))
		return (struct interval){ NAN, 0, 1 };
	return (struct interval){ p, k > 0 ? fmax(middle - half, 0) : 0,
				  k < n ? fmin(middle + half, 1) : 1 };
}

struct interval interval_share(double k, double n)
{
	return interval_share_at(k, n, Z);
}

struct interval interval_ratio(uint64_t k, uint64_t n)
{
	const struct interval p = interval_share((double)k, (double)k + (double)n);

	return (struct interval){
		n   ? (double)k / (double)n
		: k ? INFINITY
		    : NAN,
		p.low / (1 - p.low),
		n ? p.high / (1 - p.high) : INFINITY,
	};
}
