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

/* The most cells, rows times epochs, that are compared in memory. */
#define DIFF_MAX_CELLS (4u << 20)
#define DIFF_MIN_ROWS  256

/*
 * A row. If it stands for several procedures, these are the first one's; its member
 * with leads to the next.
 */
struct diff_row {
	const struct matrix_row *row;
	const struct matrix_row *other; /* B's row, if the code matched it; else NULL */
	double similarity;              /* the similarity of their code, up to 1 */
	double time[2];                 /* in the event's unit, over all epochs */
	const struct compare_row *compared;
	struct shape_verdict verdict;
};

struct diff_request {
	struct select_request select;
	int by;                /* enum prof_by */
	double fdr, threshold; /* 0 for the default; threshold is in percent */
	const char *history;   /* a spec, or "none"; NULL: all suitable epochs */
};

struct diff {
	const struct diff_request *req;
	const char *spec[DIFF_NR_SIDES]; /* NULL if there are no earlier epochs */
	char *history; /* the spec of earlier epochs, if they were searched for */
	struct selection sel[DIFF_NR_SIDES];
	struct events ev[DIFF_NR_SIDES];
	struct diff_parts parts[DIFF_NR_SIDES];
	struct matrix m;
	struct diff_row *row; /* findings first, then by the size of the change */
	size_t nr_rows;
	size_t nr_left_out; /* rows beyond DIFF_MAX_CELLS */
	double total[2], seconds[2];
	struct compare c;
	/* While it is read. */
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

/* For a side: time per second of its epochs, and percent of its time without idle. */
double diff_per_second(const struct diff *d, const struct diff_row *r, int side);
double diff_percent(const struct diff *d, const struct diff_row *r, int side);

/*
 * The change of the row's time in percent of B's time; negative if it shrank. It has
 * the sign of the change, unlike the difference of the shares, which may have the other
 * one.
 */
double diff_effect(const struct diff *d, const struct diff_row *r);

/*
 * If there are too few epochs to know how much they differ by chance: whether a row
 * differs by more than sampling explains, by this ratio and this many standard errors.
 */
#define DIFF_LEAST_RATIO  1.25
#define DIFF_LEAST_ERRORS 4.0
bool diff_is_beyond_sampling(const struct diff *d, const struct diff_row *r);

/*
 * The number of epochs of a side; if they were rolled up, of the epochs that they were.
 */
size_t diff_nr_runs(const struct diff *d, int side);

/* "", "new" or "gone". */
const char *diff_status(const struct diff_row *r);

/* "slower", "more often", "undetermined"; NULL if the row is no finding. */
const char *diff_verdict(const struct diff_row *r);

/* The same for people: "changed (cause unknown)" instead of "undetermined". */
const char *diff_verdict_text(const struct diff_row *r);

/*
 * Finds earlier epochs that show how much runs differ by chance. Returns 0 or -ENOMEM.
 */
int diff_find_history(struct diff *d);

/*
 * Joins rows that only one side has, if two builds of an image have similar code under
 * different names: one procedure with one, or with several that are its parts. alias[i]
 * becomes the row to which row i's time belongs. Returns 0, or an error, which is
 * logged unless it is -ENOMEM.
 */
int diff_match(struct diff *d, size_t *alias, double *similarity);

/* Appends a pattern that matches only name. Returns 0 or -ENOMEM. */
int diff_put_pattern(const char *name, struct buf *out);

/* Judges the findings by the shapes of their instructions. Errors as above. */
int diff_judge(struct diff *d);

#endif
