/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare_size.h"
#include "analysis/distribution.h"

#define CONFIDENCE 0.95
#define MAX_PHI    10.0
/* Rows that a prior is made of. */
#define MIN_ROWS 3

struct work {
	const struct compare_input *in;
	struct compare *out;
	size_t nr[COMPARE_NR_SIDES]; /* runs */
	double df;                   /* of a row's own variance */
	double *log;                 /* by row and run: time over factor */
	double *inverse;             /* the same: 1 / expected samples */
	double *own;                 /* by row: s² */
	double *order;               /* room to sort rows' values in */
};

static size_t at(const struct work *w, size_t row, size_t run)
{
	return row * w->in->nr_runs + run;
}

static int ascending(const void *va, const void *vb)
{
	const double a = *(const double *)va, b = *(const double *)vb;

	return (a > b) - (a < b);
}

/* Half a sample is added, so that none has a logarithm. */
static void take_logs(struct work *w, size_t row)
{
	const struct compare_input *in = w->in;
	double time[COMPARE_NR_SIDES] = { 0 }, size[COMPARE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++) {
		time[in->run[i].side] += in->time[at(w, row, i)];
		size[in->run[i].side] += w->out->factor[i];
	}
	for (size_t i = 0; i < in->nr_runs; i++) {
		const struct compare_run *run = &in->run[i];
		const double factor = w->out->factor[i];
		const double expected = time[run->side] / size[run->side] * factor;

		w->log[at(w, row, i)] =
			log((in->time[at(w, row, i)] + run->sample / 2) / factor);
		w->inverse[at(w, row, i)] = 1 / (expected / run->sample + 0.5);
	}
}

/* A side's mean, weighted, with variances scale × (1/n + phi). */
struct mean {
	double value, variance;
};

static double variance_of(const struct work *w, size_t row, size_t run, double scale)
{
	const double sampling = w->inverse[at(w, row, run)];

	return fmax(scale * (sampling + w->out->phi), sampling);
}

static struct mean mean_of(const struct work *w, size_t row, enum compare_side side,
			   double scale)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < w->in->nr_runs; i++) {
		const double weight = 1 / variance_of(w, row, i, scale);

		if (w->in->run[i].side != side)
			continue;
		sum += weight * w->log[at(w, row, i)];
		weights += weight;
	}
	return (struct mean){ sum / weights, 1 / weights };
}

/* Σ (log - mean)² / (1/n + phi) within the sides, over the degrees of freedom. */
static double scatter(const struct work *w, size_t row, double phi)
{
	double sum = 0;

	for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++) {
		double weights = 0, mean = 0;

		for (size_t i = 0; i < w->in->nr_runs; i++) {
			const double weight = 1 / (w->inverse[at(w, row, i)] + phi);

			if (w->in->run[i].side != side)
				continue;
			weights += weight;
			mean += weight * w->log[at(w, row, i)];
		}
		for (size_t i = 0; i < w->in->nr_runs; i++) {
			const double d = w->log[at(w, row, i)] - mean / weights;

			if (w->in->run[i].side == side)
				sum += d * d / (w->inverse[at(w, row, i)] + phi);
		}
	}
	return sum / w->df;
}

static double median_scatter(struct work *w, double phi)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->in->nr_rows; i++) {
		if (w->out->row[i].tested)
			w->order[nr++] = scatter(w, i, phi);
	}
	qsort(w->order, nr, sizeof(*w->order), ascending);
	return nr ? (w->order[(nr - 1) / 2] + w->order[nr / 2]) / 2 : 0;
}

/* The phi that makes the median row scatter as chi-squared's median (Wilson-Hilferty).
 */
