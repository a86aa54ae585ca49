/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip_svg.h - profilers compared with the exact profile ("Oracle", MICRO'21), as
 * SVG
 */
#ifndef CPI_TOOLS_TIP_SVG_H
#define CPI_TOOLS_TIP_SVG_H

#include "analysis/trace/tip.h"

/*
 * Writes it to standard output: the errors by level, and for each of the nr rows what
 * every profiler gives it, in percent. 0 or -ENOMEM.
 */
int tip_print_svg(const char *trace, const struct tip_result *r,
		  const struct tip_row *const *row, size_t nr);

#endif
