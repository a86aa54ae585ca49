/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_runs.h - what counts as one run of a comparison: an epoch, or a machine
 *
 * Epochs of one machine are alike because of its hardware, its data and its neighbours.
 * If epochs of several machines counted as runs, a difference between two groups of
 * machines would seem certain. So where both sides have enough machines, all epochs of
 * a machine are one run.
 */
#ifndef CPI_REPORT_DIFF_RUNS_H
#define CPI_REPORT_DIFF_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/compare/compare.h"
#include "report/compare/matrix.h"

/* The runs of one side. Starts as { 0 }. */
struct diff_runs {
	const char **host; /* each once; of the epochs of the side */
	size_t nr_hosts;
	size_t first;    /* the index of its first run among those of all sides */
	double *samples; /* by run of the side: the number of its samples so far */
};

/* Finds the machines of the epochs, which must outlive r. Returns 0 or -ENOMEM. */
int diff_runs_init(struct diff_runs *r, const struct query_epochs *epochs);
void diff_runs_fini(struct diff_runs *r);

/*
 * Adds an epoch to the run of its machine; run has all runs of the side, and begins as
 * zeros. Returns the index of the run on this side.
 */
size_t diff_runs_add(struct diff_runs *r, const struct matrix_column *c,
		     struct compare_run *run);

#endif
