/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_procedure.c - as SOSP'97 section 3.3 looks at smooth: the fast run's stalls
 *                    beside the slow one's
 *
 * Each side is explained by itself, as cpi calc and cpi sum do; what they find is kept
 * by value. Instructions stand side by side where the code is the same.
 */
#include "config.h"

#include "tools/diff_procedure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/matrix.h"
#include "tools/out.h"
#include "tools/report.h"
#include "tools/summary.h"
#include "tools/table.h"
#include "tools/term.h"

struct place_insn {
	uint64_t address, block; /* where its block starts */
	uint16_t opcode;
	double samples, cpi, executions;
	char *text; /* of A's alone */
};

/* A command on one side. */
struct portrait {
	struct cmd_context ctx;
	char *name;      /* of the procedure and its image */
	struct buf insn; /* struct place_insn */
	struct summary_row row[SUMMARY_MAX_ROWS];
	size_t nr_rows;
	double samples; /* of all rows */
	double scale;   /* a sample in ms per second of the epochs */
};

static struct place_insn *insns(const struct portrait *p, size_t *nr)
{
	*nr = p->insn.len / sizeof(struct place_insn);
	return (struct place_insn *)p->insn.data;
}

static int keep_insns(struct portrait *p, struct explainer *x,
		      const struct explanation *ex)
{
	const struct explained *e = ex->e;
	struct buf text = { 0 };

	for (int b = 0; b < e->cfg->exit; b++) {
		const struct cfg_block *block = &e->cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++) {
			const int at = block->first_insn + i;
			struct place_insn insn = {
				.address = e->cfg->insn[at].address,
				.block = block->start + e->cfg->bias,
				.opcode = e->cfg->insn[at].opcode,
				.samples = e->samples[at],
				.cpi = e->blame->insn[at].cycles,
				.executions = e->freq->block[b],
			};

			insn.text = strdup(explainer_text(x, ex, at, &text));
			buf_put(&p->insn, &insn, sizeof(insn));
		}
	}
	buf_fini(&text);
	return p->insn.err;
}

static int portray(struct explainer *x)
{
	struct portrait *p = (struct portrait *)x->l->ctx;
	const struct query_epochs *epochs = &x->l->sel.epochs;
	const struct explanation *ex;
	struct summary summary = { 0 };
	double seconds = 0;
	int err = explainer_needs_time(x);

	if (!err)
		err = list_find(x->l, p->ctx.args[0]);
	if (!err)
		err = explainer_require(x, &ex);
	if (err)
		return err;
	for (size_t i = 0; i < epochs->nr; i++)
		seconds += matrix_seconds(&epochs->epoch[i]);
	p->scale = x->l->ev.weight[x->first] / 1e6 / seconds;
	p->samples = ex->samples;
	summary_add(&summary, ex);
	p->nr_rows = summary_rows(&summary, p->row);
	if (asprintf(&p->name, "%s in %s", ex->symbol->name, ex->image->desc.name) < 0)
		p->name = NULL;
	return p->name ? keep_insns(p, x, ex) : -ENOMEM;
}

static void portrait_fini(struct portrait *p)
{
	size_t nr;
	struct place_insn *insn = insns(p, &nr);

	for (size_t i = 0; i < nr; i++)
		free(insn[i].text);
	buf_fini(&p->insn);
	free(p->name);
}

static bool is_same_code(const struct portrait *p)
{
	size_t nr, nr_other;
	const struct place_insn *a = insns(&p[0], &nr), *b = insns(&p[1], &nr_other);

	for (size_t i = 0; i < nr && nr == nr_other; i++) {
		if (a[i].opcode != b[i].opcode)
			return false;
	}
	return nr == nr_other;
}

static void put_value(struct table *t, double v, int decimals, bool text)
{
	if (text)
		table_real(t, v, decimals);
	else
		table_exact(t, v);
}

/* The cells of both sides, then of what is between. */
static void put_both(struct table *t, double a, double b, bool text)
{
	if (text)
		table_color(t, b - a > 1 ? TERM_RED : b - a < -1 ? TERM_BLUE : NULL);
	put_value(t, a, 2, text);
	put_value(t, b, 2, text);
	put_value(t, b - a, 2, text);
}

#define BOTH_COLUMNS                                                               \
	{ "A ms/s", "a_ms_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE },         \
		{ "B ms/s", "b_ms_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE }, \
	{                                                                          \
		"delta", "delta_ms_per_second", COLUMN_NUMBER, COLUMN_EVERYWHERE   \
	}

