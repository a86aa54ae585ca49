/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Long work inside the core: divisions, atomics and fences, other long instructions,
 * and dependency chains that the schedule of one block sees only in part.
 */
#include "config.h"

#include "analysis/blame/blame_case.h"

#define DIVIDE_CYCLES  100.0 /* the longest */
#define LONG_LATENCY   8     /* cycles; shorter instructions are not accused */
#define LONG_UOPS      8
#define LONG_LINK      3    /* cycles of an instruction in a chain */
#define LONG_CHAIN     3    /* cycles of a whole chain */
#define CHAIN          0.45 /* likelihood of a chain with a long link */
#define CHAIN_OF_SHORT 0.2  /* ... without one */
#define FARTHER        0.8  /* factor of the likelihood for each instruction between */
#define MAX_CHAIN      12

static bool takes_long(const struct blame_case *c, int insn)
{
	const struct isa_timing *t = &c->in->timing[insn];
	const uint32_t kind = blame_case_insn(c, insn)->kind;

	if (kind & (INSN_CALL | INSN_RETURN | INSN_DIVIDE | INSN_ATOMIC | INSN_FENCE))
		return false;
	if (kind & (INSN_REPEAT | INSN_SYSCALL) || t->uops >= LONG_UOPS)
		return true;
	return !(kind & (INSN_LOAD | INSN_STORE)) && t->latency >= LONG_LATENCY;
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

static int slower_of(const struct blame_case *c, int insn,
		     const struct blame_writers *w)
{
	for (int i = 0; i < w->nr; i++)
		if (insn < 0 ||
		    c->in->timing[w->insn[i]].latency > c->in->timing[insn].latency)
			insn = w->insn[i];
	return insn;
}

/* The slowest writer of an instruction's operands, or -1. */
static int slowest_operand(struct blame_case *c, int insn)
{
	const struct insn *at = blame_case_insn(c, insn);
	struct blame_writers w;
	int slowest = -1;

	if (at->kind & INSN_LOAD) {
		blame_find_stores(c->paths, insn, &w);
		slowest = slower_of(c, slowest, &w);
	}
	for (unsigned int reg = 1; reg < ISA_NR_REGISTERS; reg++) {
		if (!isa_has(&at->reads, reg) || reg == ISA_PC)
			continue;
		blame_find_writers(c->paths, insn, reg, &w);
		slowest = slower_of(c, slowest, &w);
	}
	return slowest;
}

/* Accuses the slowest instruction of a loop-carried dependency chain. */
static void accuse_circle(struct blame_case *c, const int *circle, int nr,
			  double likely)
{
	double latency = 0;
	int slowest = circle[0];

	for (int i = 0; i < nr; i++) {
		latency += c->in->timing[circle[i]].latency;
		if (c->in->timing[circle[i]].latency > c->in->timing[slowest].latency)
			slowest = circle[i];
	}
	if (latency >= LONG_CHAIN)
		blame_accuse(c, BLAME_CHAIN, slowest,
			     likely * (c->in->timing[slowest].latency >= LONG_LINK
					       ? CHAIN
					       : CHAIN_OF_SHORT),
			     latency);
}

/*
 * Follows the slowest operands of an instruction. Accuses each slow instruction, and
 * the whole chain if it is a cycle, carried by a loop.
 */
static void accuse_chain(struct blame_case *c, int insn, double likely)
{
	int chain[MAX_CHAIN] = { insn };

	for (int nr = 1; nr < MAX_CHAIN; nr++) {
		const int on = slowest_operand(c, chain[nr - 1]);

		if (on < 0)
			return;
		for (int i = 0; i < nr; i++)
			if (chain[i] == on) {
				accuse_circle(c, &chain[i], nr - i, likely);
				return;
			}
		likely *= FARTHER;
		accuse_unit(c, on, likely);
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
