/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - source lines, from a file's debugging information
 */
#ifndef CPI_ANALYSIS_LINES_H
#define CPI_ANALYSIS_LINES_H

#include "analysis/image/debuginfo.h"

/* The line of a link-time address; { NULL, 0 } for none. Names are d's. */
struct line lines_at(struct debuginfo *d, uint64_t address);

/* The line's number alone, 0 for none, and what tells copies of the line apart. */
int lines_number_at(struct debuginfo *d, uint64_t address, unsigned int *discriminator);

/* Calls fn with the address of each row of every unit; its non-zero return ends it. */
int lines_each(struct debuginfo *d, int (*fn)(void *ctx, uint64_t address), void *ctx);

#endif
