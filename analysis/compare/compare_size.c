/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_size.c - size factors by the median of ratios
 *
 * There are two steps. Runs of one side differ only by chance, so each run's factor is
 * the median of its rows' ratios to the rates of its side. Then the factor between the
 * sides is the median of the ratios of their rates. A median over single runs would not
 * do: a changed row has the lowest ratios in all runs of one side and the highest in
 * all runs of the other, which would shift the medians.
 *
 * A row's weight is the inverse of its variance. The variance follows from the row's
 * scatter around the factors of the runs, and the factors follow from the weighted
 * rows, so both are computed in turns. Rows that wait for memory may vary together by
 * ten percent, because other machines share a cache; rows that compute vary by half a
 * percent and tell best how much work a run did. No row has more than a third of all
 * weight, so a single changed row can always be outvoted. A row with much weight is
 * tested with factors from the other rows, because its own would hide a part of its
 * change and of its variance.
 */
#include "config.h"

#include "analysis/compare/compare_size.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/math/weighted.h"

#define MIN_ROWS  3
#define MIN_COUNT 10 /* fewest samples, in the mean of a side's runs */
/* Only the busiest rows; more would be slower and change little. */
#define MAX_ROWS 1000
/*
 * The prior of a row's standard deviation, and the degrees of freedom that it is worth.
 */
#define VARIATION   0.01
#define GUESS_DF    2
#define PASSES      6
#define MAX_PART    (1.0 / 3)
#define LIMIT_STEPS 50 /* iterations towards a fixed point */
/* A share of all weight; a row above it is tested with factors of the other rows. */
#define MUCH 0.1

struct compare_size {
	const struct compare_input *in;
	size_t nr;
	size_t *row;    /* nr, in the input */
	double *weight; /* by those */
	double *rate;   /* the same, of A, B, … in turn: per unit of the factors */
	struct weighted_value *ratio; /* room */
	double *part;                 /* for the weights without one row */
	double *factor;               /* by run */
	double *factor_for;           /* the same, for one row */
	double df;                    /* the degrees of freedom of a row's scatter */
	bool has_doubt; /* down and up, of rows without much weight, are known */
	double down, up;
};

/* The samples of a row, in the mean of a side's runs. */
static double mean_count(const struct compare_input *in, size_t row,
			 enum compare_side side)
{
	double n = 0;
	size_t runs = 0;

	for (size_t i = 0; i < in->nr_runs; i++) {
		if (in->run[i].side != side)
			continue;
		n += in->time[row * in->nr_runs + i] / compare_sample(in, row, i);
		runs++;
	}
	return runs ? n / runs : 0;
}

static void normalize(double *factor, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += log(factor[i]) / nr;
	for (size_t i = 0; i < nr; i++)
		factor[i] /= exp(sum);
}

static double *rate_of(const struct compare_size *s, size_t k, enum compare_side side)
{
	return &s->rate[k * COMPARE_NR_SIDES + side];
}

static void find_rates(struct compare_size *s)
{
	const struct compare_input *in = s->in;
	double size[COMPARE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++)
		size[in->run[i].side] += s->factor[i];
	memset(s->rate, 0, s->nr * COMPARE_NR_SIDES * sizeof(*s->rate));
	for (size_t k = 0; k < s->nr; k++) {
		for (size_t i = 0; i < in->nr_runs; i++)
			*rate_of(s, k, in->run[i].side) +=
				in->time[s->row[k] * in->nr_runs + i] /
				size[in->run[i].side];
	}
}

/*
 * The logarithm of a row's time over its side's rate. Adds half a sample, so that a row
 * without samples has one.
 */
static double log_ratio(const struct compare_size *s, size_t k, size_t run)
{
	const struct compare_run *r = &s->in->run[run];
	const double half = compare_sample(s->in, s->row[k], run) / 2;

	return log((s->in->time[s->row[k] * s->in->nr_runs + run] + half) /
		   (*rate_of(s, k, r->side) + half));
}

/*
 * Fills part with the weights of all rows but k and l; none exceeds MAX_PART of their
 * sum.
 */
