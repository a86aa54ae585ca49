/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_help.c - shows the help of a command, or writes the shell's completion
 *
 * Both are made from the command records, so they cannot disagree with the parser.
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/ui/help.h"

struct options {
	bool completion;
};

static int run_help(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct cmd *cmd;

	if (o->completion) {
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
	.opt_size = sizeof(struct options),
	.run = run_help,
};
