/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_size.h - size factors of runs
 */
#ifndef CPI_ANALYSIS_COMPARE_SIZE_H
#define CPI_ANALYSIS_COMPARE_SIZE_H

#include "analysis/compare.h"

struct compare_size;

/*
 * Weighs the rows. in must live until compare_size_free(), which accepts NULL. Returns
 * 0 or -ENOMEM.
 */
int compare_size_new(const struct compare_input *in, struct compare_size **out);
void compare_size_free(struct compare_size *s);

/* Whether rows decide; else seconds do, for want of rows. */
bool compare_size_is_median(const struct compare_size *s);

/* By run, with a geometric mean of 1; s's. */
const double *compare_size_factors(const struct compare_size *s);

/* The same for judging this row, valid until the next call: where it weighs much, the
 * other rows alone decide. */
const double *compare_size_factors_for(struct compare_size *s, size_t row);

#endif
