/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.h - the records of all commands, which cmd_table lists
 */
#ifndef CPI_TOOLS_COMMANDS_H
#define CPI_TOOLS_COMMANDS_H

#include "tools/ui/cmd.h"

extern const struct cmd cmd_record, cmd_prof, cmd_list, cmd_calc, cmd_sum, cmd_stalls,
	cmd_hot, cmd_paths, cmd_records, cmd_tree, cmd_callers, cmd_callees, cmd_flame,
	cmd_top, cmd_cfg, cmd_stats, cmd_diff, cmd_export, cmd_import, cmd_epoch,
	cmd_fleet, cmd_flush, cmd_label, cmd_mark, cmd_rate, cmd_register, cmd_status,
	cmd_cat, cmd_config, cmd_doctor, cmd_tip, cmd_pairs, cmd_help, cmd_values,
	cmd_web;

#endif
