/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_tree.c - where does the time go, from main() inwards?
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/tree.h"

static int run_tree(struct cmd_context *ctx)
{
	return tree_run(ctx, TREE_WHOLE);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPT_INVERTED, OPTS_TREE("0.5"), OPT_FORMAT,
	OPT_COLOR,   OPT_NO_PAGER, OPT_END,
};

const struct cmd cmd_tree = {
	.name = "tree",
	.args = "",
	.summary = "Who calls whom, and where the time goes in between",
	.max_args = 0,
	.opts = opts,
	.opt_size = sizeof(struct tree_options),
	.run = run_tree,
};
