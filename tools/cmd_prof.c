/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_prof.c - where has the time gone? (dcpiprof)
 */
#include "config.h"

#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "report/profile/prof_time.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/calls.h"
#include "tools/write/profile.h"

/* A word of --by behind those of enum prof_by. */
enum { WORD_PID = BY_THREAD + 1 };
_Static_assert(BY_HOST == WORD_PID + 1, "host is the word behind pid");

#define CONTEXT_WORDS                                                           \
	(1u << BY_COMM | 1u << BY_CGROUP | 1u << BY_CONTAINER | 1u << BY_UNIT | \
	 1u << BY_LABEL | 1u << BY_PROCESS | 1u << BY_THREAD)

struct options {
	struct out_options out;
	struct prof_request prof;
	unsigned int by; /* 1 << each word of --by */
	bool children;
	const char *svg, *interval;
	uint64_t max_epochs;
};

static int run_children(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct prof_request *prof = &o->prof;
	const char *key = o->out.sort;
	struct children c;
	struct pager pager;
	int err;

	if (prof->by_stream || prof->over_time || o->svg)
		return cmd_usage_error(ctx->cmd,
				       "--children shows call stacks, which have "
				       "no --by-stream, --over-time or --svg");
	if (prof->attribution)
		return cmd_usage_error(ctx->cmd, "--attribution does not apply to call "
						 "stacks: leave out --children");
	if (prof->by != BY_PROCEDURE && prof->by != BY_IMAGE)
		return cmd_usage_error(ctx->cmd, "--children goes with --by=procedure "
						 "and --by=image");
	if (prof->by == BY_IMAGE && (prof->procedure || prof->inlines))
		return cmd_usage_error(ctx->cmd, "--procedure and --inlines go with "
						 "--by=procedure");
	if (key && strcmp(key, "time") && strcmp(key, "self") &&
	    strcmp(key, "procedure") && strcmp(key, "image"))
		return cmd_usage_error(ctx->cmd, "--children is sorted by time, self, "
						 "procedure or image");
	err = children_open(prof, &c);
	if (err)
		return cmd_exit_status(ctx->cmd, err);
	if (!c.nr_rows)
		log_warn("%s: no samples match", db_path(c.calls.sel.db));
	pager_begin(&pager, &o->out);
	err = children_print(&c, &o->out);
	pager_end(&pager);
	children_close(&c);
	return cmd_exit_status(ctx->cmd, err);
}

/* What rows stand for: contexts of several kinds, or one of the rest. */
static int take_by(const struct cmd_context *ctx)
{
	struct options *o = ctx->opt;
	unsigned int by = o->by;

	if (by & 1u << WORD_PID)
		by = (by & ~(1u << WORD_PID)) | 1u << BY_PROCESS;
	if (by & ~CONTEXT_WORDS && by & (by - 1))
		return cmd_usage_error(ctx->cmd, "--by: procedure, image, line "
						 "and host stand alone");
	while (by && !(by & 1u << o->prof.by))
		o->prof.by++;
	o->prof.also = by;
	return 0;
}

static int take_interval(const struct cmd_context *ctx)
{
	struct options *o = ctx->opt;

	if (!o->interval)
		return 0;
	if (time_parse_duration(o->interval, &o->prof.interval_ns) ||
	    o->prof.interval_ns < NSEC_PER_SEC)
		return cmd_usage_error(ctx->cmd,
				       "--interval=%s: say a time of a second or more, "
				       "like 60s, 10m or 1h",
				       o->interval);
	if (!o->prof.over_time && !o->svg)
		return cmd_usage_error(ctx->cmd, "--interval goes with --over-time "
						 "and --svg");
	return 0;
}

static int check(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct prof_request *prof = &o->prof;
	const bool no_procedures = prof->by == BY_IMAGE || prof_contexts[prof->by].name;

	if (prof->procedure && no_procedures)
		return cmd_usage_error(ctx->cmd, "--procedure goes with --by=procedure "
						 "and --by=line");
	if (prof->inlines && no_procedures)
		return cmd_usage_error(ctx->cmd, "--inlines goes with --by=procedure "
						 "and --by=line");
	if (prof->attribution && no_procedures)
		return cmd_usage_error(ctx->cmd,
				       "--attribution goes with --by=procedure "
				       "and --by=line");
	if ((prof->attribution == ATTRIBUTION_TIP ||
	     prof->attribution == ATTRIBUTION_PRECISE) &&
	    (prof->over_time || o->svg))
		return cmd_usage_error(ctx->cmd,
				       "--attribution=%s needs the whole selection: "
				       "leave out --over-time and --svg",
				       attribution_str(prof->attribution));
	return 0;
}

static int print(struct prof *p, const struct options *o)
{
	struct pager pager;
	int err = 0;

	if (!p->nr_rows)
		log_warn("%s: no samples match", db_path(p->sel.db));
	pager_begin(&pager, &o->out);
	if (o->out.format == OUT_JSON)
		prof_print_json(p, o->out.limit, o->max_epochs);
	else
		err = prof_print_table(p, &o->out);
	pager_end(&pager);
	if (err)
		log_err("prof: %s", err_str(err));
	else if (o->svg)
		err = prof_write_svg(p, o->svg);
	return err;
}

static int run_prof(struct cmd_context *ctx)
{
	struct options *o = ctx->opt;
	struct prof p;
	int err;

	o->prof.sort = o->out.sort;
	o->prof.picture = o->svg;
	if (take_by(ctx) || take_interval(ctx))
		return EXIT_USAGE;
	if (o->children)
		return run_children(ctx);
	if (check(ctx))
		return EXIT_USAGE;
	if (prof_open(&o->prof, &p))
		return EXIT_FAIL;
	err = print(&p, o);
	prof_close(&p);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_REPORT,
	OPT("by", 0,
	    "procedure|image|comm|line|cgroup|container|unit|label|process|thread|pid|"
	    "host",
	    "what a row stands for; contexts with commas between", OPT_WORDS, by),
	OPT("procedure", 0, "GLOB", "show only these procedures", OPT_STRING,
	    prof.procedure),
	OPT("inlines", 'i', NULL, "show inlined functions in rows of their own",
	    OPT_FLAG, prof.inlines),
	OPT_ATTRIBUTION_OF(struct options, prof.attribution),
	OPT("children", 0, NULL, "add the time of callees, from call stacks", OPT_FLAG,
	    children),
	OPT("idle", 0, NULL, "count the idle loop in the percentages", OPT_FLAG,
	    prof.idle),
	OPT("by-stream", 0, NULL, "show ticks and other events in columns of their own",
	    OPT_FLAG, prof.by_stream),
	OPT("over-time", 0, NULL, "show each row's time over the epochs", OPT_FLAG,
	    prof.over_time),
	OPT("interval", 0, "TIME", "length of the intervals of --over-time", OPT_STRING,
	    interval),
	OPT("max-epochs", 0, "N",
	    "in JSON, merge epochs that follow each other, if there are more than N",
	    OPT_COUNT, max_epochs),
	OPT("svg", 0, "FILE", "draw the busiest rows' time over the epochs", OPT_STRING,
	    svg),
	OPTS_DEBUG_FILES,
	OPT_LIMIT,
	OPT_SORT("time, samples, procedure, image, or an event"),
	OPT_FORMAT,
	OPT_NO_PAGER,
	OPT_END,
};

const struct cmd cmd_prof = {
	.name = "prof",
	.alias = "report",
	.args = "",
	.summary = "Where the time went, by procedure, image, line or context",
	.max_args = 0,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_prof,
};
