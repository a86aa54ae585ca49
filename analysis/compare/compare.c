/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.c - tests each row for a change
 *
 * The steps: logarithms of time over size factor (compare_size.c), the variance phi
 * that all rows have in common, each row's own variance, its shrinkage towards those of
 * the rows that vary about as much (compare_prior.c), a test, and the false discovery
 * rate (Benjamini and Hochberg). The rows share a prior, because a few runs say little
 * about the variance of a single row.
 */
#include "config.h"

#include "analysis/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_prior.h"
#include "analysis/compare/compare_size.h"
#include "analysis/math/distribution.h"

#define CONFIDENCE 0.95
#define MAX_PHI    10.0
/* The fewest rows that make a prior. */
#define MIN_ROWS 3
/* Degrees of freedom below which a row has no variance of its own. */
#define MIN_DF 2
/* Of a row's posterior: what is below this is left out. */
#define LEAST_WEIGHT 1e-4

struct work {
	const struct compare_input *in;
	struct compare *out;
	struct compare_size *size;
	double nr[COMPARE_NR_SIDES]; /* number of runs, or of parts if rows are known by
					part */
	double *df;        /* by row: the degrees of freedom of its own variance */
	double *log;       /* by row and run: time over factor */
	double *inverse;   /* the same: 1 / expected samples */
	double *own;       /* by row: s² */
	double *down, *up; /* by row: the doubt about the sides' sizes */
	struct compare_prior prior;
	double *order; /* for sorting the values of rows */
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
 * How alike the rows' s² are, as the degrees of freedom of a prior of one typical value
 * (fitFDist of limma: from the variance of log s², by digamma and trigamma).
 */
static double prior_df(const struct work *w)
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
	if (nr < MIN_ROWS)
		return 0;
	spare = squares / (nr - 1) - chance / nr;
	return spare > 0 ? 2 * trigamma_inverse(spare) : INFINITY;
}

/* A row's change if its scale is known, and the doubt about the sides' sizes. */
struct change {
	double value, sd;
	double down, up; /* the sizes may make it so much smaller, or greater */
};

static struct change change_at(const struct work *w, size_t row, double scale)
{
	const struct mean a = mean_of(w, row, COMPARE_A, scale);
	const struct mean b = mean_of(w, row, COMPARE_B, scale);

	return (struct change){ b.value - a.value, sqrt(a.variance + b.variance),
				w->down[row], w->up[row] };
}

/* The distance from no change, as far as the sizes of the sides are known. */
static double distance(const struct change *c)
{
	return c->value > 0 ? fmax(c->value - c->down, 0) : fmax(-c->value - c->up, 0);
}

/* The probability of such a change by chance, where changes below this count as none.
 */
static double chance_of(const struct change *c, double threshold, double df)
{
	return student_above((distance(c) - threshold) / c->sd, df) +
	       student_above((distance(c) + threshold) / c->sd, df);
}

/* Of two estimates, the one with the wider interval stays. */
static void put_estimate(const struct work *w, size_t row, const struct change *c,
			 double half, double p)
{
	struct compare_row *r = &w->out->row[row];

	if (2 * half + c->down + c->up <= r->high - r->low)
		return;
	r->change = c->value;
	r->low = c->value - c->down - half;
	r->high = c->value + c->up + half;
	if (r->tested)
		r->p = fmin(p, 1);
}

/* Sets p and the interval of a row, for this scale and these degrees of freedom. */
static void test_row(const struct work *w, size_t row, double scale, double df)
{
	const struct change c = change_at(w, row, scale);

	put_estimate(w, row, &c,
		     student_quantile_above((1 - CONFIDENCE) / 2, df) * c.sd,
		     chance_of(&c, w->in->threshold, df));
}

/* What a row's scale may be: some of the prior's grid. */
struct mixture {
	size_t nr;
	struct change at[COMPARE_PRIOR_SIZE];
	double weight[COMPARE_PRIOR_SIZE];
	double mean; /* of the scale */
};

