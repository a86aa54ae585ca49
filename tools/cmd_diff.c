/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_diff.c - what takes more time than it did? (dcpidiff)
 */
#include "config.h"

#include "base/err.h"
#include "base/log.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/write/compare.h"

/* A --format of its own, after those of enum out_format. */
#define FORMAT_SVG (OUT_CSV + 1)

struct options {
	struct out_options out;
	struct diff_request diff;
};

/* Compares one procedure, the third argument. */
static int diff_one(const struct cmd_context *ctx, const struct options *o)
{
	struct diff_procedure d;
	int err = diff_procedure_open(&o->diff.select, ctx->args[0], ctx->args[1],
				      ctx->args[2], &d);

	if (!err) {
		err = diff_procedure_print(&d, &o->out);
		diff_procedure_close(&d);
	}
	return cmd_exit_status(ctx->cmd, err);
}

static int run_diff(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct diff d;
	int err;

	if (ctx->nr_args == 3 && o->out.format == FORMAT_SVG)
		return cmd_usage_error(ctx->cmd, "there is no picture of a procedure");
	if (ctx->nr_args == 3)
		return diff_one(ctx, o);
	err = diff_open(&o->diff, ctx->args[0], ctx->args[1], &d);
	if (err)
		return EXIT_FAIL;
	if (!d.nr_rows)
		log_warn("diff: no samples match");
	err = o->out.format == FORMAT_SVG ? diff_print_svg(&d, o->out.limit)
					  : diff_print(&d, &o->out);
	diff_close(&d);
	if (err)
		log_err("diff: %s", err_str(err));
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_DB,
	OPT_LOCAL_TIME,
	OPT_HOST,
	OPT_PLATFORM,
	OPT_MERGE_PLATFORMS,
	OPT_EVENT,
	OPT_IMAGE,
	OPTS_CONTEXTS,
	OPT("by", 0, "procedure|image|comm|line|cgroup|container|unit|label|process",
	    "what a row stands for", OPT_CHOICE, diff.by),
	OPT("history", 0, "SPEC", "earlier epochs that show how epochs vary, or none",
	    OPT_STRING, diff.history),
	OPT("threshold", 0, "PERCENT", "ignore smaller changes (default: 0.5)",
	    OPT_REAL, diff.threshold),
	OPT("fdr", 0, "RATE", "accepted share of false findings (default: 0.05)",
	    OPT_REAL, diff.fdr),
	OPT_LIMIT,
	OPT_VERBOSE,
	OPT_FORMAT_OF("text|json|csv|svg"),
	OPT_COLOR,
	OPT_END,
};

const struct cmd cmd_diff = {
	.name = "diff",
	.args = "A B [[IMAGE:]PROC | 0xOFFSET]",
	.summary = "What takes more time than it did, and if by chance",
	.min_args = 2,
	.max_args = 3,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_diff,
};
