/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_stalls.c - the stalls that cost the most time (dcpitopstalls)
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "tools/culprits.h"
#include "tools/ranking.h"

static int describe(struct spot *spot, const struct cfg *cfg, const struct stall *stall,
		    bool text)
{
	struct buf reasons = { 0 }, addresses = { 0 };

	culprits_put_reasons(stall, 1, text, &reasons);
	culprits_put_addresses(cfg, stall, 1, &addresses);
	spot->reasons = strdup(buf_str(&reasons));
	if (addresses.len)
		spot->culprits = strdup(buf_str(&addresses));
	buf_fini(&reasons);
	buf_fini(&addresses);
	return spot->reasons && (spot->culprits || !addresses.len) ? 0 : -ENOMEM;
}

static int add(struct ranking *r, int insn, double frequency, const struct stall *stall)
{
	const struct explained *e = r->ex->e;
	const double lost = stall->cycles * frequency / e->period_cycles;
	struct spot *spot;
	int err = spots_add(&r->spots, lost, &spot);

	if (err || !spot)
		return err;
	spot->cycles = stall->cycles;
	spot->frequency = frequency;
	spot->dynamic = stall->dynamic;
	err = describe(spot, e->cfg, stall, r->x->l->ctx->opt.format == OUT_TEXT);
	return err ? err
		   : ranking_locate(r, insn, e->cfg->insn[insn].address - e->cfg->bias,
				    spot);
}

static int add_block(struct ranking *r, int b)
{
	const struct explained *e = r->ex->e;
	const struct cfg_block *block = &e->cfg->block[b];
	int err = 0;

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		const struct blame_insn *why = &e->blame->insn[i];

		for (int k = 0; k < why->nr_stalls && !err; k++)
			err = add(r, i, e->freq->block[b], &why->stall[k]);
	}
	return err;
}

static int add_all(struct ranking *r)
{
	const struct explained *e = r->ex->e;
	int err = 0;

	for (int b = 0; e && b < e->cfg->exit && !err; b++)
		err = add_block(r, b);
	return err;
}

static const struct column columns[] = {
	{ "lost", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "cycles", "cycles", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "", "kind", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "reason", "reasons", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "culprit", "culprit_addresses", COLUMN_TEXT, COLUMN_EVERYWHERE },
	RANKING_PLACE,
};

static void put_cells(struct table *t, const struct spot *spot, double percent,
		      bool text)
{
	table_real(t, spot->amount, text ? 0 : 3);
	table_percent(t, percent);
	table_real(t, spot->cycles, text ? 1 : 3);
	table_real(t, spot->frequency, 1);
	table_text(t, spot->dynamic ? "dynamic" : "static");
	table_text(t, spot->reasons);
	table_text(t, spot->culprits);
}

static int stalls(struct explainer *x)
{
	static const struct ranking_kind kind = {
		.name = "stalls",
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.add = add_all,
		.cells = put_cells,
	};

	return ranking_run(x, &kind);
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, stalls);
}

const struct cmd cmd_stalls = {
	.name = "stalls",
	.args = "",
	.summary = "The stalls that cost the most time, and their culprits",
	.min_args = 0,
	.max_args = 0,
	.opts = ranking_opts,
	.run = run,
};
