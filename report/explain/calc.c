/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calc.c - figures for single blocks and edges of an explained procedure
 *
 * They follow from the explanation, and are here so that all writers show the same.
 */
#include "config.h"

#include "report/explain/calc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct freq_interval calc_block_range(const struct explained *e, int block)
{
	const struct cfg_block *b = &e->cfg->block[block];
	double samples = 0;

	for (int i = 0; i < b->nr_insns; i++)
		samples += e->blamed[b->first_insn + i];
	return freq_interval_cycles(&e->freq->block_range[block], samples,
				    e->period_cycles);
}

bool calc_is_below_best(double best, const struct freq_interval *actual)
{
	return freq_interval_known(actual) && actual->likely > 0 &&
	       actual->likely < 0.995 * best;
}

bool calc_is_too_fast(const struct explained *e, int block)
{
	const struct freq_interval cycles = calc_block_range(e, block);

	return calc_is_below_best(e->block_cycles[block], &cycles);
}

struct freq_interval calc_insn_range(const struct explained *e, int insn)
{
	const int block = cfg_block_at(e->cfg, e->raw[insn].offset);

	return freq_interval_cycles(&e->freq->block_range[block], e->blamed[insn],
				    e->period_cycles);
}

struct freq_interval calc_stall_range(const struct explained *e, int insn,
				      const struct stall *stall)
{
	const struct freq_interval all = calc_insn_range(e, insn);
	struct freq_interval r = { stall->cycles, stall->cycles, stall->cycles };

	if (!stall->dynamic || !isfinite(all.likely))
		return r;
	r.low = fmax(stall->cycles - (all.likely - all.low), 0);
	r.high = stall->cycles + (all.high - all.likely);
	return r;
}

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

/* State of calc_tally_blocks(). */
struct tallying {
	const struct events *ev;
	const struct cfg *cfg;
	const struct found_place *place;
	struct event_sum *tally;
	double total;
};

/* Adds a count to its block's row, or to the last row if no block contains it. */
static void add_count(struct tallying *b, size_t stream, const struct count *c)
{
	const struct events *ev = b->ev;
	int block = cfg_block_at(b->cfg, c->offset);
	struct event_sum *t;
	double weight = c->n * ev->weight[stream];

	if (block < 0 && c->offset >= b->place->start && c->offset < b->place->end)
		block = b->cfg->nr_blocks;
	if (block < 0)
		return;
	t = &b->tally[(size_t)block * ev->nr + ev->of[stream]];
	t->n += c->n;
	t->weight += weight;
	b->total += ev->of[stream] ? 0 : weight;
}

int calc_tally_blocks(const struct explainer *x, const struct explained *e,
		      const struct found_place *place, struct event_sum **out,
		      double *total)
{
	const struct scope *s = explainer_scope(x);
	struct tallying b = { .ev = &s->ev, .cfg = e->cfg, .place = place };

	b.tally = calloc(((size_t)e->cfg->nr_blocks + 1) * s->ev.nr, sizeof(*b.tally));
	if (!b.tally)
		return -ENOMEM;
	for (size_t i = 0; i < s->sel.streams.nr; i++) {
		struct profile *p = explainer_profile(x, i);
		size_t nr = 0;
		const struct count *c = p ? profile_sorted(p, &nr) : NULL;

		for (size_t k = 0; c && k < nr; k++)
			add_count(&b, i, &c[k]);
	}
	*out = b.tally;
	*total = b.total;
	return 0;
}
