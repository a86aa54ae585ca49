/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - checksums of the source files that a program was compiled from
 */
#ifndef CPI_ANALYSIS_SUMS_H
#define CPI_ANALYSIS_SUMS_H

#include "analysis/image/debuginfo.h"

/*
 * Calls fn with each file of each unit that has an MD5 sum (clang writes them in DWARF
 * 5). Stops at fn's first non-zero result and returns it.
 */
int sums_each(struct debuginfo *d, image_sum_fn fn, void *ctx);

#endif
