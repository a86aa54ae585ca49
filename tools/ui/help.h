/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * help.h - what the command records say, for people and for the shell
 */
#ifndef CPI_TOOLS_HELP_H
#define CPI_TOOLS_HELP_H

#include "tools/ui/cmd.h"

void help_print_overview(void);
void help_print_command(const struct cmd *cmd);
void help_print_completion(void); /* a script for bash */

#endif
