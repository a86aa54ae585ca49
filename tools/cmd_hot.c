/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_hot.c - the instructions that took the most time (dcpitopcounts)
 */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "tools/out.h"
#include "tools/spots.h"

struct hot {
	struct explainer *x;
	const struct explanation *ex;
	struct spots spots;
	double all; /* samples */
};

static int add(struct hot *h, int insn, uint64_t offset, double samples, double blamed)
{
	struct spot *spot;
	int err = spots_add(&h->spots, blamed, &spot);

	if (err || !spot)
		return err;
	spot->samples = samples;
	spot->cycles = spot->frequency = NAN;
	if (insn >= 0) {
		const struct explained *e = h->ex->e;

		spot->cycles = e->blame->insn[insn].cycles;
		spot->frequency = e->freq->block[cfg_block_at(e->cfg, offset)];
	}
	return spot_locate(spot, h->x, h->ex, insn, offset);
}

static int on_stray(void *ctx, uint64_t offset, double samples)
{
	return add(ctx, -1, offset, samples, samples);
}

static int on_explanation(void *ctx, const struct explanation *ex)
{
	const struct explained *e = ex->e;
	struct hot *h = ctx;
	int err = 0;

	h->ex = ex;
	h->all += ex->samples;
	for (int i = 0; e && i < e->cfg->nr_insns && !err; i++)
		err = add(h, i, e->cfg->insn[i].address - e->cfg->bias, e->samples[i],
			  e->blamed[i]);
	return err ? err : explainer_each_stray(h->x, on_stray, h);
}

static int print(struct hot *h)
{
	static const struct column columns[] = {
		{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "blamed", "blamed_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "CPI", "cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		SPOT_COLUMNS,
	};
	const bool text = h->x->l->ctx->opt.format == OUT_TEXT;
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	const struct spot *spot;
	size_t nr;
	int err;

	if (!t)
		return -ENOMEM;
	spot = spots_sorted(&h->spots, &nr);
	for (size_t i = 0; i < nr; i++) {
		const double percent = 100 * spot[i].amount / h->all;

		table_color(t, out_heat(percent));
		table_real(t, spot[i].samples, text ? 0 : 3);
		table_real(t, spot[i].amount, text ? 0 : 3);
		table_percent(t, percent);
		table_real(t, spot[i].cycles, text ? 1 : 3);
		table_real(t, spot[i].frequency, 1);
		spot_cells(&spot[i], t);
	}
	err = spots_print(h->x, t, "instructions");
	table_free(t);
	return err;
}

static int hot(struct explainer *x)
{
	struct hot h = { .x = x };
	int err = explainer_needs_time(x);

	spots_init(&h.spots, x->l->ctx->opt.limit);
	if (!err)
		err = explainer_each(x, on_explanation, &h);
	h.all += explainer_unknown(x);
	if (!err)
		err = print(&h);
	spots_fini(&h.spots);
	return err;
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, hot);
}

static const struct opt opts[] = {
	OPTS_SELECTION, OPT_LIMIT, OPTS_EXPLAIN, OPT_FORMAT, OPT_COLOR, OPT_END,
};

const struct cmd cmd_hot = {
	.name = "hot",
	.args = "",
	.summary = "The instructions that took the most time",
	.min_args = 0,
	.max_args = 0,
	.opts = opts,
	.run = run,
};
