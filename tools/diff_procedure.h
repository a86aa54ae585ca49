/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_procedure.h - one procedure on two sides: its instructions, blocks and stalls
 */
#ifndef CPI_TOOLS_DIFF_PROCEDURE_H
#define CPI_TOOLS_DIFF_PROCEDURE_H

#include "tools/cmd.h"

/* ctx's arguments are A, B and the procedure. The exit status. */
int diff_procedure(const struct cmd_context *ctx);

#endif
