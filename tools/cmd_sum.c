/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_sum.c - where the cycles of a procedure, an image or everything went
 *             (dcpiwhatcg)
 */
#include "config.h"

#include <stdio.h>

#include "tools/report.h"
#include "tools/cyclestack.h"
#include "tools/summary.h"

struct sum {
	struct explainer *x;
	const struct explanation *one; /* NULL: all */
	struct summary summary;
	struct cyclestack stack; /* of what has weights */
};

static int on_explanation(void *ctx, const struct explanation *ex)
{
	struct sum *s = ctx;

	summary_add(&s->summary, ex);
	return 0;
}

static void print_text(const struct sum *s)
{
	const struct listing *l = s->x->l;

	report_header(&l->sel, &l->ev);
	if (s->one)
		out_line("Procedure %s in %s", s->x->l->place->name,
			 s->one->image->desc.name);
	else
		out_line("%zu procedures with %.1f kB of code",
			 s->summary.nr_procedures, s->summary.nr_bytes / 1e3);
	explainer_print_unit(s->x);
	putchar('\n');
	summary_print_text(&s->summary);
	if (s->stack.all > 0) {
		putchar('\n');
		cyclestack_print(&s->stack);
	}
	report_footer(&l->sel);
}

static void print_json(const struct sum *s)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	report_json_header(&j, &s->x->l->sel);
	json_string(&j, "procedure", s->one ? s->x->l->place->name : NULL);
	json_string(&j, "image", s->one ? s->one->image->desc.name : NULL);
	json_object(&j, "summary");
	explainer_json_unit(s->x, &j);
	summary_json(&j, &s->summary);
	json_end(&j);
	if (s->stack.all > 0)
		cyclestack_json(&j, &s->stack);
	else
		json_null(&j, "cycle_stack");
	report_json_losses(&j, &s->x->l->sel);
	json_end(&j);
}

static int print(const struct sum *s)
{
	switch ((enum out_format)s->x->l->ctx->opt.format) {
	case OUT_TEXT:
		print_text(s);
		return 0;
	case OUT_JSON:
		print_json(s);
		return 0;
	case OUT_CSV:
		break;
	}
	return summary_print_csv(&s->summary);
}

static int sum_all(struct sum *s)
{
	int err = cyclestack_sum(s->x, &s->stack);

	s->summary.unknown = explainer_unknown(s->x);
	return err ? err : explainer_each(s->x, on_explanation, s);
}

static int sum_one(struct sum *s)
{
	int err = list_find(s->x->l, s->x->l->ctx->args[0]);

	if (!err)
		err = cyclestack_sum(s->x, &s->stack);
	if (err)
		return err;
	err = s->stack.all > 0 ? explainer_place(s->x, &s->one)
			       : explainer_require(s->x, &s->one);
	if (!err)
		summary_add(&s->summary, s->one);
	return err;
}

static int sum(struct explainer *x)
{
	struct sum s = { .x = x };
	int err = explainer_needs_time(x);

	if (!err)
		err = x->l->ctx->nr_args ? sum_one(&s) : sum_all(&s);
	return err ? err : print(&s);
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, sum);
}

static const struct opt opts[] = {
	OPTS_SELECTION, OPT_ATTRIBUTION, OPTS_EXPLAIN, OPT_FORMAT, OPT_END,
};

const struct cmd cmd_sum = {
	.name = "sum",
	.args = "[[IMAGE:]PROC | 0xOFFSET]",
	.summary = "Where the cycles went: misses, dependencies, execution",
	.min_args = 0,
	.max_args = 1,
	.opts = opts,
	.run = run,
};
