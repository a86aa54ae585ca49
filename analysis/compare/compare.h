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
 * s² comes from runs that should be equal, and is shrunk towards that of all rows
 * (limma: Smyth, SAGMB 3:3, section 6.2), because a few runs tell little about one row,
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

/* The runs of each side, or the earlier runs, that p-values need. */
#define COMPARE_MIN_RUNS 3

/*
 * Rows below these have no p: samples per run (or per part, if rows are known by part),
 * and the share of both sides' time.
 */
#define COMPARE_MIN_COUNT 10
#define COMPARE_MIN_SHARE 0.001

struct compare_run {
	enum compare_side side;
	double seconds; /* above 0 */
	double sample;  /* the time that a sample stands for; above 0 */
	double squares; /* Σ (T/ΣT)² over its parts; 1: it has one */
	double cubes;   /* Σ (T/ΣT)³; 1 */
};

struct compare_input {
	const struct compare_run *run;
	size_t nr_runs;     /* at least one of A and of B */
	const double *time; /* by row, then by run */
	const double *within; /* the same: Σ ((x - pT) / Σx)² of its parts, NAN where it
				 is not known; NULL: nowhere */
	const double *weight; /* by row: what a sample of it stands for, over that of
				 its run's; above 0; NULL: 1 */
	size_t nr_rows;
	double threshold; /* smaller changes do not count; of a logarithm */
	double rate;      /* of false discoveries */
};

static inline double compare_sample(const struct compare_input *in, size_t row,
				    size_t run)
{
	return in->run[run].sample * (in->weight ? in->weight[row] : 1);
}

struct compare_row {
	bool tested;
	double change;    /* logarithm of B over A */
	double low, high; /* of it, with 95% confidence */
	double p, q;      /* NAN without */
	bool found;       /* q is at most the rate */
};

/* The source of the uncertainty. */
enum compare_basis {
	COMPARE_SAMPLING, /* sampling alone: there are no p-values */
	COMPARE_RUNS,     /* between the runs of each side */
	COMPARE_HISTORY,  /* between earlier runs, too */
};

struct compare {
	struct compare_row *row;
	double *factor; /* by run; their geometric mean is 1 */
	bool by_median; /* false: too few rows are on both sides, so factors are seconds
			 */
	enum compare_basis basis;
	double phi;      /* rows' common variance between runs, relative */
	double df_prior; /* degrees of freedom that each row gets from all rows; may be
			    INFINITY */
	size_t nr_tested, nr_found;
};

/* 0 or -ENOMEM. */
int compare_runs(const struct compare_input *in, struct compare *out);
void compare_fini(struct compare *c);

#endif
