/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - a selection in the format of a viewer
 *
 * Each function writes all of it to stdout: 0, or -errno or -CPI_E…, which nobody has
 * said yet. What stdout did not take, its error flag tells. Names are any bytes: what
 * a format cannot hold is replaced by what people can see.
 */
#ifndef CPI_TOOLS_EXPORT_H
#define CPI_TOOLS_EXPORT_H

#include "tools/weighing.h"

int export_pprof(struct weighing *w);
int export_collapsed(struct weighing *w);
int export_speedscope(struct weighing *w);
int export_firefox(struct weighing *w);
int export_callgrind(struct weighing *w);

#endif
