/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A little value analysis over the writers of address registers: how a value differs
 * from one execution to the next. Frequent paths alone count, so that what is set
 * before a loop and stepped in it steps.
 */
#include "config.h"

#include "analysis/blame_address.h"

#include <stdlib.h>

#define MAX_DEPTH 6  /* of instructions that make one value */
#define MAX_WORK  64 /* searches for one address */

struct finder {
	const struct blame_input *in;
	struct blame_paths *paths;
	int work;
};

static const struct address anywhere = { ADDRESS_COMPUTED, 0 };
static const struct address fixed = { ADDRESS_FIXED, 0 };

static struct address value_at(struct finder *f, int insn, unsigned int reg, int depth);

/* Either the one or the other. */
static struct address join(struct address a, struct address b)
{
	if (a.walk == b.walk && a.walk == ADDRESS_STEPS &&
	    llabs(a.stride) < llabs(b.stride))
		return b;
	return a.walk >= b.walk ? a : b;
}

static struct address sum(struct address a, struct address b)
{
	if (a.walk == ADDRESS_STEPS && b.walk == ADDRESS_STEPS && a.stride && b.stride)
		a.stride = (int64_t)((uint64_t)a.stride + (uint64_t)b.stride);
	else if (a.walk == ADDRESS_STEPS && b.walk == ADDRESS_STEPS)
		a.stride = 0;
	return a.walk >= b.walk ? a : b;
}

static struct address times(struct address a, uint64_t factor)
{
	a.stride = (int64_t)((uint64_t)a.stride * factor);
	if (a.walk == ADDRESS_COMPUTED && factor >= ADDRESS_PAGE)
		a.walk = ADDRESS_PAGES;
	if (a.walk == ADDRESS_NEAR && factor >= ADDRESS_LINE)
		a.walk = factor >= ADDRESS_PAGE ? ADDRESS_PAGES : ADDRESS_COMPUTED;
	return a;
}

static struct address masked(struct address a, uint64_t mask)
{
	if (a.walk == ADDRESS_FIXED)
		return a;
	if (mask < ADDRESS_PAGE)
		return (struct address){ ADDRESS_NEAR, 0 };
	if (a.walk >= ADDRESS_COMPUTED)
		a.walk = mask % ADDRESS_PAGE ? ADDRESS_COMPUTED : ADDRESS_PAGES;
	return a;
}

static struct address memory_at(struct finder *f, int insn, int depth)
{
	const struct insn_memory *m = &f->in->cfg->insn[insn].memory;
	struct address a = fixed;

	if (m->base != ISA_NONE && m->base != ISA_PC)
		a = value_at(f, insn, m->base, depth);
	if (m->index != ISA_NONE)
		a = sum(a, times(value_at(f, insn, m->index, depth),
				 m->scale ? m->scale : 1));
	return a;
}

/* What a load gives is anything; from a fixed place it may be a spilled value. */
static struct address loaded(struct finder *f, int insn, int depth)
{
	return memory_at(f, insn, depth).walk == ADDRESS_FIXED
		       ? anywhere
		       : (struct address){ ADDRESS_LOADED, 0 };
}

static struct address step(int64_t stride)
{
	return (struct address){ ADDRESS_STEPS, stride };
}

static bool depends_on_itself(const struct insn *insn, unsigned int reg)
{
	return isa_has(&insn->reads, reg) && isa_has(&insn->writes, reg);
}

/* A register is added to one that has its own value of the time before. */
static struct address stepped_by(struct finder *f, int insn, unsigned int reg,
				 int depth)
{
	return value_at(f, insn, reg, depth).walk == ADDRESS_FIXED ? step(0) : anywhere;
}

static struct address added(struct finder *f, int insn, unsigned int reg,
			    const struct isa_effect *e, int depth)
{
	if (e->b != ISA_NONE && e->a == reg)
		return stepped_by(f, insn, e->b, depth);
	if (e->a == reg)
		return step(e->value);
	return sum(value_at(f, insn, e->a, depth),
		   e->b == ISA_NONE ? fixed
				    : times(value_at(f, insn, e->b, depth),
					    UINT64_C(1) << (e->shift & 63)));
}

/* The base may be the register itself: lea rax, [rax + 64]. */
static struct address addressed(struct finder *f, int insn, unsigned int reg, int depth)
{
	const struct insn_memory *m = &f->in->cfg->insn[insn].memory;

	if (m->base != reg)
		return memory_at(f, insn, depth);
	return m->index == ISA_NONE ? step(m->displacement)
				    : stepped_by(f, insn, m->index, depth);
}

/* One register or another, by the flags; what only they decide is 0 or 1. */
static bool selects(const struct insn *insn)
{
	return isa_has(&insn->reads, ISA_FLAGS) && !isa_has(&insn->writes, ISA_FLAGS) &&
	       !(insn->kind & (INSN_LOAD | INSN_CALL));
}

static struct address selected(struct finder *f, int insn, int depth)
{
	struct address a = { ADDRESS_NEAR, 0 };
	bool any = false;

	for (unsigned int reg = ISA_GENERAL; reg < ISA_VECTOR; reg++) {
		if (!isa_has(&f->in->cfg->insn[insn].reads, reg))
			continue;
		a = any ? join(a, value_at(f, insn, reg, depth))
			: value_at(f, insn, reg, depth);
		any = true;
	}
	return a;
}

static struct address written(struct finder *f, int insn, unsigned int reg, int depth)
{
	const struct insn *at = &f->in->cfg->insn[insn];
	struct isa_effect e = { .op = ISA_OP_OTHER };

	if (at->kind & (INSN_CALL | INSN_ATOMIC))
		return anywhere;
	if (f->in->isa)
		e = isa_effect(f->in->isa, at);
	switch (e.op) {
	case ISA_OP_SET:
		return fixed;
	case ISA_OP_COPY:
		return value_at(f, insn, e.a, depth);
	case ISA_OP_ADDRESS:
		return addressed(f, insn, reg, depth);
	case ISA_OP_ADD:
		return added(f, insn, reg, &e, depth);
	case ISA_OP_COMPARE:
		return e.a == reg ? step((int64_t) - (uint64_t)e.value)
				  : value_at(f, insn, e.a, depth);
	case ISA_OP_SHIFT:
		return times(value_at(f, insn, e.a, depth), UINT64_C(1)
								    << (e.shift & 63));
	case ISA_OP_AND:
		return masked(value_at(f, insn, e.a, depth), (uint64_t)e.value);
	default:
		if (at->kind & INSN_LOAD)
			return loaded(f, insn, depth);
		if (selects(at))
			return selected(f, insn, depth);
		return !f->in->isa && depends_on_itself(at, reg) ? step(0) : anywhere;
	}
}

static struct address value_at(struct finder *f, int insn, unsigned int reg, int depth)
{
	struct address a = fixed;
	struct blame_writers w;

	if (depth == MAX_DEPTH || f->work == MAX_WORK)
		return anywhere;
	f->work++;
	blame_find_writers(f->paths, insn, reg, &w);
	for (int i = 0; i < w.nr; i++)
		a = join(a, written(f, w.insn[i], reg, depth + 1));
	return a;
}

struct address blame_find_address(const struct blame_input *in,
				  struct blame_paths *paths, int insn)
{
	const struct insn_memory *m = &in->cfg->insn[insn].memory;
	struct finder f = { in, paths, 0 };

	if (m->base == ISA_NONE && m->index == ISA_NONE && !m->size)
		return anywhere;
	return memory_at(&f, insn, 0);
}
