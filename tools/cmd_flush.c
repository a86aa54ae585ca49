/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/cmd.h"
#include "tools/ctl.h"

static int run(struct cmd_context *ctx)
{
	return ctl_run(ctx, CPI_CONTROL_FLUSH, "");
}

static const struct opt opts[] = { OPT_SOCKET, OPT_END };

const struct cmd cmd_flush = {
	.name = "flush",
	.args = "",
	.summary = "Have cpid store now what it has sampled",
	.opts = opts,
	.run = run,
};
