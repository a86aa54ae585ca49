/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_size.h - size factors of runs
 */
#ifndef CPI_ANALYSIS_COMPARE_SIZE_H
#define CPI_ANALYSIS_COMPARE_SIZE_H

#include "analysis/compare/compare.h"

struct compare_size;

/*
 * Computes the rows' weights. in must live until compare_size_free(), which accepts
 * NULL. Returns 0 or -ENOMEM.
 */
int compare_size_new(const struct compare_input *in, struct compare_size **out);
void compare_size_free(struct compare_size *s);

/* Whether factors come from rows. If there are too few rows, they come from seconds. */
bool compare_size_is_median(const struct compare_size *s);

/* The factors by run; their geometric mean is 1. The array belongs to s. */
const double *compare_size_factors(const struct compare_size *s);

/*
 * The factors for testing this row, valid until the next call. If the row has much
 * weight, they come from the other rows.
 */
const double *compare_size_factors_for(struct compare_size *s, size_t row);

/*
 * How much the logarithm of a row's change depends on single other rows. The sides'
 * sizes are found again without each of the rows that have much weight, since one of
 * them may have changed itself: *down is by how much that lowers the change at most,
 * *up by how much it raises it; both are 0 or more.
 */
void compare_size_doubt(struct compare_size *s, size_t row, double *down, double *up);

#endif
