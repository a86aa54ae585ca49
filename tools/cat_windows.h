/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat_windows.h - windows as they are stored
 */
#ifndef CPI_TOOLS_CAT_WINDOWS_H
#define CPI_TOOLS_CAT_WINDOWS_H

#include "tools/select.h"

/* Prints the windows of a selection. 0 or a negative error. */
int cat_windows(const struct cmd_context *ctx, const struct selection *sel);

#endif
