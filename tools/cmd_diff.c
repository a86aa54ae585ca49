/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_diff.c - what takes more time than it did? (dcpidiff)
 */
#include "config.h"

#include <math.h>

#include "base/err.h"
#include "base/log.h"
#include "report/compare/diff_gate.h"
#include "tools/commands.h"
#include "tools/export/diff_junit.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/compare.h"

/* Formats of its own, after those of enum out_format. */
#define FORMAT_SVG   (OUT_CSV + 1)
#define FORMAT_JUNIT (OUT_CSV + 2)

/* The exit status if --fail-if's condition is met. */
#define EXIT_MET   3
#define MOST_NAMED 10

struct options {
	struct out_options out;
	struct diff_request diff;
	const char *fail_if; /* NULL: no condition */
};

/* Compares one procedure, the third argument. */
static int diff_one(const struct cmd_context *ctx, const struct options *o)
{
	struct diff_procedure d;
	struct pager pager;
	int err = diff_procedure_open(&o->diff.select, ctx->args[0], ctx->args[1],
				      ctx->args[2], &d);

	if (!err) {
		pager_begin(&pager, &o->out);
		err = diff_procedure_print(&d, &o->out);
		pager_end(&pager);
		diff_procedure_close(&d);
	}
	return cmd_exit_status(ctx->cmd, err);
}

static int check_diff(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct diff_gate g;

	if (o->fail_if && diff_gate_parse(o->fail_if, &g))
		return cmd_usage_error(ctx->cmd,
				       "'%s' is not a condition: give slower, more or "
				       "changed, as in 'slower > 3 %%'",
				       o->fail_if);
	if (o->out.format == FORMAT_JUNIT && !o->fail_if)
		return cmd_usage_error(ctx->cmd, "--format=junit needs --fail-if");
	if (ctx->nr_args == 3 && o->fail_if)
		return cmd_usage_error(ctx->cmd, "--fail-if compares all procedures");
	if (ctx->nr_args == 3 && (o->diff.by || o->diff.history || o->diff.threshold ||
				  o->diff.fdr || o->out.limit))
		return cmd_usage_error(ctx->cmd, "--by, --history, --threshold, --fdr "
						 "and --limit compare all procedures");
	return 0;
}

/* Says which rows meet the condition, the first ones by name. The exit status. */
static int judge(const struct diff *d, const char *condition)
{
	struct diff_gate g;
	size_t nr = 0;

	if (diff_gate_parse(condition, &g))
		return EXIT_FAIL;
	if (!diff_gate_can_judge(d)) {
		log_err("diff: '%s' " DIFF_GATE_UNJUDGED, condition, COMPARE_MIN_RUNS);
		return EXIT_FAIL;
	}
	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_row *r = &d->row[i];

		if (!diff_gate_meets(&g, r))
			continue;
		if (++nr <= MOST_NAMED)
			log_err("diff: %s: %s %+.1f %%", condition,
				r->row->procedure ? r->row->procedure
				: r->row->context ? r->row->context
						  : matrix_image(r->row),
				expm1(r->compared->change) * 100);
	}
	if (nr > MOST_NAMED)
		log_err("diff: %s: and %zu more", condition, nr - MOST_NAMED);
	return nr ? EXIT_MET : EXIT_OK;
}

static int print_junit(const struct diff *d, const char *condition)
{
	struct diff_gate g;
	int err = diff_gate_parse(condition, &g);

	return err ? err : diff_junit_print(d, &g, condition);
}

static int print_diff(struct diff *d, const struct options *o)
{
	switch (o->out.format) {
	case FORMAT_SVG:
		return diff_print_svg(d, o->out.limit);
	case FORMAT_JUNIT:
		return print_junit(d, o->fail_if);
	default:
		return diff_print(d, &o->out);
	}
}

static int run_diff(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	int err, status = EXIT_OK;
	struct pager pager;
	struct diff d;

	if (ctx->nr_args == 3 && o->out.format == FORMAT_SVG)
		return cmd_usage_error(ctx->cmd, "there is no picture of a procedure");
	if (ctx->nr_args == 3)
		return diff_one(ctx, o);
	err = diff_open(&o->diff, ctx->args[0], ctx->args[1], &d);
	if (err)
		return EXIT_FAIL;
	if (!d.nr_rows)
		log_warn("diff: no samples match");
	pager_begin(&pager, &o->out);
	err = print_diff(&d, o);
	pager_end(&pager);
	if (o->fail_if && !err)
		status = judge(&d, o->fail_if);
	diff_close(&d);
	if (err)
		log_err("diff: %s", err_str(err));
	return err ? EXIT_FAIL : status;
}

static const struct opt opts[] = {
	OPT_DB,
	OPT_LOCAL_TIME,
	OPT_HOST,
	OPT_PLATFORM,
	OPTS_ORIGIN,
	OPT_MERGE_PLATFORMS,
	OPT_EVENT,
	OPT_IMAGE,
	OPTS_CONTEXTS,
	OPT("by", 0,
	    "procedure|image|comm|line|cgroup|container|unit|label|process|thread",
	    "what a row stands for", OPT_CHOICE, diff.by),
	OPT("history", 0, "SPEC", "earlier epochs that show how epochs vary, or none",
	    OPT_STRING, diff.history),
	OPT("threshold", 0, "PERCENT", "ignore smaller changes (default: 0.5)",
	    OPT_REAL, diff.threshold),
	OPT("fdr", 0, "RATE", "accepted share of false findings (default: 0.05)",
	    OPT_REAL, diff.fdr),
	OPT("fail-if", 0, "CONDITION",
	    "exit 3 if a row meets it: 'slower > 3 %', 'more' or 'changed'", OPT_STRING,
	    fail_if),
	OPT_LIMIT,
	OPT_VERBOSE,
	OPT_FORMAT_OF("text|json|csv|svg|junit"),
	OPT_COLOR,
	OPT_NO_PAGER,
	OPT_END,
};

const struct cmd cmd_diff = {
	.name = "diff",
	.args = "A B [[IMAGE:]PROC | 0xOFFSET]",
	.summary = "Compare two selections: what takes more time, beyond chance",
	.min_args = 2,
	.max_args = 3,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.check = check_diff,
	.run = run_diff,
};