static double common_variance(struct work *w)
{
	const double wanted = pow(1 - 2 / (9 * w->df), 3);
	double low = 0, high = MAX_PHI;

	if (median_scatter(w, 0) <= wanted)
		return 0;
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (median_scatter(w, middle) > wanted)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * The prior of s²: its mean scale, and how many degrees of freedom it is worth
 * (fitFDist of limma: the mean and variance of log s², by digamma and trigamma).
 */
static double fit_prior(const struct work *w, double *df_prior)
{
	const double half = w->df / 2, shift = log(half) - digamma(half);
	double mean = 0, squares = 0, spare;
	size_t nr = 0;

	for (size_t i = 0; i < w->in->nr_rows; i++) {
		const double e = log(fmax(w->own[i], 1e-6)) + shift;
		const double d = e - mean;

		if (!w->out->row[i].tested)
			continue;
		mean += d / ++nr;
		squares += d * (e - mean);
	}
	*df_prior = 0;
	if (nr < MIN_ROWS)
		return 1;
	spare = squares / (nr - 1) - trigamma(half);
	*df_prior = spare > 0 ? 2 * trigamma_inverse(spare) : INFINITY;
	if (isinf(*df_prior))
		return exp(mean);
	return exp(mean + digamma(*df_prior / 2) - log(*df_prior / 2));
}

/* Sets p and the interval of one row, with this scale and so many degrees of freedom.
 */
static void decide(const struct work *w, size_t row, double scale, double df)
{
	const struct mean a = mean_of(w, row, COMPARE_A, scale);
	const struct mean b = mean_of(w, row, COMPARE_B, scale);
	const double change = b.value - a.value, sd = sqrt(a.variance + b.variance);
	const double quantile = student_quantile_above((1 - CONFIDENCE) / 2, df);
	struct compare_row *r = &w->out->row[row];
	const double p = student_above((fabs(change) - w->in->threshold) / sd, df) +
			 student_above((fabs(change) + w->in->threshold) / sd, df);

	/* Of two ways, the more careful one. */
	if (quantile * sd <= (r->high - r->low) / 2)
		return;
	r->change = change;
	r->low = change - quantile * sd;
	r->high = change + quantile * sd;
	if (r->tested)
		r->p = fmin(p, 1);
}

static void decide_all(struct work *w)
{
	const bool has_p = w->out->basis != COMPARE_SAMPLING;
	double prior = 1, df_all;

	for (size_t i = 0; i < w->in->nr_rows; i++)
		w->own[i] = has_p ? scatter(w, i, w->out->phi) : 1;
	if (has_p)
		prior = fit_prior(w, &w->out->df_prior);
	df_all = w->df * fmax(1, w->out->nr_tested);
	for (size_t i = 0; i < w->in->nr_rows; i++) {
		const double d0 = fmin(w->out->df_prior, df_all);
		const double scale =
			isinf(w->out->df_prior)
				? prior
				: (d0 * prior + w->df * w->own[i]) / (d0 + w->df);

		if (!has_p) {
			decide(w, i, 1, INFINITY);
			continue;
		}
		decide(w, i, scale, fmin(d0 + w->df, df_all));
		decide(w, i, w->own[i], w->df);
	}
}

static void choose_tested(struct work *w)
{
	const struct compare_input *in = w->in;
	const double runs = w->nr[COMPARE_A] + w->nr[COMPARE_B];
	double all = 0, *time = w->order;

	for (size_t row = 0; row < in->nr_rows; row++) {
		double n = 0;

		time[row] = 0;
		for (size_t i = 0; i < in->nr_runs; i++) {
			if (in->run[i].side == COMPARE_EARLIER)
				continue;
			time[row] += in->time[at(w, row, i)];
			n += in->time[at(w, row, i)] / in->run[i].sample;
		}
		all += time[row];
		w->out->row[row].tested = n >= COMPARE_MIN_COUNT * runs;
	}
	for (size_t row = 0; row < in->nr_rows; row++) {
		struct compare_row *r = &w->out->row[row];

		r->p = r->q = NAN;
		r->tested &= w->out->basis != COMPARE_SAMPLING &&
			     time[row] >= COMPARE_MIN_SHARE * all;
		w->out->nr_tested += r->tested;
	}
}

static enum compare_basis choose_basis(const struct work *w)
{
	if (w->nr[COMPARE_A] >= COMPARE_MIN_RUNS &&
	    w->nr[COMPARE_B] >= COMPARE_MIN_RUNS)
		return COMPARE_RUNS;
	return w->nr[COMPARE_EARLIER] >= COMPARE_MIN_RUNS ? COMPARE_HISTORY
							  : COMPARE_SAMPLING;
}

static int find(struct work *w)
{
	const size_t nr = w->in->nr_rows;
	double *p = calloc(2 * nr + 1, sizeof(*p)), *q = p + nr;
	int err = p ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++)
		p[i] = w->out->row[i].p;
	if (!err)
		err = false_discovery(p, nr, q);
	for (size_t i = 0; i < nr && !err; i++) {
		w->out->row[i].q = q[i];
		w->out->row[i].found = q[i] <= w->in->rate;
		w->out->nr_found += w->out->row[i].found;
	}
	free(p);
	return err;
}

static int allocate(struct work *w)
{
	const size_t cells = w->in->nr_rows * w->in->nr_runs;

	w->out->row = calloc(w->in->nr_rows + 1, sizeof(*w->out->row));
	w->out->factor = calloc(w->in->nr_runs + 1, sizeof(*w->out->factor));
	w->log = calloc(cells + 1, sizeof(*w->log));
	w->inverse = calloc(cells + 1, sizeof(*w->inverse));
	w->own = calloc(w->in->nr_rows + 1, sizeof(*w->own));
	w->order = calloc(w->in->nr_rows + 1, sizeof(*w->order));
	if (!w->out->row || !w->out->factor || !w->log || !w->inverse || !w->own ||
	    !w->order)
		return -ENOMEM;
	return 0;
}

int compare_runs(const struct compare_input *in, struct compare *out)
{
	struct compare c = { .basis = COMPARE_SAMPLING };
	struct work w = { .in = in, .out = &c };
	int err = allocate(&w);

	for (size_t i = 0; i < in->nr_runs; i++)
		w.nr[in->run[i].side]++;
	for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++)
		w.df += w.nr[side] ? w.nr[side] - 1 : 0;
	c.basis = choose_basis(&w);
	if (!err)
		err = compare_size_factors(in, c.factor, &c.by_median);
	if (!err) {
		choose_tested(&w);
		for (size_t i = 0; i < in->nr_rows; i++)
			take_logs(&w, i);
		if (c.nr_tested)
			c.phi = common_variance(&w);
		decide_all(&w);
		err = find(&w);
	}
	free(w.log);
	free(w.inverse);
	free(w.own);
	free(w.order);
	if (err)
		compare_fini(&c);
	else
		*out = c;
	return err;
}

void compare_fini(struct compare *c)
{
	free(c->row);
	free(c->factor);
	memset(c, 0, sizeof(*c));
}
