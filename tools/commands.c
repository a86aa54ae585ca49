/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.c - the table of commands, in the order of the help
 */
#include "config.h"

#include "tools/commands.h"

#include <stddef.h>

const struct cmd *const cmd_table[] = {
	&cmd_record, &cmd_prof,  &cmd_list,    &cmd_calc,  &cmd_sum,     &cmd_stalls,
	&cmd_hot,    &cmd_paths, &cmd_records, &cmd_tree,  &cmd_callers, &cmd_callees,
	&cmd_flame,  &cmd_top,   &cmd_cfg,     &cmd_stats, &cmd_diff,    &cmd_export,
	&cmd_import, &cmd_epoch, &cmd_flush,   &cmd_label, &cmd_rate,    &cmd_register,
	&cmd_status, &cmd_cat,   &cmd_tip,     &cmd_pairs, &cmd_help,    NULL,
};
