/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_prof.c - where has the time gone? (dcpiprof)
 */
#include "config.h"

#include "base/err.h"
#include "base/log.h"
#include "tools/cmd.h"
#include "tools/prof.h"

/* A row by one kind of context holds nothing that another one selects. */
static int check_by(const struct cmd_context *ctx, const struct prof_context *by)
{
	for (int kind = 0; by->name && kind < NR_CONTEXT_KINDS; kind++) {
		if (ctx->opt.context[kind] && kind != (int)by->kind)
			return cmd_usage_error(ctx->cmd,
					       "--by=%s: profiles are kept by one kind "
					       "of context each: --%s chooses among "
					       "those of another",
					       by->name, context_kind_str(kind));
	}
	return 0;
}

static int run(struct cmd_context *ctx)
{
	struct prof p;
	int err;

	const struct prof_context *by = &prof_contexts[ctx->opt.by];

	if (check_by(ctx, by))
		return EXIT_USAGE;
	if (ctx->opt.procedure && (ctx->opt.by == BY_IMAGE || by->name))
		return cmd_usage_error(ctx->cmd, "--procedure goes with --by=procedure "
						 "and --by=line");
	if (ctx->opt.inlines && (ctx->opt.by == BY_IMAGE || ctx->opt.by == BY_COMM))
		return cmd_usage_error(ctx->cmd, "--inlines goes with --by=procedure "
						 "and --by=line");
	if (prof_open(ctx, &p))
		return EXIT_FAIL;
	err = 0;
	if (!p.nr_rows)
		log_warn("%s: no samples match", db_path(p.sel.db));
	if (ctx->opt.format == OUT_JSON)
		prof_print_json(&p);
	else
		err = prof_print_table(&p);
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
	OPT("idle", 0, NULL, "count the idle loop in the percentages", OPT_FLAG, idle),
	OPT("combine", 0, NULL, "one time from ticks and random samples", OPT_FLAG,
	    combine),
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
