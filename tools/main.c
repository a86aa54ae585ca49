/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - finds the command and runs it
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/ui/cmd.h"
#include "tools/ui/help.h"

int main(int argc, char **argv)
{
	const struct cmd *cmd;

	log_set_name("cpi");
	if (argc < 2) {
		help_print_overview();
		return out_finish(EXIT_USAGE);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("cpi %s\n", PACKAGE_VERSION);
		return out_finish(EXIT_OK);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help_print_overview();
		return out_finish(EXIT_OK);
	}
	cmd = cmd_find_or_suggest(argv[1]);
	return cmd ? cmd_run(cmd, argc - 1, argv + 1) : EXIT_USAGE;
}
