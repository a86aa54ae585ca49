/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_calc.c - how often did each instruction of a procedure run, how long did it
 *              take, and what did it wait for? (dcpicalc)
 */
#include "config.h"

#include <stdio.h>

#include "base/log.h"
#include "report/select/imagecache.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"

struct options {
	struct explain_options explain;
	bool all, source, assembly;
};

/* Says why there are no source lines, if they could not be read. */
static void warn_lines(struct explainer *x, const struct explanation *ex)
{
	if (ex->im)
		image_cache_warn_lines(explainer_scope(x)->images, ex->image, ex->im);
}

static int print(const struct options *o, struct explainer *x,
		 const struct explanation *ex)
{
	const enum calc_source source = o->assembly ? CALC_SOURCE_NEVER
					: o->source ? CALC_SOURCE_ALWAYS
						    : CALC_SOURCE_AT_HAND;
	struct pager pager;
	int err;

	if (o->explain.out.format == OUT_JSON) {
		calc_print_json(x, ex, false);
		warn_lines(x, ex);
		return 0;
	}
	select_end_read(&explainer_scope(x)->sel);
	pager_begin(&pager, &o->explain.out);
	err = calc_print_table(x, ex, source, o->all, &o->explain.out);
	pager_end(&pager);
	warn_lines(x, ex);
	return err;
}

/*
 * Shows a procedure that has weights but no code. Returns whether there was something
 * to show, or a negative error.
 */
static int print_stacks(const struct options *o, const struct explainer *x,
			const struct explanation *ex, const char *name)
{
	struct cyclestack_list list;
	int err = cyclestack_list(x, ex, &list);
	bool any;

	if (err)
		return err;
	any = list.sum.all > 0;
	if (any && o->explain.out.format == OUT_JSON)
		cyclestack_json_list(x, ex, &list, o->all);
	else if (any)
		err = cyclestack_print_list(x, ex, name, &list, &o->explain.out);
	cyclestack_list_fini(&list);
	return err ? err : any;
}

struct calc {
	const struct options *o;
	struct explainer *x;
};

static int on_explanation(void *ctx, const struct explanation *ex)
{
	const struct calc *c = ctx;
	int shown = 0;

	if (ex->e) {
		calc_print_json(c->x, ex, true);
		warn_lines(c->x, ex);
	} else if (ex->symbol)
		shown = print_stacks(c->o, c->x, ex, ex->symbol->name);
	return shown < 0 ? shown : 0;
}

#define NOT_PRINTED 1 /* ends the walk without a message: out_finish() has one */

/* The result of a worker is its standard output. An earlier write may have failed. */
static int flush(void *ctx, struct buf *out)
{
	(void)ctx;
	(void)out;
	return fflush(stdout) || ferror(stdout) ? NOT_PRINTED : 0;
}

static int copy(void *ctx, const uint8_t *data, size_t size)
{
	(void)ctx;
	return fwrite(data, 1, size, stdout) == size ? 0 : NOT_PRINTED;
}

static const struct explain_parts parts = { on_explanation, flush, copy, true };

static int calc_place(const struct options *o, struct explainer *x,
		      const struct found_place *place)
{
	const struct explanation *ex;
	int err = explainer_place(x, place, &ex);

	if (err)
		return err;
	if (!ex->e) {
		err = print_stacks(o, x, ex,
				   ex->symbol ? ex->symbol->name : place->name);
		if (err)
			return err < 0 ? err : 0;
		err = explainer_require(x, place, &ex);
	}
	return err ? err : print(o, x, ex);
}

/* Says of how many images nothing was printed, because they could not be opened. */
static int calc_all(struct explainer *x, struct calc *c)
{
	const int err = explainer_each_part(x, &parts, c);
	const size_t nr = image_cache_nr_failed(explainer_scope(x)->images);

	if (!err && nr)
		log_warn("procedures of %zu %s are missing, which could not be opened: "
			 "'cpi prof' says why",
			 nr, nr == 1 ? "image" : "images");
	return err;
}

static int calc(struct cmd_context *ctx, struct explainer *x)
{
	struct calc c = { .o = ctx->opt, .x = x };
	struct found_places found = { .first = NULL };
	int err = scope_needs_time(explainer_scope(x));

	if (err)
		return err;
	if (!ctx->nr_args)
		return calc_all(x, &c);
	err = place_find(explainer_scope(x), ctx->args[0], &found);
	if (!err)
		err = calc_place(ctx->opt, x, found.chosen);
	found_places_fini(&found);
	return err;
}

static int run_calc(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	if (!o->all && !ctx->nr_args)
		return cmd_usage_error(ctx->cmd, "say which procedure, or --all");
	if (!ctx->nr_args && o->explain.out.format != OUT_JSON)
		return cmd_usage_error(
			ctx->cmd, "--all without a procedure is for --format=json");
	return options_explain(ctx, calc);
}

static const struct opt opts[] = {
	OPTS_REPORT,
	OPT("all", 0, NULL,
	    "every block; without PROC every procedure, as lines of JSON", OPT_FLAG,
	    all),
	OPT("source", 's', NULL, "show source lines between instructions", OPT_FLAG,
	    source),
	OPT("asm", 'a', NULL, "assembly alone", OPT_FLAG, assembly),
	OPT_NO_PAGER,
	OPT_ATTRIBUTION,
	OPTS_EXPLAIN,
	OPT_FORMAT,
	OPT_COLOR,
	OPT_END,
};

const struct cmd cmd_calc = {
	.name = "calc",
	.args = "[[IMAGE:]PROC | 0xOFFSET]",
	.summary = "How often instructions ran, how long they took, and why",
	.min_args = 0,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_calc,
};
