/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_hot.c - the instructions that took the most time (dcpitopcounts)
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"

static int hot(struct cmd_context *ctx, struct explainer *x)
{
	const struct out_options *out = ctx->opt;
	struct pager pager;
	struct ranking r;
	int err = ranking_hot(x, out->limit, &r);

	if (!err) {
		select_end_read(&explainer_scope(x)->sel);
		pager_begin(&pager, out);
		err = ranking_print_hot(x, &r, out);
		pager_end(&pager);
	}
	ranked_insns_fini(&r.insns);
	return err;
}

static int run_hot(struct cmd_context *ctx)
{
	return options_explain(ctx, hot);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPT_LIMIT,    OPTS_EXPLAIN, OPT_FORMAT,
	OPT_COLOR,   OPT_NO_PAGER, OPT_END,
};

const struct cmd cmd_hot = {
	.name = "hot",
	.args = "",
	.summary = "The instructions that took the most time",
	.min_args = 0,
	.max_args = 0,
	.opts = opts,
	.opt_size = sizeof(struct explain_options),
	.run = run_hot,
};
