/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_parts.h - how much a procedure's time varied within a rolled-up epoch
 *
 * Roll-up stores how the time of a captured symbol, or of a block of code, varied
 * (db/query/spread.h). Both are ranges of addresses. A range stands for a procedure if
 * nearly all time of the range is the procedure's, and nearly all time of the procedure
 * is in the range. For other procedures the variation is not known.
 */
#ifndef CPI_REPORT_DIFF_PARTS_H
#define CPI_REPORT_DIFF_PARTS_H

#include "analysis/compare/compare.h"
#include "base/buf.h"
#include "report/compare/matrix.h"

/* The share that counts as nearly all. */
#define DIFF_PARTS_SHARE 0.9

/* The rolled-up epochs of one side. Starts as { 0 }. */
struct diff_parts {
	size_t nr;         /* epochs before roll-up */
	struct buf rolled; /* struct rolled, ascending epochs */
	struct buf spread; /* struct query_spread, by epoch, image and start */
	struct buf share;  /* struct range_share of the current epoch */
	struct buf within; /* struct diff_within of the previous epoch */
};

/* How much a row varied between the epochs that were rolled up into this one. */
struct diff_within {
	size_t row;    /* in the matrix */
	double time;   /* the part of the row's time for which this is known */
	double within; /* as in compare.h */
};

/* Reads the spread of the epochs. Returns 0, -ENOMEM, or a logged database error. */
int diff_parts_read(struct diff_parts *p, struct db *db, const struct query_epochs *e,
		    const char *event);
void diff_parts_fini(struct diff_parts *p);

/* Whether any epoch was rolled up. */
bool diff_parts_any(const struct diff_parts *p);

/* Sets in run how many epochs were rolled up into this one. */
void diff_parts_describe(const struct diff_parts *p, int64_t epoch,
			 struct compare_run *run);

/* Adds a count of an epoch. A matrix_count_fn; ctx is p. */
void diff_parts_count(void *ctx, const struct matrix_count *c);

/* Ends the epoch; *out has its rows, valid until the next call. 0 or -ENOMEM. */
int diff_parts_end(struct diff_parts *p, const struct diff_within **out, size_t *nr);

#endif
