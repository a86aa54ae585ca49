/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.h - how values of several runs scatter, and whether chance alone explains it
 *
 * SOSP'97 section 3.3 and Figure 3. Values come one run at a time, for many rows.
 *
 * A row whose share never changes still scatters, because sampled counts follow a
 * Poisson distribution. Then X² = Σ (n - expected)² / expected over the runs is
 * chi-squared, with one degree of freedom less than runs. Scatter beyond that which
 * rows have in common is the variance between runs: a coefficient of variation, the
 * median over the rows.
 */
#ifndef CPI_ANALYSIS_SPREAD_H
#define CPI_ANALYSIS_SPREAD_H

#include <stddef.h>

/* Rows with fewer samples per run than this are not tested. */
#define SPREAD_MIN_COUNT 5

/* Starts as { 0 }. */
struct spread {
	size_t nr;                 /* runs */
	size_t present;            /* of them, those with a value above 0 */
	double sum, mean, squares; /* Σ (x - mean)² */
	double min, max;
	double count;    /* Σ n */
	double weighted; /* Σ n² / exposure */
};

/* What all rows of the runs have in common. Starts as { 0 }. */
struct spread_runs {
	size_t nr;
	double exposure, exposure_squares;
};

/* How far a row scatters. */
enum spread_excess {
	SPREAD_UNTESTED, /* too few samples, or runs */
	SPREAD_CHANCE,   /* no more than sampling explains */
	SPREAD_SAMPLING, /* more than that, but no more than the variation common to all
			    rows */
	SPREAD_RUNS,     /* more than both */
};

struct spread_test {
	double ratio; /* X² over its degrees of freedom: 1 is chance; NAN: untested */
	double p, q;  /* of chance alone; q by Benjamini and Hochberg */
	double cv;    /* variation between runs: standard deviation over mean */
	enum spread_excess excess;
};

/*
 * Adds a run. exposure, above 0, is the number of samples that a row of rate 1 would
 * have.
 */
void spread_runs_add(struct spread_runs *r, double exposure);

/* Adds a row's value in a run with this exposure, from n samples. */
void spread_add(struct spread *s, double value, double n, double exposure);

/* The sample standard deviation (over nr - 1); NAN for fewer than two values. */
double spread_deviation(const struct spread *s);

/* Figure 3's normalised range, (max - min) / sum; 0 if the sum is 0. */
double spread_range(const struct spread *s);

/*
 * Tests all rows. *cv gets their common coefficient of variation. A row is found if its
 * q is at most rate. Returns 0 or -ENOMEM.
 */
int spread_test(const struct spread *s, size_t nr, const struct spread_runs *runs,
		double rate, struct spread_test *out, double *cv);

#endif
