/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/cmd.h"
#include "tools/help.h"

static int run(struct cmd_context *ctx)
{
	const struct cmd *cmd;

	if (ctx->opt.completion) {
		help_print_completion();
		return EXIT_OK;
	}
	if (!ctx->nr_args) {
		help_print_overview();
		return EXIT_OK;
	}
	cmd = cmd_find_or_suggest(ctx->args[0]);
	if (!cmd)
		return EXIT_USAGE;
	help_print_command(cmd);
	return EXIT_OK;
}

static const struct opt opts[] = {
	OPT("completion", 0, NULL, "print the completion script for bash", OPT_FLAG,
	    completion),
	OPT_END,
};

const struct cmd cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "What the commands do, and their options",
	.max_args = 1,
	.opts = opts,
	.run = run,
};
