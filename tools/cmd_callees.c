/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_callees.c - what does a procedure call?
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/tree.h"

static int run_callees(struct cmd_context *ctx)
{
	return tree_run(ctx, TREE_CALLEES);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPTS_TREE("0.5"), OPT_FORMAT, OPT_COLOR, OPT_NO_PAGER, OPT_END,
};

const struct cmd cmd_callees = {
	.name = "callees",
	.args = "[IMAGE:]PROC",
	.summary = "What a procedure calls, and how much of its time that takes",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct tree_options),
	.run = run_callees,
};
