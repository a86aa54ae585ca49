/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_stats.c - how much does it differ from run to run? (dcpistats)
 */
#include "config.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/prof.h"
#include "tools/runs.h"
#include "tools/stats.h"

#define MAX_ARGS 10000

static int run(struct cmd_context *ctx)
{
	struct stats s;
	char *spec = NULL;
	int err;

	if (prof_check_by(ctx))
		return EXIT_USAGE;
	if (ctx->nr_args && ctx->opt.epoch)
		return cmd_usage_error(ctx->cmd, "epochs are named twice");
	if (ctx->nr_args && runs_join(ctx, ctx->args, ctx->nr_args, &spec))
		return EXIT_FAIL;
	if (spec || !ctx->opt.epoch)
		ctx->opt.epoch = spec ? spec : "all";
	err = stats_open(ctx, &s);
	if (!err) {
		err = stats_print(&s);
		stats_close(&s);
		if (err)
			log_err("stats: %s", err_str(err));
	}
	free(spec);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("by", 0,
	    "procedure|image|comm|line|cgroup|container|unit|label|process|category",
	    "what a row stands for", OPT_CHOICE, by),
	OPT("normalize", 0, "none|time|total", "values as they are, per second, or %",
	    OPT_CHOICE, normalize),
	OPT("fdr", 0, "RATE", "of false marks; default 0.05", OPT_REAL, fdr),
	OPT_LIMIT,
	OPT_SORT("range, sum, mean, std-dev, min, max or excess"),
	OPT_FORMAT,
	OPT_END,
};

const struct cmd cmd_stats = {
	.name = "stats",
	.args = "[EPOCH...]",
	.summary = "How much rows differ from epoch to epoch, and if by chance",
	.max_args = MAX_ARGS,
	.opts = opts,
	.run = run,
};
