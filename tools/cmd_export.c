/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_export.c - a selection in the format of another viewer (cpi epoch export moves
 *                epochs between databases)
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/cmd.h"
#include "tools/export.h"

#ifdef HAVE_PROTOBUF_C
#define PPROF export_pprof
#else
#define PPROF NULL
#endif

/* In the order of --format's words. */
static const struct format {
	int (*write)(struct weighing *w); /* NULL: not built */
	bool binary;
} formats[] = {
	{ PPROF, true },
	{ export_collapsed, false },
	{ export_speedscope, false },
	{ export_firefox, false },
	{ export_callgrind, false },
};
#define FORMATS "pprof|collapsed|speedscope|firefox|callgrind"

static int open_output(const struct cmd_context *ctx)
{
	const char *path = ctx->opt.output;

	if (path && !freopen(path, "we", stdout)) {
		log_err("%s: %s", path, strerror(errno));
		return EXIT_FAIL;
	}
	if (formats[ctx->opt.format].binary && isatty(STDOUT_FILENO))
		return cmd_usage_error(
			ctx->cmd, "this format is nothing for a terminal: -o FILE, "
				  "or redirect the output");
	return 0;
}

static int run(struct cmd_context *ctx)
{
	struct weighing w;
	int err, status;

	if (weighing_check_by(ctx))
		return EXIT_USAGE;
	if (!formats[ctx->opt.format].write)
		return cmd_usage_error(
			ctx->cmd, "built without pprof's format: configure CPI "
				  "where protobuf-c-compiler and libprotobuf-c-dev "
				  "are");
	if (weighing_open(ctx, &w))
		return EXIT_FAIL;
	status = open_output(ctx);
	if (!status) {
		err = formats[ctx->opt.format].write(&w);
		status = err ? select_failed(ctx, &w.sel, err) : EXIT_OK;
	}
	weighing_close(&w);
	return status;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("format", 0, FORMATS, "whose format to write", OPT_CHOICE, format),
	OPT("output", 'o', "FILE", "write to this file", OPT_STRING, output),
	OPT("by", 0, WEIGHING_BY, "by which contexts to label stacks", OPT_CHOICE,
	    labels),
	OPT("stacks", 0, NULL, "export call stacks, which are samples of their own",
	    OPT_FLAG, call_stacks),
	OPT("idle", 0, NULL, "export the idle loop, too", OPT_FLAG, idle),
	OPTS_DEBUG_FILES,
	OPT_END,
};

const struct cmd cmd_export = {
	.name = "export",
	.args = "",
	.summary = "Write profiles for other viewers: pprof, Firefox, callgrind and "
		   "others",
	.max_args = 0,
	.opts = opts,
	.run = run,
};
