/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distribution.c - incomplete gamma and beta functions, as series and continued
 *                  fractions (Abramowitz and Stegun 6.3 to 6.5, 26.5)
 */
#include "config.h"

#include "analysis/math/distribution.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_TERMS 100000
#define PRECISION 1e-15
#define TINY      1e-300

/* lgamma() proper writes the global signgam. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

struct fraction {
	double f, c, d;
};

/* Lentz's step to the next convergent, f. Returns true once f no longer changes. */
static bool fraction_step(struct fraction *fr, double a, double b)
{
	double step;

	fr->d = b + a * fr->d;
	fr->c = b + a / fr->c;
	fr->d = 1 / (fabs(fr->d) < TINY ? TINY : fr->d);
	fr->c = fabs(fr->c) < TINY ? TINY : fr->c;
	step = fr->c * fr->d;
	fr->f *= step;
	return fabs(step - 1) < PRECISION;
}

/* The lower tail, where it is the smaller: a series. */
static double gamma_below(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int i = 1; i < MAX_TERMS && term > sum * PRECISION; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum * exp(a * log(x) - x - log_gamma(a));
}

static double gamma_above(double a, double x)
{
	const double b = x + 1 - a;
	struct fraction fr = { 1 / b, 1 / TINY, 1 / b };

	for (int i = 1; i < MAX_TERMS; i++) {
		if (fraction_step(&fr, -i * (i - a), b + 2 * i))
			break;
	}
	return fr.f * exp(a * log(x) - x - log_gamma(a));
}

double chi2_above(double x, double df)
{
	const double a = df / 2, half = x / 2;

	if (isnan(x) || isnan(df))
		return NAN;
	if (half <= 0)
		return 1;
	return half < a + 1 ? 1 - gamma_below(a, half) : gamma_above(a, half);
}

/* The regularised incomplete beta function, where the fraction converges fast. */
static double beta_fraction(double x, double a, double b)
{
	struct fraction fr = { 1, 1, 0 };

	fr.d = 1 - (a + b) * x / (a + 1);
	fr.d = 1 / (fabs(fr.d) < TINY ? TINY : fr.d);
	fr.f = fr.d;
	for (int m = 1; m < MAX_TERMS; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd =
			-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		fraction_step(&fr, even, 1);
		if (fraction_step(&fr, odd, 1))
			break;
	}
	return fr.f *
	       exp(a * log(x) + b * log1p(-x) - log_gamma(a) - log_gamma(b) +
		   log_gamma(a + b)) /
	       a;
}

static double beta_below(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x >= 1;
	if (x < (a + 1) / (a + b + 2))
		return beta_fraction(x, a, b);
	return 1 - beta_fraction(1 - x, b, a);
}

/* Beyond so many degrees of freedom it is normal, and gamma functions cancel. */
#define NORMAL_DF 1e7

double student_above(double t, double df)
{
	double tail;

	if (isnan(t) || isnan(df))
		return NAN;
	if (df > NORMAL_DF)
		return erfc(t / sqrt(2)) / 2;
	tail = beta_below(df / (df + t * t), df / 2, 0.5) / 2;
	return t > 0 ? tail : 1 - tail;
}

double student_quantile_above(double p, double df)
{
	double low = 0, high = 1;

	if (p > 0.5)
		return -student_quantile_above(1 - p, df);
	while (student_above(high, df) > p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > PRECISION * high; i++) {
		const double middle = low + (high - low) / 2;

		if (student_above(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

/* The asymptotic series are used from here on; recurrences lead smaller x up to it. */
#define ASYMPTOTIC 15

double digamma(double x)
{
	double sum = 0, r;

	for (; x < ASYMPTOTIC; x++)
		sum -= 1 / x;
	r = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       r * (1. / 12 - r * (1. / 120 - r * (1. / 252 - r * (1. / 240))));
}

double trigamma(double x)
{
	double sum = 0, r;

	for (; x < ASYMPTOTIC; x++)
		sum += 1 / (x * x);
	r = 1 / (x * x);
	return sum + 1 / x + r / 2 +
	       r / x * (1. / 6 - r * (1. / 30 - r * (1. / 42 - r * (1. / 30))));
}

double trigamma_inverse(double y)
{
	double low = 1e-8, high = 1e8;

	for (int i = 0; i < 200 && high / low > 1 + PRECISION; i++) {
		const double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}

struct ordered {
	double p;
	size_t i;
};

static int ascending(const void *va, const void *vb)
{
	const struct ordered *a = va, *b = vb;

	return (a->p > b->p) - (a->p < b->p);
}

int false_discovery(const double *p, size_t nr, double *q)
{
	struct ordered *order = calloc(nr + 1, sizeof(*order));
	size_t tested = 0;
	double least = 1;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		q[i] = NAN;
		if (!isnan(p[i]))
			order[tested++] = (struct ordered){ p[i], i };
	}
	qsort(order, tested, sizeof(*order), ascending);
	for (size_t k = tested; k--;) {
		least = fmin(least, order[k].p * tested / (k + 1));
		q[order[k].i] = least;
	}
	free(order);
	return 0;
}