static void mix(const struct work *w, size_t row, double df, struct mixture *m)
{
	const struct compare_prior *p = &w->prior;
	double weight[COMPARE_PRIOR_SIZE], sum = 0;

	compare_prior_posterior(p, w->own[row], df, weight);
	m->nr = 0;
	m->mean = 0;
	for (size_t k = 0; k < p->nr; k++) {
		if (weight[k] < LEAST_WEIGHT)
			continue;
		m->at[m->nr] = change_at(w, row, p->scale[k]);
		m->weight[m->nr++] = weight[k];
		m->mean += weight[k] * p->scale[k];
		sum += weight[k];
	}
	for (size_t k = 0; k < m->nr; k++)
		m->weight[k] /= sum;
	m->mean /= sum;
}

/* The half width of the interval: the quantile of a mixture of normal distributions. */
static double half_width(const struct mixture *m)
{
	double low = 0, high = 0;

	for (size_t k = 0; k < m->nr; k++)
		high = fmax(high, 3 * m->at[k].sd);
	for (int i = 0; i < 40; i++) {
		const double middle = (low + high) / 2;
		double outside = 0;

		for (size_t k = 0; k < m->nr; k++)
			outside += 2 * m->weight[k] *
				   student_above(middle / m->at[k].sd, INFINITY);
		if (outside > 1 - CONFIDENCE)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* p is the mean over the scales that the row may have. */
static void test_mixture(const struct work *w, size_t row, double df)
{
	struct mixture m;
	struct change c;
	double p = 0;

	mix(w, row, df, &m);
	c = change_at(w, row, m.mean);
	for (size_t k = 0; k < m.nr; k++) {
		m.at[k].value = c.value;
		p += m.weight[k] * chance_of(&m.at[k], w->in->threshold, INFINITY);
	}
	put_estimate(w, row, &c, half_width(&m), p);
}

/*
 * Shrinks the row's own variance towards those of the rows that vary like it. Its own
 * alone is used if it gives a greater p, or if too few rows make a prior.
 */
static void decide_row(const struct work *w, size_t row)
{
	const double df = w->df[row];

	if (w->prior.nr)
		test_mixture(w, row, df);
	if (df >= MIN_DF || !w->prior.nr)
		test_row(w, row, df > 0 ? w->own[row] : 1, fmax(df, 1));
}

/* Learns the prior from the tested rows. */
static int fit_mixture(struct work *w)
{
	const size_t nr_rows = w->in->nr_rows;
	double *variance = w->order, *df = w->down; /* as room: both are set later */
	size_t nr = 0;

	for (size_t i = 0; i < nr_rows; i++) {
		if (!w->out->row[i].tested)
			continue;
		variance[nr] = w->own[i];
		df[nr++] = w->df[i];
	}
	return nr < MIN_ROWS ? 0 : compare_prior_fit(variance, df, nr, &w->prior);
}

static int decide_all(struct work *w)
{
	const bool has_p = w->out->basis != COMPARE_SAMPLING;
	int err = 0;

	for (size_t i = 0; i < w->in->nr_rows; i++)
		w->own[i] = has_p && w->df[i] > 0 ? scatter(w, i, w->out->phi) : 1;
	if (has_p) {
		w->out->df_prior = prior_df(w);
		err = fit_mixture(w);
	}
	for (size_t i = 0; i < w->in->nr_rows && !err; i++) {
		w->down[i] = w->up[i] = 0; /* without p: the error of sampling alone */
		if (has_p) {
			compare_size_doubt(w->size, i, &w->down[i], &w->up[i]);
			decide_row(w, i);
		} else {
			test_row(w, i, 1, INFINITY);
		}
	}
	return err;
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
	w->down = calloc(w->in->nr_rows + 1, sizeof(*w->down));
	w->up = calloc(w->in->nr_rows + 1, sizeof(*w->up));
	if (!w->out->row || !w->out->factor || !w->log || !w->inverse || !w->own ||
	    !w->order || !w->df || !w->down || !w->up)
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
		err = decide_all(&w);
	}
	if (!err)
		err = find_changes(&w);
	compare_size_free(w.size);
	free(w.log);
	free(w.inverse);
	free(w.df);
	free(w.own);
	free(w.order);
	free(w.down);
	free(w.up);
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
