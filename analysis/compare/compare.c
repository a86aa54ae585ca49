/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.c - tests each row for a change
 *
 * The steps: logarithms of time over size factor (compare_size.c), the variance phi
 * that all rows have in common, each row's own variance, its shrinkage towards that of
 * all rows, a moderated t test, and the false discovery rate (Benjamini and Hochberg).
 * The rows share a prior, because a few runs say little about the variance of a single
 * row.
 */
#include "config.h"

#include "analysis/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_size.h"
#include "analysis/math/distribution.h"

#define CONFIDENCE 0.95
#define MAX_PHI    10.0
/* The fewest rows that make a prior. */
#define MIN_ROWS 3
/* Degrees of freedom below which a row has no variance of its own. */
#define MIN_DF 2

struct work {
	const struct compare_input *in;
	struct compare *out;
	struct compare_size *size;
	double nr[COMPARE_NR_SIDES]; /* number of runs, or of parts if rows are known by
					part */
	double *df;      /* by row: the degrees of freedom of its own variance */
	double *log;     /* by row and run: time over factor */
	double *inverse; /* the same: 1 / expected samples */
	double *own;     /* by row: s² */
	double *order;   /* for sorting the values of rows */
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

/* Adds half a sample, so that a row without samples has a logarithm. */
static void take_logs(struct work *w, size_t row)
{
	const struct compare_input *in = w->in;
	const double *factor = compare_size_factors_for(w->size, row);
	double time[COMPARE_NR_SIDES] = { 0 }, size[COMPARE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++) {
		time[in->run[i].side] += in->time[at(w, row, i)];
		size[in->run[i].side] += factor[i];
	}
	for (size_t i = 0; i < in->nr_runs; i++) {
		const struct compare_run *run = &in->run[i];
		const double expected = time[run->side] / size[run->side] * factor[i];
		const double sample = compare_sample(in, row, i);

		w->log[at(w, row, i)] =
			log((in->time[at(w, row, i)] + sample / 2) / factor[i]);
		w->inverse[at(w, row, i)] = 1 / (expected / sample + 0.5);
	}
}

/* The variance of a run's logarithm, without the row's scale. */
static double between(const struct work *w, size_t row, size_t run, double phi)
{
	return w->inverse[at(w, row, run)] + phi * w->in->run[run].squares;
}

/* The weighted mean of a side; the variances are scale × (1/n + phi h). */
struct mean {
	double value, variance;
};

static double variance_of(const struct work *w, size_t row, size_t run, double scale)
{
	const double sampling = w->inverse[at(w, row, run)];

	return fmax(scale * between(w, row, run, w->out->phi), sampling);
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

/*
 * The degrees of freedom that a row gets from the parts of a run; 0 if its scatter
 * among them is not known.
 */
static double parts_df(const struct work *w, size_t row, size_t run)
{
	const double *within = w->in->within;

	if (!within || isnan(within[at(w, row, run)]))
		return 0;
	return 1 / w->in->run[run].squares - 1;
}

/*
 * The row's Σ ((x - pT) / Σx)², and its expectation if x has the variance of sampling
 * and of phi: sampling (1 - h) + phi (h - 2g + h²). h and g are the sums of squares and
 * of cubes of the run.
 */
static double parts_scatter(const struct work *w, size_t row, size_t run, double phi)
{
	const double h = w->in->run[run].squares, g = w->in->run[run].cubes;
	const double expected =
		w->inverse[at(w, row, run)] * (1 - h) + phi * (h - 2 * g + h * h);

	return w->in->within[at(w, row, run)] / expected;
}

/*
 * Σ (log - mean)² / (1/n + phi h) within the sides, and the same within runs, over the
 * degrees of freedom.
 */
static double scatter(const struct work *w, size_t row, double phi)
{
	double sum = 0;

	for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++) {
		double weights = 0, mean = 0;

		for (size_t i = 0; i < w->in->nr_runs; i++) {
			const double weight = 1 / between(w, row, i, phi);

			if (w->in->run[i].side != side)
				continue;
			weights += weight;
			mean += weight * w->log[at(w, row, i)];
		}
		for (size_t i = 0; i < w->in->nr_runs; i++) {
			const double d = w->log[at(w, row, i)] - mean / weights;

			if (w->in->run[i].side == side)
				sum += d * d / between(w, row, i, phi);
		}
	}
	for (size_t i = 0; i < w->in->nr_runs; i++) {
		const double df = parts_df(w, row, i);

		if (df > 0)
			sum += df * parts_scatter(w, row, i, phi);
	}
	return sum / w->df[row];
}

/* The median of chi-squared over its degrees of freedom (Wilson-Hilferty). */
static double median_of_chance(double df)
{
	return pow(1 - 2 / (9 * df), 3);
}

/*
 * The median over the tested rows of their scatter, each divided by its median under
 * chance.
 */
static double median_scatter(struct work *w, double phi)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->in->nr_rows; i++) {
		if (w->out->row[i].tested)
			w->order[nr++] =
				scatter(w, i, phi) / median_of_chance(w->df[i]);
	}
	qsort(w->order, nr, sizeof(*w->order), ascending);
	return nr ? (w->order[(nr - 1) / 2] + w->order[nr / 2]) / 2 : 0;
}

