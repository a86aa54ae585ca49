/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spark.h - numbers over time as a line of small bars
 */
#ifndef CPI_TOOLS_SPARK_H
#define CPI_TOOLS_SPARK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Whether the locale ($LC_ALL, $LC_CTYPE, $LANG) shows UTF-8. */
bool spark_can_block(void);

/*
 * Appends a bar for each of nr values: the highest for max and above, a space for 0,
 * and at least the lowest for anything above 0. Uses block characters, or ASCII if
 * block is false; each is one column wide.
 */
void spark_put(struct buf *out, const double *value, size_t nr, double max, bool block);

#endif
