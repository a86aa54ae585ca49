/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - source lines, from a file's debugging information
 */
#ifndef CPI_ANALYSIS_LINES_H
#define CPI_ANALYSIS_LINES_H

#include "analysis/debuginfo.h"

/* The line of a link-time address; { NULL, 0 } for none. Names are d's. */
struct line lines_at(struct debuginfo *d, uint64_t address);

#endif
