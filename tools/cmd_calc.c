/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_calc.c - how often did each instruction of a procedure run, how long did it
 *              take, and what did it wait for? (dcpicalc)
 */
#include "config.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/calc.h"
#include "tools/cyclestack.h"

static int print(struct calc *c)
{
	if (c->x->l->ctx->opt.format != OUT_JSON)
		return calc_print_table(c);
	calc_print_json(c, false);
	return 0;
}

/* What has no code, but weights: whether it was shown; or an error. */
static int print_stacks(const struct calc *c, bool one_line)
{
	struct cyclestack_list list;
	int err = cyclestack_list(c->x, c->ex, &list);
	bool any;

	if (err)
		return err;
	any = list.sum.all > 0;
	if (any && c->x->l->ctx->opt.format == OUT_JSON)
		cyclestack_json_list(c->x, c->ex, &list, one_line);
	else if (any)
		err = cyclestack_print_list(c->x, c->ex, &list);
	cyclestack_list_fini(&list);
	return err ? err : any;
}

static int on_explanation(void *ctx, const struct explanation *ex)
{
	struct calc *c = ctx;
	int shown = 0;

	c->ex = ex;
	if (ex->e)
		calc_print_json(c, true);
	else if (ex->symbol)
		shown = print_stacks(c, true);
	return shown < 0 ? shown : 0;
}

static int calc_one(struct explainer *x)
{
	struct calc c = { .x = x };
	int err = list_find(x->l, x->l->ctx->args[0]);

	if (!err)
		err = explainer_place(x, &c.ex);
	if (err)
		return err;
	if (!c.ex->e) {
		err = print_stacks(&c, false);
		if (err)
			return err < 0 ? err : 0;
		err = explainer_require(x, &c.ex);
	}
	return err ? err : print(&c);
}

static int calc(struct explainer *x)
{
	struct calc c = { .x = x };
	int err = explainer_needs_time(x);

	if (err)
		return err;
	return x->l->ctx->opt.all ? explainer_each(x, on_explanation, &c) : calc_one(x);
}

static int run(struct cmd_context *ctx)
{
	if (ctx->opt.all == !!ctx->nr_args)
		return cmd_usage_error(ctx->cmd, "say which procedure, or --all");
	if (ctx->opt.all && ctx->opt.format != OUT_JSON)
		return cmd_usage_error(ctx->cmd, "--all is for --format=json");
	return explainer_run(ctx, calc);
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("all", 0, NULL, "every procedure with samples, one object per line",
	    OPT_FLAG, all),
	OPT("source", 's', NULL, "source lines between, with or without their text",
	    OPT_FLAG, source),
	OPT("asm", 'a', NULL, "assembly alone", OPT_FLAG, assembly),
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
	.run = run,
};
