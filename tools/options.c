/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - checks and steps that several commands share
 */
#include "config.h"

#include "tools/options.h"

#include "report/profile/prof.h"

/* Profiles are kept by one kind of context each: there is none of two together. */
int options_check_contexts(const struct cmd_context *ctx)
{
	const struct view_options *o = ctx->opt;

	if (select_nr_contexts(&o->select) > 1)
		return cmd_usage_error(ctx->cmd, "choose one of --comm, --cgroup, "
						 "--label and --process: profiles are "
						 "kept by each alone");
	return 0;
}

/* A row by one kind of context holds nothing that another one selects. */
int options_check_by(const struct cmd_context *ctx, const struct select_request *select,
		     int by)
{
	const struct prof_context *context = &prof_contexts[by];

	for (int kind = 0; context->name && kind < NR_CONTEXT_KINDS; kind++) {
		if (select->context[kind] && kind != (int)context->kind)
			return cmd_usage_error(ctx->cmd,
					       "--by=%s: profiles are kept by one kind "
					       "of context each: --%s chooses among "
					       "those of another",
					       context->name, context_kind_str(kind));
	}
	return 0;
}

static int open_explainer(const struct cmd_context *ctx, struct explainer **x)
{
	const struct explain_options *o = ctx->opt;

	return explainer_open(&o->explain, x);
}

int options_explain(struct cmd_context *ctx,
		    int (*fn)(struct cmd_context *ctx, struct explainer *x))
{
	struct explainer *x = NULL;
	int err = open_explainer(ctx, &x);

	if (!err)
		err = fn(ctx, x);
	explainer_close(x);
	return cmd_exit_status(ctx->cmd, err);
}

int options_explain_place(struct cmd_context *ctx,
			  int (*fn)(struct cmd_context *ctx, struct explainer *x,
				    const struct found_places *found))
{
	struct found_places found = { .first = NULL };
	struct explainer *x = NULL;
	int err = open_explainer(ctx, &x);

	if (!err)
		err = place_find(explainer_scope(x), ctx->args[0], &found);
	if (!err)
		err = fn(ctx, x, &found);
	found_places_fini(&found);
	explainer_close(x);
	return cmd_exit_status(ctx->cmd, err);
}