static void part_weights(struct compare_size *s, size_t k, size_t l)
{
	const size_t out = (k < s->nr) + (l < s->nr && l != k);
	const double most = fmax(MAX_PART, 1.0 / (s->nr - out));
	double limit = INFINITY, sum = 0;

	for (int i = 0; i < LIMIT_STEPS && most * sum < limit; i++) {
		limit = i ? most * sum : limit;
		sum = 0;
		for (size_t j = 0; j < s->nr; j++)
			sum += j == k || j == l ? 0 : fmin(s->weight[j], limit);
	}
	for (size_t j = 0; j < s->nr; j++)
		s->part[j] = j == k || j == l ? 0 : fmin(s->weight[j], limit);
}

/* The median over rows, weighted by part, of a side's rates over A's. */
static double side_ratio(struct compare_size *s, enum compare_side side)
{
	size_t nr = 0;

	for (size_t k = 0; k < s->nr; k++) {
		const double a = *rate_of(s, k, COMPARE_A), b = *rate_of(s, k, side);

		if (a > 0 && b > 0 && s->part[k] > 0)
			s->ratio[nr++] =
				(struct weighted_value){ log(b / a), s->part[k] };
	}
	return nr ? exp(weighted_median(s->ratio, nr)) : 1;
}

/*
 * Computes the factors without row k: of runs to their side's rates, then of sides to
 * A.
 */
static void fit(struct compare_size *s, size_t k, double *factor)
{
	const struct compare_input *in = s->in;
	double by[COMPARE_NR_SIDES];

	part_weights(s, k, s->nr);
	for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++)
		by[side] = side_ratio(s, side);
	for (size_t i = 0; i < in->nr_runs; i++) {
		const enum compare_side side = in->run[i].side;
		size_t nr = 0;

		for (size_t j = 0; j < s->nr; j++) {
			if (s->part[j] > 0 && *rate_of(s, j, side) > 0)
				s->ratio[nr++] =
					(struct weighted_value){ log_ratio(s, j, i),
								 s->part[j] };
		}
		factor[i] = exp(weighted_median(s->ratio, nr)) * by[side];
	}
	normalize(factor, in->nr_runs);
}

/*
 * Computes the weights from the scatter of rows within sides, around the factors of
 * runs.
 */
static void weigh(struct compare_size *s)
{
	const struct compare_input *in = s->in;

	for (size_t k = 0; k < s->nr; k++) {
		double sum[COMPARE_NR_SIDES] = { 0 }, squares = 0, n = 0;
		size_t nr[COMPARE_NR_SIDES] = { 0 };

		for (size_t i = 0; i < in->nr_runs; i++) {
			const double d = log_ratio(s, k, i) - log(s->factor[i]);

			squares += d * d;
			sum[in->run[i].side] += d;
			nr[in->run[i].side]++;
			n += in->time[s->row[k] * in->nr_runs + i] /
			     compare_sample(in, s->row[k], i) / in->nr_runs;
		}
		for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++)
			squares -= nr[side] ? sum[side] * sum[side] / nr[side] : 0;
		squares = fmax(squares, 0) + GUESS_DF * VARIATION * VARIATION;
		s->weight[k] = 1 / fmax(squares / (s->df + GUESS_DF), 1 / n);
	}
}

/* Selects the busiest rows that both sides have. */
static void choose_rows(struct compare_size *s)
{
	const struct compare_input *in = s->in;
	size_t nr = 0;

	for (size_t row = 0; row < in->nr_rows; row++) {
		const double a = mean_count(in, row, COMPARE_A);
		const double b = mean_count(in, row, COMPARE_B);

		if (a >= MIN_COUNT && b >= MIN_COUNT)
			s->ratio[nr++] = (struct weighted_value){ -(a + b), row };
	}
	weighted_sort(s->ratio, nr);
	s->nr = nr < MAX_ROWS ? nr : MAX_ROWS;
	for (size_t k = 0; k < s->nr; k++) {
		s->row[k] = s->ratio[k].weight;
		s->weight[k] = 1 / (1 / -s->ratio[k].value + VARIATION * VARIATION);
	}
}