/* Finds the phi for which the median row scatters as chance would. */
static double common_variance(struct work *w)
{
	double low = 0, high = MAX_PHI;

	/* If runs are sums of parts, phi is a part's: many times that of a run. */
	for (size_t i = 0; i < w->in->nr_runs; i++)
		high = fmax(high, MAX_PHI / w->in->run[i].squares);
	if (median_scatter(w, 0) <= 1)
		return 0;
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (median_scatter(w, middle) > 1)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * The prior of s²: its mean, and the degrees of freedom that it is worth (fitFDist of
 * limma: from the mean and variance of log s², by digamma and trigamma).
 */
static double fit_prior(const struct work *w, double *df_prior)
{
	double mean = 0, squares = 0, chance = 0, spare;
	size_t nr = 0;

	for (size_t i = 0; i < w->in->nr_rows; i++) {
		const double half = w->df[i] / 2;
		double e, d;

		if (!w->out->row[i].tested)
			continue;
		e = log(fmax(w->own[i], 1e-6)) + log(half) - digamma(half);
		d = e - mean;
		mean += d / ++nr;
		squares += d * (e - mean);
		chance += trigamma(half);
	}
	*df_prior = 0;
	if (nr < MIN_ROWS)
		return 1;
	spare = squares / (nr - 1) - chance / nr;
	*df_prior = spare > 0 ? 2 * trigamma_inverse(spare) : INFINITY;
	if (isinf(*df_prior))
		return exp(mean);
	return exp(mean + digamma(*df_prior / 2) - log(*df_prior / 2));
}

/* Sets p and the interval of a row, for this scale and these degrees of freedom. */
static void test_row(const struct work *w, size_t row, double scale, double df)
{
	const struct mean a = mean_of(w, row, COMPARE_A, scale);
	const struct mean b = mean_of(w, row, COMPARE_B, scale);
	const double change = b.value - a.value, sd = sqrt(a.variance + b.variance);
	const double quantile = student_quantile_above((1 - CONFIDENCE) / 2, df);
	struct compare_row *r = &w->out->row[row];
	const double p = student_above((fabs(change) - w->in->threshold) / sd, df) +
			 student_above((fabs(change) + w->in->threshold) / sd, df);

	/* Of two estimates, the one with the wider interval stays. */
	if (quantile * sd <= (r->high - r->low) / 2)
		return;
	r->change = change;
	r->low = change - quantile * sd;
	r->high = change + quantile * sd;
	if (r->tested)
		r->p = fmin(p, 1);
}

/*
 * Shrinks the row's own variance towards the prior; a row without one takes the prior.
 */
static void decide_row(struct work *w, size_t row, double prior, double df_all)
{
	const double df = w->df[row], d0 = fmin(w->out->df_prior, df_all);
	double scale = prior;

	if (isfinite(w->out->df_prior) && d0 + df > 0)
		scale = (d0 * prior + df * w->own[row]) / (d0 + df);
	test_row(w, row, scale, fmax(fmin(d0 + df, df_all), 1));
	if (df >= MIN_DF)
		test_row(w, row, w->own[row], df);
}

static void decide_all(struct work *w)
{
	const bool has_p = w->out->basis != COMPARE_SAMPLING;
	double prior = 1, df_all = 0;

	for (size_t i = 0; i < w->in->nr_rows; i++) {
		w->own[i] = has_p && w->df[i] > 0 ? scatter(w, i, w->out->phi) : 1;
		df_all += w->out->row[i].tested ? w->df[i] : 0;
	}
	if (has_p)
		prior = fit_prior(w, &w->out->df_prior);
	for (size_t i = 0; i < w->in->nr_rows; i++) {
		if (has_p)
			decide_row(w, i, prior, fmax(df_all, w->df[i]));
		else
			test_row(w, i, 1, INFINITY);
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
			n += in->time[at(w, row, i)] / compare_sample(in, row, i);
		}
		all += time[row];
		w->out->row[row].tested =
			n >= COMPARE_MIN_COUNT * runs && w->df[row] >= MIN_DF;
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

/* Counts the runs, or their parts, and each row's degrees of freedom. */
static void count_runs(struct work *w)
{
	const struct compare_input *in = w->in;
	double runs = 0, nr[COMPARE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++) {
		nr[in->run[i].side]++;
		w->nr[in->run[i].side] += in->within ? 1 / in->run[i].squares : 1;
	}
	for (enum compare_side side = 0; side < COMPARE_NR_SIDES; side++)
		runs += fmax(nr[side] - 1, 0);
	for (size_t row = 0; row < in->nr_rows; row++) {
		w->df[row] = runs;
		for (size_t i = 0; i < in->nr_runs; i++)
			w->df[row] += parts_df(w, row, i);
	}
}

static int find_changes(struct work *w)
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
	w->df = calloc(w->in->nr_rows + 1, sizeof(*w->df));
	w->own = calloc(w->in->nr_rows + 1, sizeof(*w->own));
	w->order = calloc(w->in->nr_rows + 1, sizeof(*w->order));
	if (!w->out->row || !w->out->factor || !w->log || !w->inverse || !w->own ||
	    !w->order || !w->df)
		return -ENOMEM;
	return 0;
}

int compare_runs(const struct compare_input *in, struct compare *out)
{
	struct compare c = { .basis = COMPARE_SAMPLING };
	struct work w = { .in = in, .out = &c };
	int err = allocate(&w);

	if (!err)
		count_runs(&w);
	c.basis = choose_basis(&w);
	if (!err)
		err = compare_size_new(in, &w.size);
	if (!err) {
		c.by_median = compare_size_is_median(w.size);
		memcpy(c.factor, compare_size_factors(w.size),
		       in->nr_runs * sizeof(*c.factor));
		choose_tested(&w);
		for (size_t i = 0; i < in->nr_rows; i++)
			take_logs(&w, i);
		if (c.nr_tested)
			c.phi = common_variance(&w);
		decide_all(&w);
		err = find_changes(&w);
	}
	compare_size_free(w.size);
	free(w.log);
	free(w.inverse);
	free(w.df);
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
