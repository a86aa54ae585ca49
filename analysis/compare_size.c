/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_size.c - the median of ratios
 *
 * A row weighs what its ratio is worth: the inverse of its sampling variance and of one
 * percent of variation. Thus a hundred rows of ten samples do not outvote five of ten
 * thousand, nor does the busiest one decide alone.
 */
#include "config.h"

#include "analysis/compare_size.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MIN_ROWS  3
#define MIN_COUNT 10 /* samples in the mean of a side's runs */
#define VARIATION 0.01
#define NR_STEPS  3

struct ratio {
	double value, weight;
};

static int ascending(const void *va, const void *vb)
{
	const struct ratio *a = va, *b = vb;

	return (a->value > b->value) - (a->value < b->value);
}

static double weighted_median(struct ratio *r, size_t nr)
{
	double half = 0, sum = 0;
	size_t i = 0;

	qsort(r, nr, sizeof(*r), ascending);
	for (size_t k = 0; k < nr; k++)
		half += r[k].weight / 2;
	while (i + 1 < nr && sum + r[i].weight < half * (1 - 1e-12))
		sum += r[i++].weight;
	/* The half lies between two rows: between their values, then. */
	if (i + 1 < nr && sum + r[i].weight < half * (1 + 1e-12))
		return (r[i].value + r[i + 1].value) / 2;
	return r[i].value;
}

/* Whether a row has samples enough on both sides. */
static bool is_common(const struct compare_input *in, size_t row)
{
	double n[COMPARE_NR_SIDES] = { 0 };
	size_t runs[COMPARE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++) {
		n[in->run[i].side] +=
			in->time[row * in->nr_runs + i] / in->run[i].sample;
		runs[in->run[i].side]++;
	}
	return n[COMPARE_A] >= MIN_COUNT * runs[COMPARE_A] &&
	       n[COMPARE_B] >= MIN_COUNT * runs[COMPARE_B];
}

static void normalize(double *factor, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += log(factor[i]) / nr;
	for (size_t i = 0; i < nr; i++)
		factor[i] /= exp(sum);
}

/* A row's mean, per unit of the factors. */
static double mean_of(const struct compare_input *in, size_t row, const double *factor)
{
	double time = 0, size = 0;

	for (size_t i = 0; i < in->nr_runs; i++) {
		time += in->time[row * in->nr_runs + i];
		size += factor[i];
	}
	return time / size;
}

/* Better factors from those before. */
static void refine(const struct compare_input *in, const size_t *row, size_t nr_rows,
		   double *mean, struct ratio *ratio, double *factor)
{
	for (size_t k = 0; k < nr_rows; k++)
		mean[k] = mean_of(in, row[k], factor);
	for (size_t i = 0; i < in->nr_runs; i++) {
		for (size_t k = 0; k < nr_rows; k++) {
			const double expected = mean[k] * factor[i] / in->run[i].sample;

			ratio[k].value = in->time[row[k] * in->nr_runs + i] / mean[k];
			ratio[k].weight = 1 / (1 / expected + VARIATION * VARIATION);
		}
		factor[i] = fmax(weighted_median(ratio, nr_rows), 1e-9);
	}
	normalize(factor, in->nr_runs);
}

int compare_size_factors(const struct compare_input *in, double *factor,
			 bool *by_median)
{
	size_t *row = calloc(in->nr_rows + 1, sizeof(*row)), nr = 0;
	double *mean = calloc(in->nr_rows + 1, sizeof(*mean));
	struct ratio *ratio = calloc(in->nr_rows + 1, sizeof(*ratio));
	int err = row && mean && ratio ? 0 : -ENOMEM;

	for (size_t i = 0; i < in->nr_rows && !err; i++) {
		if (is_common(in, i))
			row[nr++] = i;
	}
	for (size_t i = 0; i < in->nr_runs; i++)
		factor[i] = in->run[i].seconds;
	normalize(factor, in->nr_runs);
	if (!err)
		*by_median = nr >= MIN_ROWS;
	for (int step = 0; step < NR_STEPS && !err && *by_median; step++)
		refine(in, row, nr, mean, ratio, factor);
	free(row);
	free(mean);
	free(ratio);
	return err;
}
