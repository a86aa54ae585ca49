/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_pairs.c - shows the issue slots that are wasted while an instruction is in
 * progress, of a pipeline trace, and the estimate from its paired samples (ProfileMe)
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/trace/pairs.h"
#include "analysis/trace/tip.h"
#include "base/err.h"
#include "base/log.h"
#include "tools/commands.h"
#include "tools/input/tracefile.h"
#include "tools/ui/json.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

#define DEFAULT_ROWS 20

struct options {
	struct out_options out;
	uint64_t interval, seed; /* operations between pairs */
};

struct report {
	const char *trace;
	const struct options *o;
	struct pairs_result exact,
		estimate; /* estimate has rows only if the trace was sampled */
};

static int on_op(void *ctx, const struct trace_op *op)
{
	return pairs_add(ctx, op);
}

static int read_pairs(const char *path, struct pairs *p)
{
	const struct tip_sampling every = { .interval = 1 };
	const struct trace_watch watch = { on_op, p };
	struct tip *t = tip_new(&every);
	int err = t ? trace_file_read(path, t, &watch) : -ENOMEM;

	tip_free(t);
	return err;
}

/* The error of the wasted slots, Σ |estimate - exact| / Σ exact. */
static double error_of(const struct report *r)
{
	double off = 0, all = 0;

	for (size_t i = 0; i < r->exact.nr; i++) {
		off += fabs(r->estimate.row[i].wasted - r->exact.row[i].wasted);
		all += r->exact.row[i].wasted;
	}
	return off / all;
}

static const struct column columns[] = {
	{ "pc", "pc", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "fetched", "fetched", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "retired", "retired", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "latency", "latency", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "concurrency", "concurrency", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "useful", "useful", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "wasted", "wasted", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "estimated", "estimated_wasted", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "concurrency", "estimated_concurrency", COLUMN_NUMBER, COLUMN_EVERYWHERE },
};

static void put_row(struct table *t, const struct report *r, size_t i)
{
	const struct pairs_row *row = &r->exact.row[i];
	const struct pairs_row *estimate = r->estimate.row ? &r->estimate.row[i] : NULL;
	const int digits = r->o->out.format == OUT_TEXT ? 2 : 6;

	table_hex(t, row->pc);
	table_real(t, row->fetched, 0);
	table_real(t, row->retired, 0);
	table_real(t, row->latency, 0);
	table_real(t, row->useful / row->latency, digits);
	table_real(t, row->useful, 0);
	table_real(t, row->wasted, 0);
	table_real(t, estimate ? estimate->wasted : NAN, 0);
	table_real(t, estimate ? estimate->useful / estimate->latency : NAN, digits);
}

static int by_wasted(const void *va, const void *vb, void *ctx)
{
	const struct pairs_row *row = ctx;
	const size_t a = *(const size_t *)va, b = *(const size_t *)vb;

	if (row[a].wasted != row[b].wasted)
		return row[a].wasted < row[b].wasted ? 1 : -1;
	return (a > b) - (a < b);
}

static void print_summary(const struct report *r)
{
	const struct pairs_result *e = &r->exact;

	out_line("%s: %" PRIu64 " operations fetched, %u issue slots a cycle, at most "
		 "%u operations in flight behind one",
		 r->trace, e->operations, e->width, e->window);
	if (r->estimate.row)
		out_line("a pair each %" PRIu64 " operations: wasted slots are off by "
			 "%.2f%%",
			 r->o->interval, 100 * error_of(r));
	out_line("%s", "");
}

static void json_header(struct json *j, const struct report *r)
{
	json_string(j, "trace", r->trace);
	json_number(j, "operations", r->exact.operations);
	json_number(j, "width", r->exact.width);
	json_number(j, "window", r->exact.window);
	if (r->estimate.row) {
		json_number(j, "interval", r->o->interval);
		json_exact(j, "error", error_of(r));
	}
}

static int print_table(const struct report *r, struct table *t)
{
	struct json j = { 0 };
	int err;

	switch (r->o->out.format) {
	case OUT_TEXT:
		print_summary(r);
		return table_print_text(t, false, true);
	case OUT_CSV:
		return table_print_csv(t, true);
	default:
		json_object(&j, NULL);
		json_header(&j, r);
		json_array(&j, "instructions");
		err = table_print_json(t, &j);
		json_end(&j);
		json_end(&j);
		return err;
	}
}

static int print(const struct report *r)
{
	const size_t limit = r->o->out.limit ? r->o->out.limit : DEFAULT_ROWS;
	const size_t nr = r->exact.nr;
	size_t *order = calloc(nr + 1, sizeof(*order));
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err = order && t ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++)
		order[i] = i;
	if (!err)
		qsort_r(order, nr, sizeof(*order), by_wasted, r->exact.row);
	for (size_t i = 0; i < nr && !err; i++) {
		if (i < limit || r->o->out.format != OUT_TEXT)
			put_row(t, r, order[i]);
	}
	if (!err)
		err = print_table(r, t);
	table_free(t);
	free(order);
	return err;
}

static int run_pairs(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct report r = { .trace = ctx->args[0], .o = o };
	struct pairs *p = pairs_new();
	int err = p ? read_pairs(ctx->args[0], p) : -ENOMEM;

	if (!err) {
		err = pairs_exact(p, &r.exact);
		if (!err && o->interval)
			err = pairs_estimate(p, o->interval, o->seed, &r.estimate);
		if (err)
			log_err("%s: %s", ctx->args[0],
				err == -CPI_EEMPTY ? "no instruction is issued in it"
						   : err_str(err));
	}
	if (!err)
		err = print(&r);
	free(r.exact.row);
	free(r.estimate.row);
	pairs_free(p);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT("interval", 'i', "N", "also estimate from one pair in N operations",
	    OPT_COUNT, interval),
	OPT("seed", 0, "N", "seed for choosing the pairs", OPT_COUNT, seed),
	OPT_LIMIT,
	OPT_FORMAT,
	OPT_END,
};

const struct cmd cmd_pairs = {
	.name = "pairs",
	.args = "TRACE",
	.summary = "Issue slots that instructions of a pipeline trace waste",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_pairs,
};
