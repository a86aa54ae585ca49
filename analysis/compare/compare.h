/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - which rows took more time on one side than on the other, beyond chance
 *
 * Shares are compositional: when one row's share grows, all others shrink. So each run
 * has a size factor, the weighted median of its rows' ratios to their mean (Anders and
 * Huber, Genome Biology 11:R106). The logarithm of a row's time over that factor is
 * compared. Steadier rows weigh more (compare_size.c).
 *
 * A logarithm's variance is (1/n + phi) s²: n is the number of samples, phi the
 * variation between runs that rows have in common, s² the row's own factor, around 1.
 * s² comes from runs that should be equal, and is shrunk towards those of the rows that
 * vary about as much (compare_prior.h), because a few runs tell little about one row,
 * but much about all rows. It is never below what sampling alone gives.
 *
 * A run may be the sum of several parts, as a day is of hours. Its variance is (1/n +
 * phi h) s² with h = Σ (T/ΣT)² of the parts' times T, because variation between parts
 * averages out. If the row's scatter among the parts is known, as Σ (x - pT)² with p =
 * Σx/ΣT, it contributes to s² with as many degrees of freedom as there are parts, less
 * one.
 *
 * Deviation: if a row's own s² gives a greater p, that is used. Shrinking made too many
 * rows significant that vary far more than others.
 */
#ifndef CPI_ANALYSIS_COMPARE_H
#define CPI_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

enum compare_side { COMPARE_A, COMPARE_B, COMPARE_EARLIER, COMPARE_NR_SIDES };

/* p-values need at least so many runs of each side, or earlier runs. */
#define COMPARE_MIN_RUNS 3

/*
 * Rows below these limits have no p: samples per run (per part, if rows are known by
 * part), and the share of both sides' time.
 */
#define COMPARE_MIN_COUNT 10
#define COMPARE_MIN_SHARE 0.001

struct compare_run {
	enum compare_side side;
	double seconds; /* above 0 */
	double sample;  /* the time of a sample; above 0 */
	double squares; /* Σ (T/ΣT)² over its parts; 1 for a single part */
	double cubes;   /* Σ (T/ΣT)³; 1 */
};

struct compare_input {
	const struct compare_run *run;
	size_t nr_runs;     /* at least one of A and of B */
	const double *time; /* by row, then by run */
	const double *within; /* by row and run: Σ ((x - pT) / Σx)² of the parts, NAN if
				 not known; NULL if never known */
	const double *weight; /* by row: the time of its sample over that of the run's;
				 above 0; NULL means 1 */
	size_t nr_rows;
	double threshold; /* smaller changes, of a logarithm, are no findings */
	double rate;      /* the rate of false discoveries */
};

static inline double compare_sample(const struct compare_input *in, size_t row,
				    size_t run)
{
	return in->run[run].sample * (in->weight ? in->weight[row] : 1);
}

struct compare_row {
	bool tested;
	double change;    /* logarithm of B over A */
	double low, high; /* the interval of the change, with 95% confidence */
	double p, q;      /* NAN without */
	bool found;       /* q is at most the rate */
};

/* The source of the uncertainty. */
enum compare_basis {
	COMPARE_SAMPLING, /* sampling only: there are no p-values */
	COMPARE_RUNS,     /* the variation between the runs of each side */
	COMPARE_HISTORY,  /* also the variation between earlier runs */
};

struct compare {
	struct compare_row *row;
	double *factor; /* by run; their geometric mean is 1 */
	bool by_median; /* if false, too few rows are on both sides, and factors are
			   seconds */
	enum compare_basis basis;
	double phi;      /* rows' common variance between runs, relative */
	double df_prior; /* the degrees of freedom of the prior of all rows; may be
			    INFINITY */
	size_t nr_tested, nr_found;
};

/* 0 or -ENOMEM. */
int compare_runs(const struct compare_input *in, struct compare *out);
void compare_fini(struct compare *c);

#endif
