/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - what cpi record does with a file of records
 */
#ifndef CPI_TOOLS_REPLAY_H
#define CPI_TOOLS_REPLAY_H

#include "tools/cmd.h"

/* Takes it into the database at output. The exit status. */
int replay_records(const struct cmd_context *ctx, const char *output);

#endif
