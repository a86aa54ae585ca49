/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_hot.c - the instructions that took the most time (dcpitopcounts)
 */
#include "config.h"

#include <math.h>

#include "tools/ranking.h"

static int add(struct ranking *r, int insn, uint64_t offset, double samples,
	       double blamed)
{
	struct spot *spot;
	int err = spots_add(&r->spots, blamed, &spot);

	if (err || !spot)
		return err;
	spot->samples = samples;
	spot->cycles = spot->frequency = NAN;
	if (insn >= 0) {
		const struct explained *e = r->ex->e;

		spot->cycles = e->blame->insn[insn].cycles;
		spot->frequency = e->freq->block[cfg_block_at(e->cfg, offset)];
	}
	return ranking_locate(r, insn, offset, spot);
}

static int on_stray(void *ctx, uint64_t offset, double samples)
{
	return add(ctx, -1, offset, samples, samples);
}

static int add_all(struct ranking *r)
{
	const struct explained *e = r->ex->e;
	int err = 0;

	for (int i = 0; e && i < e->cfg->nr_insns && !err; i++)
		err = add(r, i, e->cfg->insn[i].address - e->cfg->bias, e->samples[i],
			  e->blamed[i]);
	return err ? err : explainer_each_stray(r->x, on_stray, r);
}

static const struct column columns[] = {
	{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "blamed", "blamed_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "CPI", "cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	RANKING_PLACE,
};

static void put_cells(struct table *t, const struct spot *spot, double percent,
		      bool text)
{
	table_real(t, spot->samples, text ? 0 : 3);
	table_real(t, spot->amount, text ? 0 : 3);
	table_percent(t, percent);
	table_real(t, spot->cycles, text ? 1 : 3);
	table_real(t, spot->frequency, 1);
}

static int hot(struct explainer *x)
{
	static const struct ranking_kind kind = {
		.name = "instructions",
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.add = add_all,
		.cells = put_cells,
	};

	return ranking_run(x, &kind);
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, hot);
}

const struct cmd cmd_hot = {
	.name = "hot",
	.args = "",
	.summary = "The instructions that took the most time",
	.min_args = 0,
	.max_args = 0,
	.opts = ranking_opts,
	.run = run,
};
