/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary.h - where the cycles went, as in Figure 4 of SOSP'97
 *
 * The unit is samples of the first stream of time. Samples that could not be analysed
 * have their own rows, so the rows add up.
 *
 * I1  Σ rows' samples = the selection's samples without idle.
 */
#ifndef CPI_REPORT_SUMMARY_H
#define CPI_REPORT_SUMMARY_H

#include "report/explain/explainer.h"

/* Starts as { 0 }. */
struct summary {
	struct blame_summary blame; /* of all procedures that are explained */
	size_t nr_procedures;
	uint64_t nr_bytes;          /* of their code */
	double instructions;        /* executions, of blocks with samples, … */
	double best, actual;        /* … and their cycles */
	struct freq_interval range; /* 90 % interval of instructions */
	double stray;               /* at no instruction */
	double unknown;             /* without an image */
	double left[EXPLAIN_NR_STATES];
	double busiest; /* samples of the busiest procedure left out */
	bool has_few;   /* procedures with few samples are left out: they have a row */
};

enum summary_group {
	SUMMARY_DYNAMIC,
	SUMMARY_STATIC,
	SUMMARY_EXECUTION,
	SUMMARY_ERROR, /* the net sampling error */
	SUMMARY_NOT_TALLIED,
	SUMMARY_NR_GROUPS
};

struct summary_row {
	enum summary_group group;
	const char *key, *text;
	double samples;           /* charged to the likeliest reason */
	struct blame_range range; /* of a reason: least and most */
};

#define SUMMARY_MAX_ROWS (BLAME_NR_REASONS + 11)

const char *summary_group_name(enum summary_group group); /* "dynamic" */

/* Fills all rows and returns their number; they depend on has_few only. */
size_t summary_rows(const struct summary *s, struct summary_row out[SUMMARY_MAX_ROWS]);

/* A procedure with fewer samples is not analysed. */
#define SUMMARY_LEAST 50

/*
 * Estimates how many samples are needed to tell the reasons apart; 0 if there are
 * enough. There are too few if the net sampling error is more than 20 % of the
 * explained time, or if all procedures were left out.
 */
double summary_needed(const struct summary *s);

void summary_add(struct summary *s, const struct explanation *ex);

/*
 * Adds all explanations of x, made in parallel processes (explainer_each_part()).
 * Errors are logged. summary_all() leaves out procedures with fewer than SUMMARY_LEAST
 * samples, and deferred samples of the kernel.
 */
int summary_explain(struct summary *s, struct explainer *x);
int summary_all(struct summary *s, struct explainer *x);

/*
 * The number of executed instructions, and the cycles per instruction, with 90 %
 * intervals.
 */
struct freq_interval summary_instructions(const struct summary *s);
struct freq_interval summary_cycles(const struct summary *s);

double summary_samples(const struct summary *s); /* of all rows */

#endif
