/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - which rows took more or less time in some epochs than in others (dcpidiff)
 */
#ifndef CPI_REPORT_DIFF_H
#define CPI_REPORT_DIFF_H

#include "analysis/compare/compare.h"
#include "analysis/compare/similar.h"
#include "analysis/freq/shape.h"
#include "base/buf.h"
#include "report/compare/diff_parts.h"
#include "report/compare/diff_runs.h"
#include "report/compare/matrix.h"
#include "report/profile/prof.h"

#define DIFF_NR_SIDES COMPARE_NR_SIDES

/* The most cells, rows times epochs, that are compared in memory. */
#define DIFF_MAX_CELLS (4u << 20)
#define DIFF_MIN_ROWS  256

/*
 * A row of the comparison. If diff_match() found the same code under different
 * names, the row stands for several procedures: `row` is the first one of A and
 * `other` the first one of B. Their members `with` lead to the next ones of the same
 * side.
 */
struct diff_row {
	const struct matrix_row *row;
	const struct matrix_row *other; /* B's row, if matched by its code; else NULL */
	double similarity;              /* the similarity of their code, up to 1 */
	double time[2];                 /* in the event's unit, over all epochs */
	const struct compare_row *compared;
	struct shape_verdict verdict;
};

struct diff_request {
	struct select_request select;
	int by;                /* enum prof_by */
	double fdr, threshold; /* 0 for the default; threshold is in percent */
	const char *history;   /* a spec (text that selects epochs, as for --epoch), or
				  "none"; NULL: all suitable epochs */
};

struct diff {
	const struct diff_request *req;
	/* of A, of B and of the earlier epochs; the last is NULL if there are none */
	const char *spec[DIFF_NR_SIDES];
	char *history; /* the spec of earlier epochs, if they were searched for */
	struct selection sel[DIFF_NR_SIDES];
	struct events ev[DIFF_NR_SIDES];
	struct diff_parts parts[DIFF_NR_SIDES];
	struct diff_runs runs[DIFF_NR_SIDES];
	bool by_host; /* machines are the runs, not epochs */
	struct matrix m;
	struct diff_row *row; /* findings first, then by the size of the change */
	size_t nr_rows;
	size_t nr_left_out; /* rows beyond DIFF_MAX_CELLS */
	double total[2], seconds[2];
	struct compare c;
	/* Used while the epochs are read. */
	size_t *at; /* by row of the matrix: the index of its row here, or SIZE_MAX */
	struct compare_run *run;
	double *time, *within; /* within is NULL if nothing was rolled up */
	double *weight;        /* by row, the weight of a sample (compare.h) */
	size_t nr_runs, filled;
};

/*
 * Compares the selections of two specs. Errors are logged. Returns 0 or a negative
 * error.
 */
int diff_open(const struct diff_request *req, const char *a, const char *b,
	      struct diff *d);
void diff_close(struct diff *d);

/*
 * Return the row's time on a side: per second of the side's epochs, and in percent of
 * the side's whole time without idle.
 */
double diff_per_second(const struct diff *d, const struct diff_row *r, int side);
double diff_percent(const struct diff *d, const struct diff_row *r, int side);

/*
 * The change of the row's time, in percent of the whole time of B; negative if the
 * row's time shrank. If both sides have the row, it is computed from the change
 * relative to the median: the part of B's time that the row would not have without
 * that change. So its sign can differ from that of the difference of the two shares.
 */
double diff_effect(const struct diff *d, const struct diff_row *r);

/*
 * Whether a row's change is larger than DIFF_LEAST_RATIO, by more than
 * DIFF_LEAST_ERRORS standard errors of sampling. Used if there are too few epochs to
 * know how much they differ by chance.
 */
#define DIFF_LEAST_RATIO  1.25
#define DIFF_LEAST_ERRORS 4.0
bool diff_is_beyond_sampling(const struct diff *d, const struct diff_row *r);

/*
 * The number of runs of a side: of its machines if d->by_host, else of its epochs. A
 * rolled-up epoch counts as the epochs from which it was made, if their variation is
 * used.
 */
size_t diff_nr_runs(const struct diff *d, int side);

/* "", "new" or "gone". */
const char *diff_status(const struct diff_row *r);

/*
 * "slower", "more often", "undetermined"; NULL if the row is no finding, or only one
 * side has it.
 */
const char *diff_verdict(const struct diff_row *r);

/* The same, in words for people: "changed (cause unknown)", not "undetermined". */
const char *diff_verdict_text(const struct diff_row *r);

/*
 * Finds earlier epochs that show how much epochs differ by chance. Returns 0 or
 * -ENOMEM.
 */
int diff_find_history(struct diff *d);

/*
 * Finds similar code under different names in two builds of an image. Joins a row that
 * only one side has with such a row of the other side, or with several rows whose code
 * together is similar to it. alias[i] becomes the row to which row i's time belongs.
 * Returns 0, or an error, which is logged unless it is -ENOMEM.
 */
int diff_match(struct diff *d, size_t *alias, double *similarity);

/* Appends a pattern that matches only name. Returns 0 or -ENOMEM. */
int diff_put_pattern(const char *name, struct buf *out);

/*
 * Finds the verdicts of the first findings. A verdict follows mainly from how the
 * samples are distributed over the instructions (shape.h). Returns as diff_match().
 */
int diff_judge(struct diff *d);

#endif
