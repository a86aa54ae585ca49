/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thin.c - binomial draws
 */
#include "config.h"

#include "ship/thin.h"

#include <math.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/times.h"
#include "db/clickhouse/thin.h"

#define MOST_DRAWN 65536
#define STEP       0x9e3779b97f4a7c15 /* splitmix64's */

static uint64_t next(uint64_t *state)
{
	*state += STEP;
	return hash_u64(*state);
}

/* Above 0, below 1. */
static double uniform(uint64_t *state)
{
	return ((double)(next(state) >> 12) + 0.5) * 0x1p-52;
}

/* Box and Muller. */
static double normal(uint64_t *state)
{
	const double r = sqrt(-2 * log(uniform(state)));

	return r * cos(2 * M_PI * uniform(state));
}

uint64_t thin_seed(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = time_real_ns();
	return n;
}

/* Of the normal distribution, not less than least, nor more than most. */
static uint64_t draw_normal(uint64_t *state, double mean, double variance,
			    uint64_t least, uint64_t most)
{
	const double drawn =
		round(mean + sqrt(variance > 0 ? variance : 0) * normal(state));

	if (!(drawn > (double)least))
		return least;
	return drawn >= (double)most ? most : (uint64_t)drawn;
}

uint64_t thin_draw_of(uint64_t *state, uint64_t n, uint64_t by)
{
	const double p = 1 / (double)by;
	uint64_t kept = 0;

	if (by == 1)
		return n;
	if (n >= MOST_DRAWN)
		return draw_normal(state, (double)n * p, (double)n * p * (1 - p), 0, n);
	while (n--)
		kept += next(state) < UINT64_MAX / by;
	return kept;
}

uint64_t thin_draw(uint64_t *state, uint64_t n)
{
	return thin_draw_of(state, n, THIN_BY);
}

/* Knuth, The Art of Computer Programming, section 3.4.2, algorithm S. */
static uint64_t draw_each(uint64_t *state, uint64_t n, uint64_t all, uint64_t kept)
{
	const uint64_t before = kept;

	for (; n && kept; n--, all--)
		kept -= uniform(state) * (double)all < (double)kept;
	return before - kept;
}

uint64_t thin_draw_among(uint64_t *state, uint64_t n, uint64_t all, uint64_t kept)
{
	const double p = (double)kept / (double)all, part = (double)n / (double)all;

	if (!n || !kept)
		return 0;
	if (kept >= all || n >= all) /* all are kept, or n is all */
		return kept < n ? kept : n;
	if (all < MOST_DRAWN)
		return draw_each(state, n, all, kept);
	return draw_normal(state, (double)n * p, (double)n * p * (1 - p) * (1 - part),
			   kept > all - n ? kept - (all - n) : 0, kept < n ? kept : n);
}
