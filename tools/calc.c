/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/calc.h"

#include <math.h>

double calc_block_cycles(const struct explained *e, int block)
{
	const struct cfg_block *b = &e->cfg->block[block];
	const double f = e->freq->block[block];
	double samples = 0;

	for (int i = 0; i < b->nr_insns; i++)
		samples += e->blamed[b->first_insn + i];
	return f > 0 && isfinite(f) ? samples * e->period_cycles / f : NAN;
}

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = { "low", "medium", "high" };

	return names[confidence];
}

struct outcomes calc_outcomes(const struct explained *e, const struct cfg_edge *edge)
{
	const struct cfg_block *from = &e->cfg->block[edge->from];
	const int last = from->first_insn + from->nr_insns - 1;

	if (!from->nr_insns || !(e->cfg->insn[last].kind & INSN_COND))
		return (struct outcomes){ 0, 0 };
	if (edge->kind == EDGE_FALL)
		return (struct outcomes){ 0, e->raw[last].not_taken };
	return (struct outcomes){ e->raw[last].taken, 0 };
}
