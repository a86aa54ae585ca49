/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_list.c - lists a procedure with its samples (dcpilist)
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"

struct options {
	struct explain_options explain;
	bool source, assembly, both, inlines, all, by_stream;
};

static int print(const struct options *o, const struct list *l)
{
	if (o->source)
		return list_print_source(l, &o->explain.out);
	return list_print_assembly(l, !o->assembly && (o->both || list_has_source(l)),
				   &o->explain.out);
}

/* Adds the estimated executions where they can be computed. */
static int list(struct cmd_context *ctx, struct explainer *x,
		const struct found_places *found)
{
	const struct options *o = ctx->opt;
	struct list l = { .scope = explainer_scope(x),
			  .place = found->chosen,
			  .has_weights = found->has_weights,
			  .inlines = o->inlines,
			  .all = o->all,
			  .by_stream = o->by_stream };
	const struct explanation *ex;
	struct pager pager;
	int err = 0;

	if (l.scope->event < l.scope->ev.nr) {
		err = explainer_place(x, l.place, &ex);
		if (err)
			return err;
		l.explained = ex->e;
		if (!ex->e)
			l.not_analysed = explanation_why_not(ex);
	}
	err = list_decode(&l);
	if (!err) {
		select_end_read(&l.scope->sel);
		pager_begin(&pager, &o->explain.out);
		err = print(o, &l);
		pager_end(&pager);
	}
	list_fini(&l);
	return err;
}

static int run_list(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	if (o->source + o->assembly + o->both > 1)
		return cmd_usage_error(ctx->cmd, "say one of --source, --asm, --both");
	return options_explain_place(ctx, list);
}

static const struct opt opts[] = {
	OPTS_REPORT,
	OPT("source", 's', NULL, "source lines alone", OPT_FLAG, source),
	OPT("asm", 'a', NULL, "assembly alone", OPT_FLAG, assembly),
	OPT("both", 'b', NULL, "both (default, where there is source)", OPT_FLAG, both),
	OPT("inlines", 'i', NULL, "show inlined calls where they change", OPT_FLAG,
	    inlines),
	OPT("all", 0, NULL, "not only around the hottest rows", OPT_FLAG, all),
	OPT("by-stream", 0, NULL,
	    "show ticks and other samples in columns of their own", OPT_FLAG,
	    by_stream),
	OPT_NO_PAGER,
	OPT_ATTRIBUTION,
	OPTS_DEBUG_FILES,
	OPTS_EXPLAIN,
	OPT_FORMAT,
	OPT_COLOR,
	OPT_END,
};

const struct cmd cmd_list = {
	.name = "list",
	.alias = "annotate",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "The source and assembly of a procedure, with its samples",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_list,
};
