/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * combine.h - one estimate of time out of many tied samples and few random ones
 *
 * Samples at the scheduler's ticks are many, for they cost nothing; but what a timer
 * starts, or what sleeps, meets ticks more or less often than its time says. Random
 * samples are few, and right. Of user mode both say where the same time went:
 *
 * - Each is a Poisson count. The best linear estimate from both weighs each by the
 *   inverse of its variance, time × period: so it is the number of all samples, over
 *   the sum of both rates.
 * - Shares are compared, not times: ticks are scaled to the random samples' time over
 *   the rows on which both agree. So time that one of them did not see as a whole (it
 *   ran for less long, or the tick was late) is nobody's bias.
 * - A row departs if, of its samples, more or fewer are ticks than chance explains: an
 *   exact binomial test, at COMBINE_CONFIDENCE. Then its random samples alone decide.
 *   As many rows depart by chance as the confidence leaves; they lose precision, no
 *   more. What is too small for the test to see stays in.
 */
#ifndef CPI_ANALYSIS_COMBINE_H
#define CPI_ANALYSIS_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMBINE_CONFIDENCE 0.99

struct combine_row {
	double ticks_ns, random_ns; /* Σ count × period, in user mode */
	double time_ns, sigma_ns;   /* out: the estimate and its deviation */
	bool departs;               /* out: ticks are left out */
};

/*
 * Estimates all rows. The periods are what one sample stands for, on average; *scale
 * is what ticks' time was multiplied by. Returns 0; -ENODATA when either has no samples
 * at all, or -ENOMEM: then no row departs, and nothing else is touched.
 */
int combine_rows(struct combine_row *rows, size_t nr, double ticks_period,
		 double random_period, double *scale);

/*
 * The probability that the numbers of both are this far, or farther, to the side of
 * what is expected where each sample is a tick with probability share; both sides
 * together.
 */
double combine_chance(uint64_t ticks, uint64_t random, double share);

#endif
