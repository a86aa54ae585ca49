/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_values.c - shows which values a procedure's instructions had, from windows
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"

#define DEFAULT_VALUES 5   /* of a site, in text */
#define MOST_VALUES    100 /* in CSV and JSON */

static int show(struct cmd_context *ctx, struct explainer *x,
		const struct found_places *found)
{
	const struct out_options *out = ctx->opt;
	const size_t limit = out->limit                ? out->limit
			     : out->format == OUT_TEXT ? DEFAULT_VALUES
						       : MOST_VALUES;
	struct values_report r;
	struct pager pager;
	int err = values_report_make(x, found->chosen, limit, &r);

	if (!err) {
		select_end_read(&explainer_scope(x)->sel);
		pager_begin(&pager, out);
		err = values_print(&r, out);
		pager_end(&pager);
	}
	values_report_fini(&r);
	return err;
}

static int run_values(struct cmd_context *ctx)
{
	return options_explain_place(ctx, show);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPTS_DEBUG_FILES, OPT_LIMIT, OPT_FORMAT,
	OPT_COLOR,   OPT_NO_PAGER,     OPT_END,
};

const struct cmd cmd_values = {
	.name = "values",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "Targets of calls, iterations of loops, alignment of data",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct explain_options),
	.run = run_values,
};
