/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_size.h - size factors of runs
 */
#ifndef CPI_ANALYSIS_COMPARE_SIZE_H
#define CPI_ANALYSIS_COMPARE_SIZE_H

#include "analysis/compare.h"

/*
 * Fills factor, by run. *by_median tells whether rows decided, or seconds, for want of
 * rows. 0 or -ENOMEM.
 */
int compare_size_factors(const struct compare_input *in, double *factor,
			 bool *by_median);

#endif
