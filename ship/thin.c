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

static uint64_t draw_many(uint64_t *state, uint64_t n)
{
	const double p = 1.0 / THIN_BY, mean = (double)n * p;
	const double drawn = round(mean + sqrt(mean * (1 - p)) * normal(state));

	if (drawn <= 0)
		return 0;
	return drawn >= (double)n ? n : (uint64_t)drawn;
}

uint64_t thin_draw(uint64_t *state, uint64_t n)
{
	uint64_t kept = 0;

	if (n >= MOST_DRAWN)
		return draw_many(state, n);
	while (n--)
		kept += next(state) < UINT64_MAX / THIN_BY;
	return kept;
}