static struct table *make_stalls(const struct portrait *p, bool text)
{
	static const struct column columns[] = {
		BOTH_COLUMNS,
		{ "A%", "a_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "B%", "b_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "a_least_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "a_most_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_least_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_most_percent", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "group", "group", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "category", "category", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; t && i < p[0].nr_rows; i++) {
		const struct summary_row *a = &p[0].row[i], *b = &p[1].row[i];

		if (text && fabs(a->samples) < 0.5 && fabs(b->samples) < 0.5)
			continue;
		put_both(t, a->samples * p[0].scale, b->samples * p[1].scale, text);
		put_value(t, 100 * a->samples / p[0].samples, 1, text);
		put_value(t, 100 * b->samples / p[1].samples, 1, text);
		table_exact(t, 100 * a->range.least / p[0].samples);
		table_exact(t, 100 * a->range.most / p[0].samples);
		table_exact(t, 100 * b->range.least / p[1].samples);
		table_exact(t, 100 * b->range.most / p[1].samples);
		table_text(t, summary_group_name(a->group));
		table_text(t, text ? a->text : a->key);
	}
	return t;
}

/* A block's time, before its instructions. */
static void put_block(struct table *t, const struct portrait *p, size_t first)
{
	double time[2] = { 0 };
	char line[160];
	size_t nr;

	for (int side = 0; side < 2; side++) {
		const struct place_insn *insn = insns(&p[side], &nr);

		for (size_t i = first; i < nr && insn[i].block == insn[first].block;
		     i++)
			time[side] += insn[i].samples * p[side].scale;
	}
	snprintf(line, sizeof(line),
		 "*** Block 0x%" PRIx64
		 ": %.2f to %.2f ms/s, %+.2f; executions %.3g to "
		 "%.3g",
		 insns(&p[0], &nr)[first].block, time[0], time[1], time[1] - time[0],
		 insns(&p[0], &nr)[first].executions,
		 insns(&p[1], &nr)[first].executions);
	table_line(t, TERM_BOLD, line);
}

static struct table *make_insns(const struct portrait *p, bool text)
{
	static const struct column columns[] = {
		BOTH_COLUMNS,
		{ "A CPI", "a_cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "B CPI", "b_cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "a_executions", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "b_executions", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "block", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "address", "address", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "instruction", "text", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t nr;
	const struct place_insn *a = insns(&p[0], &nr), *b = insns(&p[1], &nr);

	if (!is_same_code(p))
		nr = 0;
	for (size_t i = 0; t && i < nr; i++) {
		if (!i || a[i].block != a[i - 1].block)
			put_block(t, p, i);
		put_both(t, a[i].samples * p[0].scale, b[i].samples * p[1].scale, text);
		put_value(t, a[i].cpi, 1, text);
		put_value(t, b[i].cpi, 1, text);
		table_exact(t, a[i].executions);
		table_exact(t, b[i].executions);
		table_hex(t, a[i].block);
		table_hex(t, a[i].address);
		table_text(t, a[i].text);
	}
	return t;
}

static int print_text(const struct portrait *p, struct table *stalls,
		      struct table *instructions, int color)
{
	const bool colored = out_use_color(color);
	int err;

	out_line("Procedure %s", p[0].name);
	out_line("A: %s, %.0f samples, %.2f ms/s", p[0].ctx.opt.epoch, p[0].samples,
		 p[0].samples * p[0].scale);
	out_line("B: %s, %.0f samples, %.2f ms/s", p[1].ctx.opt.epoch, p[1].samples,
		 p[1].samples * p[1].scale);
	putchar('\n');
	err = table_print_text(stalls, colored, true);
	putchar('\n');
	if (!err && !is_same_code(p))
		out_line("The code is not the same: no instructions side by side");
	else if (!err)
		err = table_print_text(instructions, colored, true);
	return err;
}

static int print_json(const struct portrait *p, struct table *stalls,
		      struct table *instructions)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	json_string(&j, "procedure", p[0].name);
	json_string(&j, "a", p[0].ctx.opt.epoch);
	json_string(&j, "b", p[1].ctx.opt.epoch);
	json_exact(&j, "a_samples", p[0].samples);
	json_exact(&j, "b_samples", p[1].samples);
	json_bool(&j, "same_code", is_same_code(p));
	json_array(&j, "stalls");
	err = table_print_json(stalls, &j);
	json_end(&j);
	json_array(&j, "instructions");
	if (!err)
		err = table_print_json(instructions, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

static int print(const struct portrait *p, const struct cmd_options *opt)
{
	const bool text = opt->format == OUT_TEXT;
	struct table *stalls = make_stalls(p, text);
	struct table *instructions = make_insns(p, text);
	int err = -ENOMEM;

	if (stalls && instructions && text)
		err = print_text(p, stalls, instructions, opt->color);
	else if (stalls && instructions && opt->format == OUT_JSON)
		err = print_json(p, stalls, instructions);
	else if (stalls && instructions)
		err = table_print_csv(instructions, true);
	table_free(stalls);
	table_free(instructions);
	return err;
}

int diff_procedure(const struct cmd_context *ctx)
{
	struct portrait p[2] = { { .ctx = *ctx }, { .ctx = *ctx } };
	int status = EXIT_OK, err = 0;

	for (int side = 0; side < 2 && status == EXIT_OK; side++) {
		p[side].ctx.opt.epoch = ctx->args[side];
		p[side].ctx.args = ctx->args + 2;
		p[side].ctx.nr_args = 1;
		status = explainer_run(&p[side].ctx, portray);
	}
	if (status == EXIT_OK)
		err = print(p, &ctx->opt);
	if (err)
		log_err("diff: %s", err_str(err));
	portrait_fini(&p[0]);
	portrait_fini(&p[1]);
	return err ? EXIT_FAIL : status;
}
