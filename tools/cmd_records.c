/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_records.c - what hardware recorded of instructions: what happened to them, how
 *                 long their phases took, which data they used
 *
 * A command of its own beside calc: calc explains time and needs an event that measures
 * it; a record tells nothing of time, and may be all that there is.
 */
#include "config.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/records.h"

static int print(struct records_report *r)
{
	switch (r->l->ctx->opt.format) {
	case OUT_JSON:
		return records_print_json(r);
	case OUT_CSV:
		return records_print_csv(r);
	default:
		return records_print_text(r);
	}
}

static int show(struct listing *l)
{
	struct records_report r;
	int err = l->ctx->nr_args ? list_find(l, l->ctx->args[0]) : 0;

	if (err)
		return err;
	err = records_find(&r, l);
	if (!err)
		err = print(&r);
	records_fini(&r);
	return err;
}

static int run(struct cmd_context *ctx)
{
	struct listing l = { .ctx = ctx };
	int err;

	if (select_open(ctx, &l.sel))
		return EXIT_FAIL;
	err = list_prepare(&l);
	if (!err)
		err = show(&l);
	if (err == -ENOMEM)
		log_err("%s: %s", ctx->cmd->name, err_str(err));
	list_fini(&l);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_SELECTION, OPT_LIMIT, OPT_FORMAT, OPT_COLOR, OPT_END,
};

const struct cmd cmd_records = {
	.name = "records",
	.args = "[[IMAGE:]PROC | 0xOFFSET]",
	.summary = "What hardware recorded of instructions: misses, latencies, data",
	.min_args = 0,
	.max_args = 1,
	.opts = opts,
	.run = run,
};
