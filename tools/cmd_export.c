/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_export.c - a selection in the format of another viewer, or of a compiler (cpi
 *                epoch export moves epochs between databases)
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/newfile.h"
#include "tools/cmd.h"
#include "tools/export.h"
#include "tools/feeding.h"

#ifdef HAVE_PROTOBUF_C
#define PPROF export_pprof
#else
#define PPROF NULL
#endif

/* In the order of --format's words. */
static const struct format {
	int (*write)(struct weighing *w);     /* for viewers; NULL: not built, or */
	int (*feed)(const struct feeding *f); /* for compilers */
	bool binary;
	bool plain;      /* see feedback_new() */
	bool by_address; /* of one build */
} formats[] = {
	{ .write = PPROF, .binary = true },
	{ .write = export_collapsed },
	{ .write = export_speedscope },
	{ .write = export_firefox },
	{ .write = export_callgrind },
	{ .feed = export_llvm_sample },
	{ .feed = export_llvm_binary, .binary = true },
	{ .feed = export_llvm_unsymbolized, .by_address = true },
	{ .feed = export_gcov, .binary = true, .plain = true },
	{ .feed = export_bolt, .by_address = true },
};
#define FORMATS                                                                 \
	"pprof|collapsed|speedscope|firefox|callgrind|llvm-sample|llvm-sample-" \
	"binary|llvm-unsymbolized|gcov|bolt"

/* With -o, stdout becomes that file. 0 or an exit status. */
static int open_output(const struct cmd_context *ctx, struct newfile *file)
{
	const char *path = ctx->opt.output;
	int err = path ? newfile_open(path, file) : 0;

	if (!err && path && dup2(file->fd, STDOUT_FILENO) < 0) {
		err = -errno;
		newfile_close(file, false);
	}
	if (err) {
		log_err("%s: %s", path, err_str(err));
		return EXIT_FAIL;
	}
	if (formats[ctx->opt.format].binary && isatty(STDOUT_FILENO))
		return cmd_usage_error(
			ctx->cmd, "this format is nothing for a terminal: -o FILE, "
				  "or redirect the output");
	return 0;
}

/* Without an error so far, what was written gets its name. Else it is logged why not.
 */
static int close_output(const struct cmd_context *ctx, struct newfile *file, int err)
{
	int flushed = 0, end;

	if (!ctx->opt.output)
		return err;
	if (!err && (fflush(stdout) || ferror(stdout)))
		flushed = errno ? -errno : -EIO;
	end = newfile_close(file, !err && !flushed);
	end = flushed ? flushed : end;
	if (!err && end)
		log_err("%s: %s", ctx->opt.output, err_str(end));
	return err ? err : end;
}

static int write_feeding(struct feeding *f)
{
	const struct cmd_context *ctx = f->x->l->ctx;
	const struct format *format = &formats[ctx->opt.format];
	struct newfile file;
	int err = feeding_finish(f);

	if (!err && ctx->opt.check)
		return feeding_report(f);
	if (!err)
		feeding_warn(f);
	if (!err && f->by_address)
		err = feeding_choose(f);
	else if (!err)
		err = feeding_need_functions(f);
	if (!err && open_output(ctx, &file))
		err = -EIO;
	return err ? err : close_output(ctx, &file, format->feed(f));
}

static int feed(struct explainer *x)
{
	const struct format *format = &formats[x->l->ctx->opt.format];
	struct feeding f = { .plain = format->plain, .by_address = format->by_address };
	int err = feeding_gather(&f, x);

	if (!err)
		err = write_feeding(&f);
	feeding_close(&f);
	return err;
}

static int run(struct cmd_context *ctx)
{
	struct newfile file;
	struct weighing w;
	int err, status;

	if (ctx->opt.check || formats[ctx->opt.format].feed)
		return explainer_run(ctx, feed);
	if (weighing_check_by(ctx))
		return EXIT_USAGE;
	if (!formats[ctx->opt.format].write)
		return cmd_usage_error(
			ctx->cmd, "built without pprof's format: configure CPI "
				  "where protobuf-c-compiler and libprotobuf-c-dev "
				  "are");
	if (weighing_open(ctx, &w))
		return EXIT_FAIL;
	status = open_output(ctx, &file);
	if (!status) {
		err = formats[ctx->opt.format].write(&w);
		if (err)
			select_failed(ctx, &w.sel, err);
		status = close_output(ctx, &file, err) ? EXIT_FAIL : EXIT_OK;
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
	OPT("to", 0, "BINARY", "for compilers: only what this newer build still has",
	    OPT_STRING, to),
	OPT("check", 0, NULL, "say how good a profile for compilers it is", OPT_FLAG,
	    check),
	OPT("limit", 0, "N", "of --check: name at most N functions", OPT_COUNT, limit),
	OPTS_DEBUG_FILES,
	OPT_END,
};

const struct cmd cmd_export = {
	.name = "export",
	.args = "",
	.summary = "Write profiles for other viewers, and for compilers: pprof, LLVM "
		   "and others",
	.max_args = 0,
	.opts = opts,
	.run = run,
};
