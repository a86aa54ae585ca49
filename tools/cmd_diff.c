/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_diff.c - what takes more time than it did? (dcpidiff)
 */
#include "config.h"

#include "base/err.h"
#include "base/log.h"
#include "tools/diff.h"
#include "tools/diff_procedure.h"
#include "tools/out.h"
#include "tools/prof.h"

/* Behind out.h's forms. */
#define FORMAT_SVG (OUT_CSV + 1)

static int run(struct cmd_context *ctx)
{
	struct diff d;
	int err;

	if (ctx->nr_args == 3 && ctx->opt.format == FORMAT_SVG)
		return cmd_usage_error(ctx->cmd, "there is no picture of a procedure");
	if (ctx->nr_args == 3)
		return diff_procedure(ctx);
	if (prof_check_by(ctx))
		return EXIT_USAGE;
	err = diff_open(ctx, ctx->args[0], ctx->args[1], &d);
	if (err)
		return EXIT_FAIL;
	if (!d.nr_rows)
		log_warn("diff: no samples match");
	err = ctx->opt.format == FORMAT_SVG ? diff_print_svg(&d) : diff_print(&d);
	diff_close(&d);
	if (err)
		log_err("diff: %s", err_str(err));
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_DB,
	OPT_HOST,
	OPT_PLATFORM,
	OPT_MERGE_PLATFORMS,
	OPT_EVENT,
	OPT_IMAGE,
	OPT_COMM,
	OPT_CGROUP,
	OPT_LABEL,
	OPT_PROCESS,
	OPT("by", 0, "procedure|image|comm|line|cgroup|container|unit|label|process",
	    "what a row stands for", OPT_CHOICE, by),
	OPT("history", 0, "SPEC", "epochs that tell what epochs differ by, or none",
	    OPT_STRING, history),
	OPT("threshold", 0, "PERCENT", "less is no change; default 0.5", OPT_REAL,
	    threshold),
	OPT("fdr", 0, "RATE", "of false findings; default 0.05", OPT_REAL, fdr),
	OPT_LIMIT,
	OPT("format", 0, "text|json|csv|svg", "how to write the result", OPT_CHOICE,
	    format),
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
	.run = run,
};
