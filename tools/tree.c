/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.c - the common part of cpi tree, callers, callees and flame
 *
 * The first three commands differ only in the part of the tree that they show.
 */
#include "config.h"

#include "tools/tree.h"

#include "base/err.h"
#include "base/log.h"
#include "tools/ui/pager.h"
#include "tools/write/calls.h"

#define DEFAULT_THRESHOLD 0.5 /* percent */

int tree_run(const struct cmd_context *ctx, enum tree_part part)
{
	const struct tree_options *o = ctx->opt;
	const double threshold = o->tree.threshold;
	const bool lines = o->out.format != OUT_TEXT;
	struct tree_request req = o->tree;
	struct pager pager;
	struct tree t;
	int err;

	req.command = ctx->cmd->name;
	req.part = part;
	req.procedure = ctx->args[0];
	if (tree_open(&req, lines ? CALLS_LINES : CALLS_PLAIN, &req.calls.select.epoch,
		      1, &t))
		return EXIT_FAIL;
	if (!t.tree.root->total[0].n)
		log_warn("%s: no samples match", db_path(t.calls[0].sel.db));
	err = tree_finish(&t, threshold > 0 ? threshold : DEFAULT_THRESHOLD);
	if (!err) {
		pager_begin(&pager, &o->out);
		err = tree_print(&t, &o->out);
		pager_end(&pager);
		if (err)
			log_err("%s: %s", ctx->cmd->name, err_str(err));
	}
	tree_close(&t);
	return err ? EXIT_FAIL : EXIT_OK;
}
