/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * combine.h - one estimate of time from many scheduler ticks and few random samples
 *
 * Samples at the scheduler's ticks cost nothing, so there are many of them. But code
 * that a timer starts, or that sleeps, meets ticks more or less often than its time
 * suggests. Random samples are few, but unbiased. Both measure the same time:
 *
 * - Both counts follow a Poisson distribution. The best linear estimate weighs each by
 *   the inverse of its variance; the variance is time × period. So the estimate is
 *   (samples of both kinds) / (sum of both rates).
 * - Shares are compared, not times: ticks are scaled to the random samples' time, over
 *   the rows on which both agree. So it does no harm if ticks, or random samples,
 *   missed a part of the time in all rows alike, because they ran for a shorter time or
 *   the tick was late.
 * - A row departs if more or fewer of its samples are ticks than chance explains: an
 *   exact binomial test, at COMBINE_CONFIDENCE. Then its random samples alone decide.
 *   Some rows depart by chance; they only lose precision. A bias that is too small for
 *   the test to see remains.
 */
#ifndef CPI_ANALYSIS_COMBINE_H
#define CPI_ANALYSIS_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMBINE_CONFIDENCE 0.99

/*
 * Weights of the ticks' and the random samples' nanoseconds in a row that does not
 * depart: the row's time is ticks × ticks_ns + random × random_ns.
 */
struct combine_factors {
	double ticks, random;
};

struct combine_row {
	double ticks_ns, random_ns; /* Σ count × period */
	double time_ns, sigma_ns;   /* out: the estimate and its deviation */
	bool departs;               /* out: ticks are left out */
};

/*
 * Estimates all rows. A period is the time that one sample stands for, on average.
 * *scale gets the factor for the ticks' time. Returns 0; -ENODATA if there are no ticks
 * or no random samples; or -ENOMEM. On failure no row departs, and nothing else is
 * touched.
 */
int combine_rows(struct combine_row *rows, size_t nr, double ticks_period,
		 double random_period, double *scale);

/* The factors at a scale that combine_rows() found, for the same periods. */
struct combine_factors combine_factors(double ticks_period, double random_period,
				       double scale);

/*
 * The two-sided probability of numbers at least this far from the expected ones, if
 * each sample is a tick with probability share.
 */
double combine_chance(uint64_t ticks, uint64_t random, double share);

#endif
