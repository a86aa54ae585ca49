/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - what took more time, and what less, in some epochs than in others (dcpidiff)
 */
#ifndef CPI_TOOLS_DIFF_H
#define CPI_TOOLS_DIFF_H

#include "analysis/compare.h"
#include "analysis/shape.h"
#include "analysis/similar.h"
#include "base/buf.h"
#include "tools/diff_parts.h"
#include "tools/matrix.h"

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

struct diff {
	const struct cmd_context *ctx;
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
	size_t nr_runs, filled;
};

/* Compares what the options and two specs name. Errors are logged. 0 or negative. */
int diff_open(const struct cmd_context *ctx, const char *a, const char *b,
	      struct diff *d);
void diff_close(struct diff *d);

/* By side: time per second of the epochs, and percent of all time but idle. */
double diff_per_second(const struct diff *d, const struct diff_row *r, int side);
double diff_percent(const struct diff *d, const struct diff_row *r, int side);

/* Epochs of a side; where these were rolled up, those that procedures are known by. */
size_t diff_nr_runs(const struct diff *d, int side);

/* "", "new" or "gone". */
const char *diff_status(const struct diff_row *r);

/* "slower", "more often", "undetermined"; NULL for what is no finding. */
const char *diff_verdict(const struct diff_row *r);

/* Finds the earlier epochs that tell what runs differ by. 0 or -ENOMEM. */
int diff_find_history(struct diff *d);

/*
 * Joins rows that one side alone has, where builds of one image have like code under
 * other names: one procedure, or several that are parts of one of the other side.
 * alias[i] gets the row whose time row i's is. 0 or negative.
 */
int diff_match(struct diff *d, size_t *alias, double *similarity);

/* Appends a pattern that matches name alone. 0 or -ENOMEM. */
int diff_put_pattern(const char *name, struct buf *out);

/* Judges the findings by the instructions' shapes. 0 or negative. */
int diff_judge(struct diff *d);

int diff_print(struct diff *d); /* 0 or -ENOMEM */
int diff_print_svg(const struct diff *d);

#endif
