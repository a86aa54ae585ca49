/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes long inside the core: divisions, atomics and fences, other long
 * instructions, and chains of operands that the schedule of one block does not see
 * in full.
 */
#include "config.h"

#include "analysis/blame_case.h"

#define DIVIDE_CYCLES 100.0 /* the longest */
#define LONG_LATENCY  8     /* cycles, of what is worth naming */
#define LONG_UOPS     8
#define CHAIN_LATENCY 3 /* cycles, of a chain */
#define CHAIN         0.45
#define SHORT_CHAIN   0.2 /* of such as any code has: one cycle each */
#define FARTHER       0.8 /* as likely, one instruction farther away */
#define MAX_CHAIN     8

static bool takes_long(const struct blame_case *c, int insn)
{
	const struct isa_timing *t = &c->in->timing[insn];
	const uint32_t kind = blame_case_insn(c, insn)->kind;

	if (kind & (INSN_CALL | INSN_RETURN | INSN_DIVIDE | INSN_ATOMIC | INSN_FENCE))
		return false;
	return kind & (INSN_REPEAT | INSN_SYSCALL) || t->latency >= LONG_LATENCY ||
	       t->uops >= LONG_UOPS;
}

static void accuse_unit(struct blame_case *c, int insn, double weight)
{
	const uint32_t kind = blame_case_insn(c, insn)->kind;

	if (kind & (INSN_ATOMIC | INSN_FENCE))
		blame_accuse(c, BLAME_ATOMIC, insn, weight * 0.95, BLAME_NO_LIMIT);
	if (kind & INSN_DIVIDE)
		blame_accuse(c, BLAME_DIVIDE, insn, weight * 0.9, DIVIDE_CYCLES);
	if (takes_long(c, insn))
		blame_accuse(c, BLAME_UNIT, insn, weight * 0.6, BLAME_NO_LIMIT);
}

/* The writer that takes longest among those of an instruction's operands, or -1. */
static int slowest_operand(struct blame_case *c, int insn)
{
	const struct insn *at = blame_case_insn(c, insn);
	int slowest = -1;

	for (unsigned int reg = 1; reg < ISA_NR_REGISTERS; reg++) {
		struct blame_writers w = { 0 };

		if (isa_has(&at->reads, reg) && reg != ISA_PC)
			blame_find_writers(c->paths, insn, reg, &w);
		for (int i = 0; i < w.nr; i++)
			if (slowest < 0 || c->in->timing[w.insn[i]].latency >
						   c->in->timing[slowest].latency)
				slowest = w.insn[i];
	}
	return slowest;
}

static double chain_likelihood(const struct blame_case *c, int slowest)
{
	return c->in->timing[slowest].latency >= CHAIN_LATENCY ? CHAIN : SHORT_CHAIN;
}

static bool is_in(const int *list, int nr, int insn)
{
	while (nr > 0 && list[nr - 1] != insn)
		nr--;
	return nr > 0;
}

/*
 * Along the slowest operands of an instruction: whoever takes long is accused; the
 * whole chain is, when it comes back to where it has been.
 */
static void accuse_chain(struct blame_case *c, int insn, double likely)
{
	int chain[MAX_CHAIN] = { insn }, nr = 1, slowest = insn;
	double latency = c->in->timing[insn].latency, weight = likely;

	for (; nr < MAX_CHAIN; nr++) {
		const int on = slowest_operand(c, chain[nr - 1]);

		if (on < 0)
			return;
		if (is_in(chain, nr, on)) {
			if (latency >= CHAIN_LATENCY)
				blame_accuse(c, BLAME_CHAIN, slowest,
					     likely * chain_likelihood(c, slowest),
					     latency);
			return;
		}
		weight *= FARTHER;
		accuse_unit(c, on, weight);
		if (c->in->timing[on].latency > c->in->timing[slowest].latency)
			slowest = on;
		latency += c->in->timing[on].latency;
		chain[nr] = on;
	}
}

void blame_units(struct blame_case *c)
{
	for (int i = 0; i < c->nr_group; i++) {
		accuse_unit(c, c->group[i].insn, c->group[i].weight);
		accuse_chain(c, c->group[i].insn, c->group[i].weight);
	}
}
