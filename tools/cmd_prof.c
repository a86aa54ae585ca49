/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_prof.c - where has the time gone? (dcpiprof)
 */
#include "config.h"

#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/cmd.h"
#include "tools/prof.h"
#include "tools/prof_children.h"
#include "tools/prof_time.h"

static int run_children(struct cmd_context *ctx)
{
	const struct cmd_options *o = &ctx->opt;
	const char *key = o->sort;

	if (o->combine || o->over_time || o->svg)
		return cmd_usage_error(ctx->cmd, "--children is of stacks: not with "
						 "--combine, --over-time or --svg");
	if (o->attribution)
		return cmd_usage_error(ctx->cmd, "--attribution is of samples without "
						 "stacks: not with --children");
	if (o->by != BY_PROCEDURE && o->by != BY_IMAGE)
		return cmd_usage_error(ctx->cmd, "--children goes with --by=procedure "
						 "and --by=image");
	if (o->by == BY_IMAGE && (o->procedure || o->inlines))
		return cmd_usage_error(ctx->cmd, "--procedure and --inlines go with "
						 "--by=procedure");
	if (key && strcmp(key, "time") && strcmp(key, "self") &&
	    strcmp(key, "procedure") && strcmp(key, "image"))
		return cmd_usage_error(ctx->cmd, "--children is sorted by time, self, "
						 "procedure or image");
	return prof_children(ctx);
}

static int run(struct cmd_context *ctx)
{
	const bool no_procedures =
		ctx->opt.by == BY_IMAGE || prof_contexts[ctx->opt.by].name;
	struct prof p;
	int err;

	if (ctx->opt.children)
		return run_children(ctx);
	if (prof_check_by(ctx))
		return EXIT_USAGE;
	if (ctx->opt.procedure && no_procedures)
		return cmd_usage_error(ctx->cmd, "--procedure goes with --by=procedure "
						 "and --by=line");
	if (ctx->opt.inlines && no_procedures)
		return cmd_usage_error(ctx->cmd, "--inlines goes with --by=procedure "
						 "and --by=line");
	if (ctx->opt.attribution && no_procedures)
		return cmd_usage_error(ctx->cmd,
				       "--attribution goes with --by=procedure "
				       "and --by=line");
	if ((ctx->opt.attribution == ATTRIBUTION_TIP ||
	     ctx->opt.attribution == ATTRIBUTION_PRECISE) &&
	    (ctx->opt.combine || ctx->opt.over_time || ctx->opt.svg))
		return cmd_usage_error(ctx->cmd,
				       "--attribution=%s is of the whole selection: "
				       "not with --combine, --over-time or --svg",
				       attribution_str(ctx->opt.attribution));
	if (ctx->opt.combine && (ctx->opt.over_time || ctx->opt.svg))
		return cmd_usage_error(ctx->cmd, "--over-time and --svg are of one "
						 "event: not with --combine");
	if (prof_open(ctx, &p))
		return EXIT_FAIL;
	err = 0;
	if (!p.nr_rows)
		log_warn("%s: no samples match", db_path(p.sel.db));
	if (ctx->opt.format == OUT_JSON)
		prof_print_json(&p);
	else
		err = prof_print_table(&p);
	if (!err && ctx->opt.svg && prof_write_svg(&p, ctx->opt.svg)) {
		prof_close(&p);
		return EXIT_FAIL;
	}
	prof_close(&p);
	if (err)
		log_err("prof: %s", err_str(err));
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("by", 0, "procedure|image|comm|line|cgroup|container|unit|label|process",
	    "what a row stands for", OPT_CHOICE, by),
	OPT("procedure", 0, "GLOB", "show only these procedures", OPT_STRING,
	    procedure),
	OPT("inlines", 'i', NULL, "tell inlined functions from their procedures",
	    OPT_FLAG, inlines),
	OPT_ATTRIBUTION,
	OPT("children", 0, NULL, "with what procedures call, from call stacks",
	    OPT_FLAG, children),
	OPT("idle", 0, NULL, "count the idle loop in the percentages", OPT_FLAG, idle),
	OPT("combine", 0, NULL, "one time from ticks and random samples", OPT_FLAG,
	    combine),
	OPT("over-time", 0, NULL, "show when the time of each row was", OPT_FLAG,
	    over_time),
	OPT("svg", 0, "FILE", "draw when the time of the busiest rows was", OPT_STRING,
	    svg),
	OPTS_DEBUG_FILES,
	OPT_LIMIT,
	OPT_SORT("time, samples, procedure, image, or an event"),
	OPT_FORMAT,
	OPT_END,
};

const struct cmd cmd_prof = {
	.name = "prof",
	.args = "",
	.summary = "Where the time went, by procedure, image, line or context",
	.max_args = 0,
	.opts = opts,
	.run = run,
};
