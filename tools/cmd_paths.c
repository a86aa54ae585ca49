/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_paths.c - shows the most frequent paths through a procedure, from windows
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"

#define DEFAULT_ROWS 20

static int show(struct cmd_context *ctx, struct explainer *x,
		const struct found_places *found)
{
	const struct out_options *out = ctx->opt;
	const size_t limit = out->limit                ? out->limit
			     : out->format == OUT_TEXT ? DEFAULT_ROWS
						       : SIZE_MAX;
	struct paths_report r;
	struct pager pager;
	int err = paths_find(x, found->chosen, limit, &r);

	if (!err) {
		select_end_read(&explainer_scope(x)->sel);
		pager_begin(&pager, out);
		err = paths_print(&r, out);
		pager_end(&pager);
	}
	paths_fini(&r);
	return err;
}

static int run_paths(struct cmd_context *ctx)
{
	return options_explain_place(ctx, show);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPTS_DEBUG_FILES, OPT_LIMIT, OPT_FORMAT,
	OPT_COLOR,   OPT_NO_PAGER,     OPT_END,
};

const struct cmd cmd_paths = {
	.name = "paths",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "The paths through a procedure that are taken most",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct explain_options),
	.run = run_paths,
};
