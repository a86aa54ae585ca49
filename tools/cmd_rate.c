/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_rate.c - asks cpid to change the sampling rate
 */
#include "config.h"

#include <string.h>

#include "base/number.h"
#include "daemon/session/session.h"
#include "tools/commands.h"
#include "tools/ctl.h"

struct options {
	const char *socket;
};

static int run_rate(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	double hz;

	if (strcmp(ctx->args[0], "budget") &&
	    number_parse_real(ctx->args[0], "", SESSION_MIN_HZ, SESSION_MAX_HZ, &hz))
		return cmd_usage_error(ctx->cmd,
				       "'%s' is not a rate: give samples per second "
				       "and CPU, or budget",
				       ctx->args[0]);
	return ctl_run(o->socket, CPI_CONTROL_RATE, ctx->args[0]);
}

static const struct opt opts[] = { OPT_SOCKET, OPT_END };

const struct cmd cmd_rate = {
	.name = "rate",
	.args = "HZ | budget",
	.summary = "Set cpid's sampling rate",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_rate,
};
