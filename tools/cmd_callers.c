/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_callers.c - what called a procedure?
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/tree.h"

static int run_callers(struct cmd_context *ctx)
{
	return tree_run(ctx, TREE_CALLERS);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPTS_TREE("0.5"), OPT_FORMAT, OPT_COLOR, OPT_NO_PAGER, OPT_END,
};

const struct cmd cmd_callers = {
	.name = "callers",
	.args = "[IMAGE:]PROC",
	.summary = "Who calls a procedure, and for how much of its time",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct tree_options),
	.run = run_callers,
};