static void fit_all(struct compare_size *s)
{
	const struct compare_input *in = s->in;
	size_t nr[COMPARE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++) {
		s->factor[i] = in->run[i].seconds;
		s->df += nr[in->run[i].side]++ > 0;
	}
	normalize(s->factor, in->nr_runs);
	choose_rows(s);
	for (int i = 0; i < PASSES && s->nr >= MIN_ROWS; i++) {
		find_rates(s);
		weigh(s);
		fit(s, s->nr, s->factor);
	}
	if (s->nr >= MIN_ROWS)
		find_rates(s);
}

int compare_size_new(const struct compare_input *in, struct compare_size **out)
{
	struct compare_size *s = calloc(1, sizeof(*s));
	const size_t nr = in->nr_rows < MAX_ROWS ? in->nr_rows : MAX_ROWS;

	if (!s)
		return -ENOMEM;
	s->in = in;
	s->row = calloc(nr + 1, sizeof(*s->row));
	s->weight = calloc(nr + 1, sizeof(*s->weight));
	s->part = calloc(nr + 1, sizeof(*s->part));
	s->rate = calloc((nr + 1) * COMPARE_NR_SIDES, sizeof(*s->rate));
	s->ratio = calloc(in->nr_rows + 1, sizeof(*s->ratio));
	s->factor = calloc(in->nr_runs + 1, sizeof(*s->factor));
	s->factor_for = calloc(in->nr_runs + 1, sizeof(*s->factor_for));
	if (!s->row || !s->weight || !s->part || !s->rate || !s->ratio || !s->factor ||
	    !s->factor_for) {
		compare_size_free(s);
		return -ENOMEM;
	}
	fit_all(s);
	*out = s;
	return 0;
}

void compare_size_free(struct compare_size *s)
{
	if (!s)
		return;
	free(s->row);
	free(s->weight);
	free(s->part);
	free(s->rate);
	free(s->ratio);
	free(s->factor);
	free(s->factor_for);
	free(s);
}

bool compare_size_is_median(const struct compare_size *s)
{
	return s->nr >= MIN_ROWS;
}

const double *compare_size_factors(const struct compare_size *s)
{
	return s->factor;
}

static double all_weight(const struct compare_size *s)
{
	double all = 0;

	for (size_t i = 0; i < s->nr; i++)
		all += s->weight[i];
	return all;
}

/* The index of a row whose factors come from the other rows, else nr. */
static size_t left_out(const struct compare_size *s, size_t row)
{
	size_t k = s->nr;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->row[i] == row)
			k = i;
	}
	if (k == s->nr || s->nr < MIN_ROWS || s->weight[k] < MUCH * all_weight(s))
		return s->nr;
	return k;
}

const double *compare_size_factors_for(struct compare_size *s, size_t row)
{
	const size_t k = left_out(s, row);

	if (k == s->nr)
		return s->factor;
	fit(s, k, s->factor_for);
	return s->factor_for;
}

static double log_size(struct compare_size *s, size_t k, size_t l)
{
	part_weights(s, k, l);
	return log(side_ratio(s, COMPARE_B));
}

void compare_size_doubt(struct compare_size *s, size_t row, double *down, double *up)
{
	const size_t k = left_out(s, row);
	const double much = MUCH * all_weight(s);
	double size;

	*down = *up = 0;
	if (s->nr < MIN_ROWS)
		return;
	if (k == s->nr && s->has_doubt) {
		*down = s->down;
		*up = s->up;
		return;
	}
	size = log_size(s, k, s->nr);
	for (size_t j = 0; j < s->nr; j++) {
		double other;

		if (j == k || s->weight[j] < much)
			continue;
		other = log_size(s, k, j);
		*down = fmax(*down, other - size);
		*up = fmax(*up, size - other);
	}
	if (k == s->nr) {
		s->has_doubt = true;
		s->down = *down;
		s->up = *up;
	}
}
