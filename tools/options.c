/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - checks and steps that several commands share
 */
#include "config.h"

#include "tools/options.h"

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
