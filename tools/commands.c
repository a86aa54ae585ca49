/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.c - the table of commands, in the order of the help
 */
#include "config.h"

#include "tools/commands.h"

#include <stddef.h>

const struct cmd *const cmd_table[] = {
	&cmd_record,  &cmd_top,    &cmd_web,     &cmd_prof,     &cmd_list,
	&cmd_sum,     &cmd_hot,    &cmd_stalls,  &cmd_calc,     &cmd_paths,
	&cmd_values,  &cmd_cfg,    &cmd_records, &cmd_tree,     &cmd_callers,
	&cmd_callees, &cmd_flame,  &cmd_diff,    &cmd_stats,    &cmd_status,
	&cmd_doctor,  &cmd_config, &cmd_epoch,   &cmd_mark,     &cmd_fleet,
	&cmd_flush,   &cmd_rate,   &cmd_label,   &cmd_register, &cmd_import,
	&cmd_export,  &cmd_help,   &cmd_tip,     &cmd_pairs,    &cmd_cat,
	NULL,
};

const struct cmd_group cmd_groups[] = {
	{ "Look", &cmd_record },
	{ "Why", &cmd_sum },
	{ "Who called", &cmd_tree },
	{ "Compare", &cmd_diff },
	{ "Manage", &cmd_status },
	{ "Research", &cmd_tip },
	{ NULL, NULL },
};
