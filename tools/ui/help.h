/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * help.h - prints the command records, as help and as a completion script
 */
#ifndef CPI_TOOLS_HELP_H
#define CPI_TOOLS_HELP_H

#include "tools/ui/cmd.h"

void help_print_overview(void);
void help_print_command(const struct cmd *cmd);
void help_print_completion(void); /* a script for bash */

#endif
