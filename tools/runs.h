/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runs.h - epochs that arguments name, as one specification
 */
#ifndef CPI_TOOLS_RUNS_H
#define CPI_TOOLS_RUNS_H

#include "tools/cmd.h"

/*
 * What args, nr of them, name together, for --epoch; the caller frees it. Errors are
 * logged. 0 or negative.
 */
int runs_join(const struct cmd_context *ctx, char *const *args, int nr, char **out);

#endif
