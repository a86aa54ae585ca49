/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_parts.h - how procedures varied among the epochs that one was rolled up from
 *
 * Roll-up kept sums by captured symbol, or by block of code (db/query/spread.h). Such a
 * range stands for a procedure if the procedure has nearly all of the range's time, and
 * nearly all of its own time there. Nothing is known of other procedures.
 */
#ifndef CPI_REPORT_DIFF_PARTS_H
#define CPI_REPORT_DIFF_PARTS_H

#include "analysis/compare/compare.h"
#include "base/buf.h"
#include "report/compare/matrix.h"

/* Nearly all. */
#define DIFF_PARTS_SHARE 0.9

/* Of one side. Starts as { 0 }. */
struct diff_parts {
	size_t nr;         /* epochs; where they were rolled up, those that they were */
	struct buf rolled; /* struct rolled, ascending epochs */
	struct buf spread; /* struct query_spread, by epoch, image and start */
	struct buf share;  /* struct range_share: of the epoch that is being read */
	struct buf within; /* struct diff_within, of the one that was */
};

/* How a row varied among an epoch's parts. */
struct diff_within {
	size_t row;    /* the matrix's */
	double time;   /* of the row, where that is known of */
	double within; /* compare.h's */
};

/* Reads what is known of the epochs. 0, or the database's error, logged, or -ENOMEM. */
int diff_parts_read(struct diff_parts *p, struct db *db, const struct query_epochs *e,
		    const char *event);
void diff_parts_fini(struct diff_parts *p);

/* Whether any epoch was rolled up. */
bool diff_parts_any(const struct diff_parts *p);

/* Says how many parts a run is made of. */
void diff_parts_describe(const struct diff_parts *p, int64_t epoch,
			 struct compare_run *run);

/* Takes a count of an epoch: a matrix_count_fn, ctx being p. */
void diff_parts_count(void *ctx, const struct matrix_count *c);

/* What is known of all of these. *out is p's until the next call. 0 or -ENOMEM. */
int diff_parts_end(struct diff_parts *p, const struct diff_within **out, size_t *nr);

#endif
