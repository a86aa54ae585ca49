/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_sum.c - where the cycles of a procedure, an image or everything went
 *             (dcpiwhatcg)
 */
#include "config.h"

#include <stdio.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

struct sum {
	struct explainer *x;
	const struct found_place *place; /* NULL: all */
	struct summary summary;
	struct cyclestack stack; /* for profiles that have weights */
};

static void print_text(const struct sum *s)
{
	const struct scope *l = explainer_scope(s->x);

	report_header(&l->sel, &l->ev);
	if (s->place)
		report_procedure(s->place->name, s->place->image.desc.name, "");
	else if (s->summary.nr_procedures)
		out_line("%zu procedures with %.1f kB of code",
			 s->summary.nr_procedures, s->summary.nr_bytes / 1e3);
	explainer_print_unit(s->x, NULL);
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
	report_json_header(&j, &explainer_scope(s->x)->sel);
	json_string(&j, "procedure", s->place ? s->place->name : NULL);
	json_string(&j, "image", s->place ? s->place->image.desc.name : NULL);
	json_object(&j, "summary");
	explainer_json_unit(s->x, &j);
	summary_json(&j, &s->summary);
	json_end(&j);
	if (s->stack.all > 0)
		cyclestack_json(&j, &s->stack);
	else
		json_null(&j, "cycle_stack");
	report_json_losses(&j, &explainer_scope(s->x)->sel);
	json_end(&j);
}

static int print(const struct sum *s, enum out_format format)
{
	switch (format) {
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
	int err = cyclestack_sum(s->x, NULL, &s->stack);

	s->summary.unknown = scope_unknown(explainer_scope(s->x));
	return err ? err : summary_all(&s->summary, s->x);
}

static int sum_one(struct sum *s)
{
	const struct explanation *ex;
	int err = cyclestack_sum(s->x, s->place, &s->stack);

	if (err)
		return err;
	err = s->stack.all > 0 ? explainer_place(s->x, s->place, &ex)
			       : explainer_require(s->x, s->place, &ex);
	if (!err)
		summary_add(&s->summary, ex);
	return err;
}

static int sum(struct cmd_context *ctx, struct explainer *x)
{
	const struct out_options *out = ctx->opt;
	struct found_places found = { .first = NULL };
	struct sum s = { .x = x };
	struct pager pager;
	int err = scope_needs_time(explainer_scope(x));

	if (!err && ctx->nr_args)
		err = place_find(explainer_scope(x), ctx->args[0], &found);
	s.place = found.chosen;
	if (!err)
		err = s.place ? sum_one(&s) : sum_all(&s);
	if (!err) {
		select_end_read(&explainer_scope(x)->sel);
		pager_begin(&pager, out);
		err = print(&s, out->format);
		pager_end(&pager);
	}
	found_places_fini(&found);
	return err;
}

static int run_sum(struct cmd_context *ctx)
{
	return options_explain(ctx, sum);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPT_ATTRIBUTION, OPTS_EXPLAIN, OPT_FORMAT, OPT_NO_PAGER, OPT_END,
};

const struct cmd cmd_sum = {
	.name = "sum",
	.args = "[[IMAGE:]PROC | 0xOFFSET]",
	.summary = "Where the cycles went: misses, dependencies, execution",
	.min_args = 0,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct explain_options),
	.run = run_sum,
};
