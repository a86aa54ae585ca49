/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_cfg.c - draws the control-flow graph of a procedure (dcpi2ps)
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/newfile.h"
#include "report/explain/calc.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/graphviz.h"
#include "tools/write/cfg_dot.h"

enum { FORMAT_DOT, FORMAT_SVG, FORMAT_JSON };

struct options {
	struct explain_options explain;
	const char *output;
};

/* Writes dot's picture of the graph to the descriptor out. */
static int write_svg(const struct buf *dot, int out)
{
	const int err = graphviz_run(dot, "svg", out);

	if (err == -ENOENT)
		log_err("cfg: --format=svg needs graphviz's dot, which is not "
			"installed: "
			"install graphviz, or take --format=dot");
	else if (err)
		log_err("cfg: dot failed (%s): try --format=dot", err_str(err));
	return err;
}

static int write_graph(const struct buf *dot, int format, int out, const char *path)
{
	int err;

	if (format == FORMAT_SVG)
		return write_svg(dot, out);
	err = file_write(out, dot->data, dot->len);
	if (err)
		log_err("%s: %s", path, err_str(err));
	return err;
}

/* Writes the picture to the file at path, whole or not at all. */
static int write_file(const struct buf *dot, int format, const char *path)
{
	struct newfile file;
	int err = newfile_open(path, &file), end;

	if (err) {
		log_err("%s: %s", path, err_str(err));
		return err;
	}
	err = write_graph(dot, format, file.fd, path);
	end = newfile_close(&file, !err);
	if (end)
		log_err("%s: %s", path, err_str(end));
	return err ? err : end;
}

static int print(const struct cfg_picture *picture, const struct options *o)
{
	const int format = o->explain.out.format;
	struct buf dot = { 0 };
	int err;

	cfg_dot(picture, &dot);
	err = dot.err;
	if (!err && format == FORMAT_JSON)
		err = cfg_print_json(picture, &dot);
	else if (!err && o->output)
		err = write_file(&dot, format, o->output);
	else if (!err && format == FORMAT_SVG)
		err = write_svg(&dot, STDOUT_FILENO);
	else if (!err)
		fputs(buf_str(&dot), stdout);
	buf_fini(&dot);
	return err;
}

static int draw(struct cmd_context *ctx, struct explainer *x,
		const struct found_places *found)
{
	const struct scope *s = explainer_scope(x);
	struct cfg_picture picture = { .has_time = s->event < s->ev.nr,
				       .ev = &s->ev,
				       .image = &found->chosen->image.desc };
	const struct explanation *ex;
	struct event_sum *tally;
	int err = explainer_require(x, found->chosen, &ex);

	if (err)
		return err;
	picture.e = ex->e;
	picture.isa = explainer_isa(x);
	err = calc_tally_blocks(x, ex->e, found->chosen, &tally, &picture.total);
	if (err)
		return err;
	picture.tally = tally;
	err = print(&picture, ctx->opt);
	free(tally);
	return err;
}

static int run_cfg(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	if (o->explain.out.format == FORMAT_JSON && o->output)
		return cmd_usage_error(ctx->cmd, "--format=json goes to standard "
						 "output: leave out --output");
	return options_explain_place(ctx, draw);
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPTS_EXPLAIN,
	OPT("output", 'o', "FILE", "write the graph to this file, not to stdout",
	    OPT_STRING, output),
	OPT_OUT("format", "dot|svg|json", "how to write the graph", OPT_CHOICE, format),
	OPT_END,
};

const struct cmd cmd_cfg = {
	.name = "cfg",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "The control-flow graph of a procedure, as a picture",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_cfg,
};
