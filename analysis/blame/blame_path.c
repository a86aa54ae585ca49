/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A breadth-first search over blocks, nearest first, so that its bounds cut off the
 * farthest code. A call counts as a writer of the result registers only: rax and xmm0
 * on x86-64, x0 and v0 on AArch64 (register 0 of each kind).
 */
#include "config.h"

#include "analysis/blame/blame_path.h"

#include <errno.h>

#define RARE        0.05 /* of the executions of the block that an edge leads to */
#define MAX_SCANNED 512  /* instructions in one search */
#define MAX_LISTED  16   /* instructions that make an address */
#define MAX_IN      256  /* edges into one block that are followed */

int blame_paths_init(struct blame_paths *p, const struct cfg *cfg,
		     const struct freq *freq, struct arena *arena)
{
	p->cfg = cfg;
	p->freq = freq;
	p->search = 0;
	p->block_of = arena_array(arena, cfg->nr_insns, sizeof(*p->block_of));
	p->queue = arena_array(arena, cfg->nr_blocks, sizeof(*p->queue));
	p->seen = arena_array(arena, cfg->nr_blocks, sizeof(*p->seen));
	if (!p->block_of || !p->queue || !p->seen)
		return -ENOMEM;
	for (int b = 0; b < cfg->exit; b++)
		for (int i = 0; i < cfg->block[b].nr_insns; i++)
			p->block_of[cfg->block[b].first_insn + i] = b;
	return 0;
}

/* Whether edge e is frequent relative to its target's executions, or not known. */
static bool is_frequent(const struct blame_paths *p, int e)
{
	return !(p->freq->edge[e] < RARE * p->freq->block[p->cfg->edge[e].to]);
}

/* Whether control enters block b from outside: the entry, or a landing pad. */
static bool is_entered(const struct blame_paths *p, int b)
{
	return !b || p->cfg->block[b].landing_pad;
}

int blame_before(const struct blame_paths *p, int insn, int *before, int max,
		 bool *outside)
{
	const int b = p->block_of[insn];
	const struct cfg_block *block = &p->cfg->block[b];
	int nr = 0;

	*outside = false;
	if (insn > block->first_insn) {
		before[0] = insn - 1;
		return 1;
	}
	*outside = is_entered(p, b) || block->nr_in > MAX_IN;
	for (int i = 0; i < block->nr_in && i < MAX_IN; i++) {
		const int e = p->cfg->in[block->first_in + i];
		const struct cfg_block *from = &p->cfg->block[p->cfg->edge[e].from];

		if (!is_frequent(p, e))
			continue;
		if (nr < max)
			before[nr++] = from->first_insn + from->nr_insns - 1;
		else
			*outside = true;
	}
	return nr;
}

/* The target of a search: a register, or with ISA_NONE a place in memory. */
struct awaited_value {
	unsigned int reg;
	const struct insn_memory *memory;
};

static bool stores(const struct insn *insn, const struct insn_memory *m)
{
	return insn->kind & INSN_STORE && !(insn->kind & INSN_CALL) &&
	       insn->memory.base == m->base && insn->memory.index == m->index &&
	       insn->memory.displacement == m->displacement;
}

static bool writes(const struct insn *insn, const struct awaited_value *w)
{
	const bool is_result = w->reg == ISA_GENERAL || w->reg == ISA_VECTOR;

	if (w->reg == ISA_NONE)
		return stores(insn, w->memory);
	return isa_has(&insn->writes, w->reg) || (insn->kind & INSN_CALL && is_result);
}

static int queue_before(struct blame_paths *p, int b, int tail,
			struct blame_writers *out)
{
	const struct cfg_block *block = &p->cfg->block[b];

	out->outside |= is_entered(p, b) || block->nr_in > MAX_IN;
	for (int i = 0; i < block->nr_in && i < MAX_IN; i++) {
		const int e = p->cfg->in[block->first_in + i];
		const int from = p->cfg->edge[e].from;

		if (p->seen[from] == p->search || !is_frequent(p, e))
			continue;
		p->seen[from] = p->search;
		p->queue[tail++] = from;
	}
	return tail;
}

static void search_before(struct blame_paths *p, int insn,
			  const struct awaited_value *wanted, struct blame_writers *out)
{
	int head = 0, tail = 0, scanned = 0, b = p->block_of[insn], at = insn;

	*out = (struct blame_writers){ 0 };
	p->search++;
	for (;;) {
		const int first = p->cfg->block[b].first_insn;

		while (--at >= first && scanned <= MAX_SCANNED &&
		       !writes(&p->cfg->insn[at], wanted))
			scanned++;
		if (scanned > MAX_SCANNED)
			break;
		if (at < first)
			tail = queue_before(p, b, tail, out);
		else if (out->nr < BLAME_MAX_WRITERS)
			out->insn[out->nr++] = at;
		if (head == tail)
			return;
		b = p->queue[head++];
		scanned++;
		at = p->cfg->block[b].first_insn + p->cfg->block[b].nr_insns;
	}
	out->outside = true;
}

void blame_find_writers(struct blame_paths *p, int insn, unsigned int reg,
			struct blame_writers *out)
{
	search_before(p, insn, &(struct awaited_value){ .reg = reg }, out);
}

void blame_find_stores(struct blame_paths *p, int insn, struct blame_writers *out)
{
	search_before(p, insn,
		      &(struct awaited_value){ .memory = &p->cfg->insn[insn].memory },
		      out);
}

/* Adds the writers of a register that are not listed yet. */
static int list_writers(struct blame_paths *p, int insn, unsigned int reg, int *list,
			int nr)
{
	struct blame_writers w;

	blame_find_writers(p, insn, reg, &w);
	for (int i = 0; i < w.nr && nr < MAX_LISTED; i++) {
		int k = 0;

		while (k < nr && list[k] != w.insn[i])
			k++;
		if (k == nr)
			list[nr++] = w.insn[i];
	}
	return nr;
}

bool blame_follows_itself(struct blame_paths *p, int insn)
{
	const struct insn_memory *m = &p->cfg->insn[insn].memory;
	int list[MAX_LISTED], nr = 0;

	if (!(p->cfg->insn[insn].kind & INSN_LOAD))
		return false;
	if (m->base != ISA_NONE && m->base != ISA_PC)
		nr = list_writers(p, insn, m->base, list, nr);
	if (m->index != ISA_NONE)
		nr = list_writers(p, insn, m->index, list, nr);
	for (int i = 0; i < nr; i++) {
		const struct insn *at = &p->cfg->insn[list[i]];
		const bool loads = at->kind & INSN_LOAD;

		if (list[i] == insn)
			return true;
		if (at->kind & INSN_CALL)
			continue;
		for (unsigned int reg = ISA_GENERAL; reg < ISA_VECTOR; reg++)
			if (loads ? reg == at->memory.base || reg == at->memory.index
				  : isa_has(&at->reads, reg))
				nr = list_writers(p, list[i], reg, list, nr);
	}
	return false;
}
