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

/*
 * W. Hörmann, The transformed rejection method for generating Poisson random variables,
 * Insurance: Mathematics and Economics 12 (1993), algorithm PTRS: exact, from a mean of
 * 10 on, in a time that does not grow with it.
 */
static inline double random_poisson_large(uint64_t *state, double mean)
{
	const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
	const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
	const double accepted = 0.9277 - 3.6224 / (b - 2);

	for (;;) {
		const double u = random_uniform(state) - 0.5, v = random_uniform(state);
		const double edge = 0.5 - fabs(u);
		const double n = floor((2 * a / edge + b) * u + mean + 0.43);

		if (edge >= 0.07 && v <= accepted)
			return n;
		if (n < 0 || (edge < 0.013 && v > edge))
			continue;
		if (log(v * inverse_alpha / (a / (edge * edge) + b)) <=
		    n * log(mean) - mean - lgamma(n + 1))
			return n;
	}
}

static inline double random_poisson(uint64_t *state, double mean)
{
	double product = random_uniform(state), n = 0;

	if (mean >= 10)
		return random_poisson_large(state, mean);
	for (; product > exp(-mean); product *= random_uniform(state))
		n++;
	return n;
}

#endif
