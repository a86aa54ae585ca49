/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_records.c - shows the hardware's records of instructions: what happened to them,
 * how long their phases took, which data they used
 *
 * It is a command of its own beside calc, because calc explains time and needs an event
 * that measures time. Records say nothing about time, and a database may have nothing
 * else.
 */
#include "config.h"

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/explain.h"

static int print(const struct out_options *out, struct records_report *r)
{
	switch (out->format) {
	case OUT_JSON:
		return records_print_json(r);
	case OUT_CSV:
		return records_print_csv(r);
	default:
		return records_print_text(r, out);
	}
}

static int show(const struct cmd_context *ctx, struct scope *s)
{
	const struct out_options *out = ctx->opt;
	struct found_places found = { .first = NULL };
	struct records_report r;
	struct pager pager;
	int err = ctx->nr_args ? place_find(s, ctx->args[0], &found) : 0;

	if (err)
		return err;
	err = records_find(s, found.chosen, out->limit, &r);
	if (!err) {
		select_end_read(&s->sel);
		pager_begin(&pager, out);
		err = print(out, &r);
		pager_end(&pager);
	}
	ranked_insns_fini(&r.insns);
	found_places_fini(&found);
	return err;
}

static int run_records(struct cmd_context *ctx)
{
	const struct explain_options *o = ctx->opt;
	struct scope s;
	int err = scope_open(&s, &o->explain);

	if (!err) {
		err = show(ctx, &s);
		scope_close(&s);
	}
	return cmd_exit_status(ctx->cmd, err);
}

static const struct opt opts[] = {
	OPTS_REPORT, OPT_LIMIT, OPT_FORMAT, OPT_COLOR, OPT_NO_PAGER, OPT_END,
};

const struct cmd cmd_records = {
	.name = "records",
	.args = "[[IMAGE:]PROC | 0xOFFSET]",
	.summary = "Hardware records of instructions: misses, latencies, addresses",
	.min_args = 0,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct explain_options),
	.run = run_records,
};
