/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_command.h - selections by a command without profiles by command
 *
 * Each epoch has totals by command, even without profiles by command. If the selected
 * commands have all samples, as after `cpi record CMD`, the profiles of all commands
 * together are the answer.
 */
#ifndef CPI_REPORT_SELECT_COMMAND_H
#define CPI_REPORT_SELECT_COMMAND_H

#include "base/buf.h"
#include "report/select/select.h"

/*
 * Removes the restriction to commands from sel's query if
 * - the query restricts no other kind of context,
 * - the epochs have no profiles by command, and
 * - all samples of the epochs are of commands that the restriction takes.
 * Returns 0 or an error.
 */
int select_command(struct selection *sel);

/* Appends the names of the commands that have samples, at most 8. 0 or an error. */
int select_put_commands(const struct selection *sel, struct buf *out);

#endif
