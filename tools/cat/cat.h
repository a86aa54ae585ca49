/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat.h - what cpi cat prints of a selection in addition to profiles: the stored
 * rows, unchanged
 *
 * Each returns 0 or a negative error.
 */
#ifndef CPI_TOOLS_CAT_H
#define CPI_TOOLS_CAT_H

#include "report/select/select.h"

int cat_edges(const struct selection *sel, int format);
int cat_stacks(const struct selection *sel, int format);
int cat_windows(const struct selection *sel, int format);

#endif
