/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_export.c - writes a selection in the format of another viewer, or of a compiler
 * (cpi epoch export moves epochs between databases)
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/newfile.h"
#include "tools/commands.h"
#include "tools/export/export.h"
#include "tools/options.h"
#include "tools/write/compiler_profile_print.h"

#ifdef HAVE_PROTOBUF_C
#define PPROF export_pprof
#else
#define PPROF NULL
#endif

struct options {
	struct out_options out;
	struct export_request samples;
	const char *output, *to;
	bool check;
};

/* In the order of --format's words. */
static const struct format {
	/* For viewers; NULL if it is not built in, or is for compilers. */
	int (*write)(struct export_samples *w);
	int (*write_profile)(const struct compiler_profile *f); /* for compilers */
	bool binary;
	bool plain;      /* as feedback_new() explains */
	bool by_address; /* for one build only */
} formats[] = {
	{ .write = PPROF, .binary = true },
	{ .write = export_collapsed },
	{ .write = export_speedscope },
	{ .write = export_firefox },
	{ .write = export_callgrind },
	{ .write_profile = export_llvm_sample },
	{ .write_profile = export_llvm_binary, .binary = true },
	{ .write_profile = export_llvm_unsymbolized, .by_address = true },
	{ .write_profile = export_gcov, .binary = true, .plain = true },
	{ .write_profile = export_bolt, .by_address = true },
};
#define FORMATS                                                                 \
	"pprof|collapsed|speedscope|firefox|callgrind|llvm-sample|llvm-sample-" \
	"binary|llvm-unsymbolized|gcov|bolt"

/* With -o, redirects stdout to that file. Returns 0 or an exit status. */
static int open_output(const struct cmd_context *ctx, struct newfile *file)
{
	const struct options *o = ctx->opt;
	const char *path = o->output;
	int err = path ? newfile_open(path, file) : 0;

	if (!err && path && dup2(file->fd, STDOUT_FILENO) < 0) {
		err = -errno;
		newfile_close(file, false);
	}
	if (err) {
		log_err("%s: %s", path, err_str(err));
		return EXIT_FAIL;
	}
	return 0;
}

static int check_output(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const bool for_compilers = o->check || formats[o->out.format].write_profile;

	if (for_compilers &&
	    (o->samples.labels || o->samples.call_stacks || o->samples.idle))
		return cmd_usage_error(ctx->cmd, "--by, --stacks and --idle are for "
						 "the formats of viewers");
	if (!for_compilers && o->to)
		return cmd_usage_error(ctx->cmd,
				       "--to is for the formats of compilers");
	if (formats[o->out.format].binary && !o->check && !o->output &&
	    isatty(STDOUT_FILENO))
		return cmd_usage_error(ctx->cmd, "this format is binary: give -o FILE, "
						 "or redirect the output");
	return 0;
}

/* Gives the file its name if there was no error; else logs the reason. */
static int close_output(const char *path, struct newfile *file, int err)
{
	int flushed = 0, end;

	if (!path)
		return err;
	if (!err && (fflush(stdout) || ferror(stdout)))
		flushed = errno ? -errno : -EIO;
	end = newfile_close(file, !err && !flushed);
	end = flushed ? flushed : end;
	if (!err && end)
		log_err("%s: %s", path, err_str(end));
	return err ? err : end;
}

static int write_compiler_profile(struct compiler_profile *f,
				  const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct newfile file;
	int err = compiler_profile_finish(f);

	if (!err && o->check)
		return compiler_profile_print_check(f, o->out.limit);
	if (!err)
		compiler_profile_warn(f);
	if (!err && f->by_address)
		err = compiler_profile_choose(f);
	else if (!err)
		err = compiler_profile_need_functions(f);
	if (!err && open_output(ctx, &file))
		err = -EIO;
	return err ? err
		   : close_output(o->output, &file,
				  formats[o->out.format].write_profile(f));
}

static int export_compiler_profile(const struct cmd_context *ctx, struct explainer *x)
{
	const struct options *o = ctx->opt;
	const struct format *format = &formats[o->out.format];
	struct compiler_profile f = { .to_path = o->to,
				      .plain = format->plain,
				      .by_address = format->by_address };
	int err = compiler_profile_gather(&f, x);

	if (!err)
		err = write_compiler_profile(&f, ctx);
	compiler_profile_close(&f);
	return err;
}

static int run_compiler_profile(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct explain_request req = { .select = o->samples.select };
	struct explainer *x = NULL;
	int err = explainer_open(&req, &x);

	if (!err)
		err = export_compiler_profile(ctx, x);
	explainer_close(x);
	return cmd_exit_status(ctx->cmd, err);
}

static int run_export(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct format *format = &formats[o->out.format];
	struct newfile file;
	struct export_samples w;
	int err, status;

	if (o->check || format->write_profile)
		return run_compiler_profile(ctx);
	if (!format->write)
		return cmd_usage_error(
			ctx->cmd, "built without pprof's format: configure CPI "
				  "where protobuf-c-compiler and libprotobuf-c-dev "
				  "are");
	if (export_samples_open(&o->samples, &w))
		return EXIT_FAIL;
	status = open_output(ctx, &file);
	if (!status) {
		err = format->write(&w);
		if (err)
			select_failed(&w.sel, err);
		status = close_output(o->output, &file, err) ? EXIT_FAIL : EXIT_OK;
	}
	export_samples_close(&w);
	return status;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT_OUT("format", FORMATS, "whose format to write", OPT_CHOICE, format),
	OPT("output", 'o', "FILE", "write to this file", OPT_STRING, output),
	OPT("by", 0, "auto|none|comm|cgroup|label|process",
	    "by which contexts to label stacks", OPT_CHOICE, samples.labels),
	OPT("stacks", 0, NULL, "export call stacks, which are samples of their own",
	    OPT_FLAG, samples.call_stacks),
	OPT("idle", 0, NULL, "export the idle loop, too", OPT_FLAG, samples.idle),
	OPT("to", 0, "BINARY", "for compilers: keep what this newer build still has",
	    OPT_STRING, to),
	OPT("check", 0, NULL, "say how good a profile for compilers it is", OPT_FLAG,
	    check),
	OPT_OUT("limit", "N", "with --check: name at most N functions", OPT_COUNT,
		limit),
	OPTS_DEBUG_FILES,
	OPT_END,
};

const struct cmd cmd_export = {
	.name = "export",
	.args = "",
	.summary = "Write profiles for viewers and compilers: pprof, LLVM and others",
	.max_args = 0,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.check = check_output,
	.run = run_export,
};
