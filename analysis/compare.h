/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - which rows took more time in some runs than in others, and by chance?
 *
 * Shares are compositional: when one row grows, all others shrink. So each run has a
 * size factor, the weighted median of its rows' ratios to their mean (Anders and Huber,
 * Genome Biology 11:R106): a row's time over that is what is compared, as a logarithm.
 * A row's weight is how steady it is (compare_size.c).
 *
 * A logarithm's variance is (1/n + phi) s²: n the samples, phi what rows vary in common
 * from run to run, s² the row's own, around 1. s² comes from the runs that should be
 * equal, and is shrunk towards that of all rows (limma: Smyth, SAGMB 3:3, section 6.2):
 * a few runs say little of one row, but of many. Never below what sampling alone gives.
 *
 * A run may be several that were added up: a day of hours, which stands for them. Its
 * variance is (1/n + phi h) s², h = Σ (T/ΣT)² of their times T, for what varies from
 * part to part averages out. How a row varied among them may be known, as Σ (x - pT)²
 * with p = Σx/ΣT: then it adds to s², beside the scatter of the runs, as many degrees
 * of freedom as there are parts, less one.
 *
 * Deviation: a row that varies far more than others has p from its own s² alone, where
 * that is the greater; shrinking made too many of these significant.
 */
#ifndef CPI_ANALYSIS_COMPARE_H
#define CPI_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

enum compare_side { COMPARE_A, COMPARE_B, COMPARE_EARLIER, COMPARE_NR_SIDES };

/* Runs of a side that have p-values without earlier ones; or earlier ones. */
#define COMPARE_MIN_RUNS 3

/* Rows below these have no p: in samples a run (or part, where rows are known by part),
 * and as a part of both sides' time. */
#define COMPARE_MIN_COUNT 10
#define COMPARE_MIN_SHARE 0.001

struct compare_run {
	enum compare_side side;
	double seconds; /* above 0 */
	double sample;  /* the time that a sample stands for; above 0 */
	double squares; /* Σ (T/ΣT)² over the parts that it is the sum of; 1: it is one
			 */
	double cubes;   /* Σ (T/ΣT)³; 1 */
};

struct compare_input {
	const struct compare_run *run;
	size_t nr_runs;     /* at least one of A and of B */
	const double *time; /* by row, then by run */
	const double *within; /* the same: Σ ((x - pT) / Σx)² of its parts, NAN where it
				 is not known; NULL: nowhere */
	size_t nr_rows;
	double threshold; /* changes up to this are none; of a logarithm */
	double rate;      /* of false discoveries */
};

struct compare_row {
	bool tested;
	double change;    /* logarithm of B over A */
	double low, high; /* of it, with 95% confidence */
	double p, q;      /* NAN without */
	bool found;       /* q is at most the rate */
};

/* What the uncertainty is of. */
enum compare_basis {
	COMPARE_SAMPLING, /* of sampling alone: there are no p-values */
	COMPARE_RUNS,     /* between the runs of each side */
	COMPARE_HISTORY,  /* between earlier runs, too */
};

struct compare {
	struct compare_row *row;
	double *factor; /* by run; their geometric mean is 1 */
	bool by_median; /* else too few rows are on both sides: factors are seconds */
	enum compare_basis basis;
	double phi;      /* rows' common variance between runs, relative */
	double df_prior; /* degrees of freedom that all rows lend to each; may be
			    INFINITY */
	size_t nr_tested, nr_found;
};

/* 0 or -ENOMEM. */
int compare_runs(const struct compare_input *in, struct compare *out);
void compare_fini(struct compare *c);

#endif
