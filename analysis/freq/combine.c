/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * combine.c - one estimate of time from many ticks and few random samples
 *
 * The scale starts as the weighted median of the rows' own ratios (random time over
 * ticks' time). Rows that depart cannot move this median as long as most of the time is
 * in other rows. After that the scale is the ratio over the rows that agree, computed
 * again until the same rows agree.
 */
#include "config.h"

#include "analysis/freq/combine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_ROUNDS 16

/* For more samples the normal distribution is close enough, and is used instead. */
#define MAX_EXACT 2000

struct combined_ratio {
	double value, weight;
};

static double log_choose(uint64_t n, uint64_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) -
	       lgamma((double)(n - k) + 1);
}

/* The tail of k: P(X <= k) for k below the mean, else P(X >= k). */
static double exact_tail(uint64_t n, uint64_t k, double share)
{
	const bool low = (double)k < (double)n * share;
	double sum = 0;

	for (uint64_t i = low ? 0 : k; i <= (low ? k : n); i++)
		sum += exp(log_choose(n, i) + (double)i * log(share) +
			   (double)(n - i) * log1p(-share));
	return sum;
}

static double normal_tail(uint64_t n, uint64_t k, double share)
{
	double sigma = sqrt((double)n * share * (1 - share));
	double distance = fabs((double)k - (double)n * share) - 0.5;

	return distance > 0 ? erfc(distance / sigma / sqrt(2)) / 2 : 0.5;
}

double combine_chance(uint64_t ticks, uint64_t random, double share)
{
	uint64_t n = ticks + random;
	double tail = n <= MAX_EXACT ? exact_tail(n, ticks, share)
				     : normal_tail(n, ticks, share);

	return tail < 0.5 ? 2 * tail : 1;
}

static bool departs(const struct combine_row *r, double ticks_period,
		    double random_period, double scale)
{
	uint64_t ticks = (uint64_t)llround(r->ticks_ns / ticks_period);
	uint64_t random = (uint64_t)llround(r->random_ns / random_period);
	double share = random_period / (ticks_period * scale + random_period);

	return combine_chance(ticks, random, share) < 1 - COMBINE_CONFIDENCE;
}

static int compare_ratios(const void *a, const void *b)
{
	double x = ((const struct combined_ratio *)a)->value;
	double y = ((const struct combined_ratio *)b)->value;

	return x < y ? -1 : x > y;
}

/* The initial scale. 0 or -ENOMEM. */
static int median_scale(const struct combine_row *rows, size_t nr, double *out)
{
	struct combined_ratio *ratios = calloc(nr, sizeof(*ratios));
	double all = 0, below = 0;
	size_t i = 0;

	if (!ratios)
		return -ENOMEM;
	for (size_t k = 0; k < nr; k++) {
		double ticks = rows[k].ticks_ns, random = rows[k].random_ns;

		ratios[k].value = ticks > 0 ? random / ticks : INFINITY;
		ratios[k].weight = ticks + random;
		all += ratios[k].weight;
	}
	qsort(ratios, nr, sizeof(*ratios), compare_ratios);
	while (i + 1 < nr && below + ratios[i].weight < all / 2)
		below += ratios[i++].weight;
	*out = ratios[i].value;
	free(ratios);
	return 0;
}

/* Random time over ticks' time of the rows that do not depart; 0: one is missing. */
static double ratio_of(const struct combine_row *rows, size_t nr)
{
	double ticks = 0, random = 0;

	for (size_t i = 0; i < nr; i++) {
		ticks += rows[i].departs ? 0 : rows[i].ticks_ns;
		random += rows[i].departs ? 0 : rows[i].random_ns;
	}
	return ticks > 0 ? random / ticks : 0;
}

/* Marks the rows that depart at this scale. Returns how many marks changed. */
static size_t mark_departing(struct combine_row *rows, size_t nr, double ticks_period,
			     double random_period, double scale)
{
	size_t changed = 0;

	for (size_t i = 0; i < nr; i++) {
		bool now = departs(&rows[i], ticks_period, random_period, scale);

		changed += now != rows[i].departs;
		rows[i].departs = now;
	}
	return changed;
}

struct combine_factors combine_factors(double ticks_period, double random_period,
				       double scale)
{
	const double rate = 1 / (ticks_period * scale) + 1 / random_period;

	return (struct combine_factors){ 1 / (ticks_period * rate),
					 1 / (random_period * rate) };
}

static void estimate_row(struct combine_row *r, double random_period,
			 const struct combine_factors *f)
{
	if (r->departs) {
		r->time_ns = r->random_ns;
		r->sigma_ns = sqrt(r->random_ns * random_period);
		return;
	}
	/* A tick and a random sample stand for the same time here. */
	r->time_ns = f->ticks * r->ticks_ns + f->random * r->random_ns;
	r->sigma_ns = sqrt(r->time_ns * f->random * random_period);
}

int combine_rows(struct combine_row *rows, size_t nr, double ticks_period,
		 double random_period, double *scale)
{
	struct combine_factors factors;
	double all, now, next;
	int err;

	for (size_t i = 0; i < nr; i++)
		rows[i].departs = false;
	all = ratio_of(rows, nr);
	if (!(all > 0))
		return -ENODATA;
	err = median_scale(rows, nr, &now);
	if (err)
		return err;
	if (!(now > 0) || !isfinite(now))
		now = all; /* few rows have both */
	for (int i = 0; i < MAX_ROUNDS; i++) {
		if (!mark_departing(rows, nr, ticks_period, random_period, now) && i)
			break;
		next = ratio_of(rows, nr);
		if (!(next > 0))
			break; /* no row agrees, so the median stays */
		now = next;
	}
	factors = combine_factors(ticks_period, random_period, now);
	for (size_t i = 0; i < nr; i++)
		estimate_row(&rows[i], random_period, &factors);
	*scale = now;
	return 0;
}
