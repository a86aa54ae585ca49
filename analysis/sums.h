/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - checksums of the source files that a program was compiled from
 */
#ifndef CPI_ANALYSIS_SUMS_H
#define CPI_ANALYSIS_SUMS_H

#include "analysis/debuginfo.h"

/*
 * Calls fn with each file of each unit that has an MD5 sum, which is DWARF 5's, of
 * clang. fn's non-zero return ends it and is returned.
 */
int sums_each(struct debuginfo *d, image_sum_fn fn, void *ctx);

#endif
