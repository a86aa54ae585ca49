/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_size.c - the median of ratios
 *
 * In two steps. Runs of one side are brought together by the middle half of their rows,
 * for nothing but chance tells them apart. Then the sides are, by the median, of rates
 * that are means: of single runs' ratios the changed row would be the lowest in all
 * runs of one side and the highest in all of the other, and shift their medians apart.
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

struct ratio {
	double value, weight;
};

static int ascending(const void *va, const void *vb)
{
	const struct ratio *a = va, *b = vb;

	return (a->value > b->value) - (a->value < b->value);
}

/* The mean of what is in the middle part of all weight; a small part: the median. */
static double weighted_middle(struct ratio *r, size_t nr, double part)
{
	double all = 0, before = 0, sum = 0, low, high;

	qsort(r, nr, sizeof(*r), ascending);
	for (size_t i = 0; i < nr; i++)
		all += r[i].weight;
	low = all * (1 - part) / 2;
	high = all * (1 + part) / 2;
	for (size_t i = 0; i < nr; before += r[i++].weight) {
		const double from = fmax(before, low);
		const double to = fmin(before + r[i].weight, high);

		if (to > from)
			sum += (to - from) * r[i].value;
	}
	return sum / (high - low);
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

/* A row's rate in the runs of a side, per unit of the factors; and its samples. */
struct rate {
	double value, n;
};

static struct rate rate_of(const struct compare_input *in, size_t row,
			   enum compare_side side, const double *factor)
{
	double time = 0, size = 0, n = 0;

	for (size_t i = 0; i < in->nr_runs; i++) {
		if (in->run[i].side != side)
			continue;
		time += in->time[row * in->nr_runs + i];
		n += in->time[row * in->nr_runs + i] / in->run[i].sample;
		size += factor[i];
	}
	return (struct rate){ time / size, n };
}

static double weight_of(double n)
{
	return 1 / (1 / n + VARIATION * VARIATION);
}

/* Brings the runs of a side together. */
static void fit_runs(const struct compare_input *in, enum compare_side side,
		     const size_t *row, size_t nr_rows, struct ratio *ratio,
		     double *rate, double *factor)
{
	for (size_t k = 0; k < nr_rows; k++)
		rate[k] = rate_of(in, row[k], side, factor).value;
	for (size_t i = 0; i < in->nr_runs; i++) {
		size_t nr = 0;

		for (size_t k = 0; k < nr_rows && in->run[i].side == side; k++) {
			const double n = rate[k] * factor[i] / in->run[i].sample;

			if (rate[k] > 0)
				ratio[nr++] = (struct ratio){
					in->time[row[k] * in->nr_runs + i] / rate[k],
					weight_of(n)
				};
		}
		if (nr)
			factor[i] = fmax(weighted_middle(ratio, nr, 0.5), 1e-9);
	}
}

/* Brings a side to A. */
static void fit_side(const struct compare_input *in, enum compare_side side,
		     const size_t *row, size_t nr_rows, struct ratio *ratio,
		     double *factor)
{
	size_t nr = 0;
	double by;

	for (size_t k = 0; k < nr_rows; k++) {
		const struct rate a = rate_of(in, row[k], COMPARE_A, factor);
		const struct rate b = rate_of(in, row[k], side, factor);

		if (b.value > 0)
			ratio[nr++] =
				(struct ratio){ log(b.value / a.value),
						weight_of(a.n * b.n / (a.n + b.n)) };
	}
	by = nr ? exp(weighted_middle(ratio, nr, 1e-9)) : 1;
	for (size_t i = 0; i < in->nr_runs; i++)
		factor[i] *= in->run[i].side == side ? by : 1;
}

int compare_size_factors(const struct compare_input *in, double *factor,
			 bool *by_median)
{
	size_t *row = calloc(in->nr_rows + 1, sizeof(*row)), nr = 0;
	double *rate = calloc(in->nr_rows + 1, sizeof(*rate));
	struct ratio *ratio = calloc(in->nr_rows + 1, sizeof(*ratio));
	int err = row && rate && ratio ? 0 : -ENOMEM;

	for (size_t i = 0; i < in->nr_rows && !err; i++) {
		if (is_common(in, i))
			row[nr++] = i;
	}
	for (size_t i = 0; i < in->nr_runs; i++)
		factor[i] = in->run[i].seconds;
	normalize(factor, in->nr_runs);
	if (!err)
		*by_median = nr >= MIN_ROWS;
	if (!err && *by_median) {
		for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++)
			fit_runs(in, side, row, nr, ratio, rate, factor);
		fit_side(in, COMPARE_B, row, nr, ratio, factor);
		fit_side(in, COMPARE_EARLIER, row, nr, ratio, factor);
		normalize(factor, in->nr_runs);
	}
	free(row);
	free(rate);
	free(ratio);
	return err;
}
