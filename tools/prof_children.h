/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_children.h - what procedures took, themselves and with all they called
 */
#ifndef CPI_TOOLS_PROF_CHILDREN_H
#define CPI_TOOLS_PROF_CHILDREN_H

#include "tools/cmd.h"

/* Prints a row for each procedure, or image, of call stacks. The exit status. */
int prof_children(const struct cmd_context *ctx);

#endif
