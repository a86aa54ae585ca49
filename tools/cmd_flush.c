/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_flush.c - asks cpid to store its counts now
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/ctl.h"

struct options {
	const char *socket;
};

static int run_flush(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	return ctl_run(o->socket, CPI_CONTROL_FLUSH, "");
}

static const struct opt opts[] = { OPT_SOCKET, OPT_END };

const struct cmd cmd_flush = {
	.name = "flush",
	.args = "",
	.summary = "Make cpid store its samples now",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_flush,
};
