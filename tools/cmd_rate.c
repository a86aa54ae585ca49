/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cmd.h"
#include "tools/ctl.h"

static int run(struct cmd_context *ctx)
{
	char *end;
	double hz = strtod(ctx->args[0], &end);

	if (strcmp(ctx->args[0], "budget") &&
	    (end == ctx->args[0] || *end || !(hz > 0) || hz > 1e6))
		return cmd_usage_error(ctx->cmd,
				       "'%s' is no rate: say samples per second and "
				       "CPU, or budget",
				       ctx->args[0]);
	return ctl_run(ctx, CPI_CONTROL_RATE, ctx->args[0]);
}

static const struct opt opts[] = { OPT_SOCKET, OPT_END };

const struct cmd cmd_rate = {
	.name = "rate",
	.args = "HZ | budget",
	.summary = "Have cpid take HZ samples per second and CPU",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.run = run,
};
