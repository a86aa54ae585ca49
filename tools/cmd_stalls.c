/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_stalls.c - the stalls that cost the most time (dcpitopstalls)
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "tools/culprits.h"
#include "tools/out.h"
#include "tools/spots.h"

struct stalls {
	struct explainer *x;
	const struct explanation *ex;
	struct spots spots;
	double all; /* samples */
};

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

static int add(struct stalls *s, int insn, double frequency, const struct stall *stall)
{
	const struct explained *e = s->ex->e;
	const double lost = stall->cycles * frequency / e->period_cycles;
	struct spot *spot;
	int err = spots_add(&s->spots, lost, &spot);

	if (err || !spot)
		return err;
	spot->cycles = stall->cycles;
	spot->frequency = frequency;
	spot->dynamic = stall->dynamic;
	err = describe(spot, e->cfg, stall, s->x->l->ctx->opt.format == OUT_TEXT);
	return err ? err
		   : spot_locate(spot, s->x, s->ex, insn,
				 e->cfg->insn[insn].address - e->cfg->bias);
}

static int add_block(struct stalls *s, int b)
{
	const struct explained *e = s->ex->e;
	const struct cfg_block *block = &e->cfg->block[b];
	int err = 0;

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		const struct blame_insn *why = &e->blame->insn[i];

		for (int k = 0; k < why->nr_stalls && !err; k++)
			err = add(s, i, e->freq->block[b], &why->stall[k]);
	}
	return err;
}

static int on_explanation(void *ctx, const struct explanation *ex)
{
	struct stalls *s = ctx;
	int err = 0;

	s->ex = ex;
	s->all += ex->samples;
	for (int b = 0; ex->e && b < ex->e->cfg->exit && !err; b++)
		err = add_block(s, b);
	return err;
}

static int print(struct stalls *s)
{
	static const struct column columns[] = {
		{ "lost", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "cycles", "cycles", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "frequency", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "kind", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "reason", "reasons", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "culprit", "culprit_addresses", COLUMN_TEXT, COLUMN_EVERYWHERE },
		SPOT_COLUMNS,
	};
	const bool text = s->x->l->ctx->opt.format == OUT_TEXT;
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	const struct spot *spot;
	size_t nr;
	int err;

	if (!t)
		return -ENOMEM;
	spot = spots_sorted(&s->spots, &nr);
	for (size_t i = 0; i < nr; i++) {
		const double percent = 100 * spot[i].amount / s->all;

		table_color(t, out_heat(percent));
		table_real(t, spot[i].amount, text ? 0 : 3);
		table_percent(t, percent);
		table_real(t, spot[i].cycles, text ? 1 : 3);
		table_real(t, spot[i].frequency, 1);
		table_text(t, spot[i].dynamic ? "dynamic" : "static");
		table_text(t, spot[i].reasons);
		table_text(t, spot[i].culprits);
		spot_cells(&spot[i], t);
	}
	err = spots_print(s->x, t, "stalls");
	table_free(t);
	return err;
}

static int stalls(struct explainer *x)
{
	struct stalls s = { .x = x };
	int err = explainer_needs_time(x);

	spots_init(&s.spots, x->l->ctx->opt.limit);
	if (!err)
		err = explainer_each(x, on_explanation, &s);
	s.all += explainer_unknown(x);
	if (!err)
		err = print(&s);
	spots_fini(&s.spots);
	return err;
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, stalls);
}

static const struct opt opts[] = {
	OPTS_SELECTION, OPT_LIMIT, OPTS_EXPLAIN, OPT_FORMAT, OPT_COLOR, OPT_END,
};

const struct cmd cmd_stalls = {
	.name = "stalls",
	.args = "",
	.summary = "The stalls that cost the most time, and their culprits",
	.min_args = 0,
	.max_args = 0,
	.opts = opts,
	.run = run,
};
