/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random.h - random numbers as samples come: uniform, normal, Poisson's
 */
#ifndef CPI_T_UNIT_RANDOM_H
#define CPI_T_UNIT_RANDOM_H

#include <math.h>

#include "t/unit/unit.h"

static inline double random_uniform(uint64_t *state)
{
	return (unit_random(state) >> 11) * 0x1p-53;
}

static inline double random_normal(uint64_t *state)
{
	const double r = sqrt(-2 * log(1 - random_uniform(state)));

	return r * cos(2 * M_PI * random_uniform(state));
}

/* Large means in parts, whose exponentials do not vanish. */
static inline double random_poisson(uint64_t *state, double mean)
{
	double n = 0;

	for (; mean > 0; mean -= 500) {
		const double least = exp(-fmin(mean, 500));
		double product = random_uniform(state);

		for (; product > least; product *= random_uniform(state))
			n++;
	}
	return n;
}

#endif
