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
#include "report/compare/matrix.h"
#include "report/profile/prof.h"

#define DIFF_NR_SIDES COMPARE_NR_SIDES

/* Rows and epochs that are compared in memory at once. */
#define DIFF_MAX_CELLS (4u << 20)
#define DIFF_MIN_ROWS  256

/* Where several procedures are one row, the first; its with is the next. */
struct diff_row {
	const struct matrix_row *row;
	const struct matrix_row *other; /* of B, found by its code; else NULL */
	double similarity;              /* then: of their code, up to 1 */
	double time[2];                 /* in the event's unit, all epochs */
	const struct compare_row *compared;
	struct shape_verdict verdict;
};

struct diff_request {
	struct select_request select;
	int by;                /* enum prof_by */
	double fdr, threshold; /* 0: the default; the latter in percent */
	const char *history;   /* a spec, or "none"; NULL: what serves */
};

struct diff {
	const struct diff_request *req;
	const char *spec[DIFF_NR_SIDES]; /* NULL: no earlier epochs */
	char *history; /* the spec of those, when they were looked for */
	struct selection sel[DIFF_NR_SIDES];
	struct events ev[DIFF_NR_SIDES];
	struct diff_parts parts[DIFF_NR_SIDES];
	struct matrix m;
	struct diff_row *row; /* findings first, then by the size of the change */
	size_t nr_rows;
	size_t nr_left_out; /* beyond DIFF_MAX_CELLS */
	double total[2], seconds[2];
	struct compare c;
	/* While it is read. */
	size_t *at; /* by the matrix's row: its row, or SIZE_MAX */
	struct compare_run *run;
	double *time, *within; /* the latter NULL where nothing was rolled up */
	double *weight;        /* by row, of a sample (compare.h) */
	size_t nr_runs, filled;
};

/* Compares what the request and two specs name. Errors are logged. 0 or negative. */
int diff_open(const struct diff_request *req, const char *a, const char *b,
	      struct diff *d);
void diff_close(struct diff *d);

/* By side: time per second of the epochs, and percent of all time but idle. */
double diff_per_second(const struct diff *d, const struct diff_row *r, int side);
double diff_percent(const struct diff *d, const struct diff_row *r, int side);

/*
 * The percent of B's time that the row's change added to it, below 0: took away. It has
 * the sign of the change, which that of the shares' difference need not be.
 */
double diff_effect(const struct diff *d, const struct diff_row *r);

/*
 * With too few epochs to know how much they differ by chance, whether a row differs by
 * more than sampling: by this ratio and this many standard errors.
 */
#define DIFF_LEAST_RATIO  1.25
#define DIFF_LEAST_ERRORS 4.0
bool diff_is_beyond_sampling(const struct diff *d, const struct diff_row *r);

/* Epochs of a side; where these were rolled up, those that procedures are known by. */
size_t diff_nr_runs(const struct diff *d, int side);

/* "", "new" or "gone". */
const char *diff_status(const struct diff_row *r);

/* "slower", "more often", "undetermined"; NULL for what is no finding. */
const char *diff_verdict(const struct diff_row *r);

/* The same for people: "changed (cause unknown)" instead of "undetermined". */
const char *diff_verdict_text(const struct diff_row *r);

/* Finds the earlier epochs that tell what runs differ by. 0 or -ENOMEM. */
int diff_find_history(struct diff *d);

/*
 * Joins rows that one side alone has, where builds of one image have like code under
 * other names: one procedure, or several that are parts of one of the other side.
 * alias[i] gets the row whose time row i's is. 0, or an error that is logged but for
 * -ENOMEM.
 */
int diff_match(struct diff *d, size_t *alias, double *similarity);

/* Appends a pattern that matches name alone. 0 or -ENOMEM. */
int diff_put_pattern(const char *name, struct buf *out);

/* Judges the findings by the instructions' shapes. The same about errors. */
int diff_judge(struct diff *d);

#endif
