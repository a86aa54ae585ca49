/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small value analysis over the writers of address registers. It goes back until a
 * writer appears again: then the value has gone round a loop, and the sum of what was
 * added on the way is the step. Spilled values are followed through their stack slots.
 *
 * If a register has several writers, writers that run less than half as often as the
 * most frequent one are ignored. So a register that is set before a loop and
 * incremented in the loop counts as ADDRESS_STEPS.
 */
#include "config.h"

#include "analysis/blame/blame_address.h"

#include <stdlib.h>

#define MAX_DEPTH 24  /* instructions that compute one value */
#define MAX_WORK  128 /* searches for one address */
#define RARE      0.5 /* of the executions of the most frequent writer */

/* A step of the path from the address back to the writer that is examined. */
struct address_way {
	int insn;
	uint64_t added;   /* sum of the constants from the address to here */
	bool is_straight; /* this step only adds to the operand */
	bool is_known;    /* what it adds is constant */
};

struct finder {
	struct isa *isa;
	struct blame_paths *paths;
	struct address_way way[MAX_DEPTH];
	int depth, work;
};

static const struct address anywhere = { ADDRESS_COMPUTED, 0 };
static const struct address fixed = { ADDRESS_FIXED, 0 };

/* How an instruction's result comes from a register that it reads: register + added. */
struct link {
	uint64_t added;
	bool is_straight, is_known;
};

static const struct link straight = { 0, true, true };
static const struct link bent = { 0, false, false };

static struct address value_at(struct finder *f, int insn, unsigned int reg,
			       struct link link);

static const struct insn *insn_at(const struct finder *f, int insn)
{
	return &f->paths->cfg->insn[insn];
}

/* The address if control may come from either of two writers. */
static struct address join_addresses(struct address a, struct address b)
{
	if (a.walk == b.walk && a.walk == ADDRESS_STEPS &&
	    llabs(a.stride) < llabs(b.stride))
		return b;
	return a.walk >= b.walk ? a : b;
}

static struct address sum_addresses(struct address a, struct address b)
{
	if (a.walk == ADDRESS_STEPS && b.walk == ADDRESS_STEPS) {
		const bool known = a.stride && b.stride;

		a.stride =
			known ? (int64_t)((uint64_t)a.stride + (uint64_t)b.stride) : 0;
	}
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

static struct address memory_at(struct finder *f, int insn, struct link link)
{
	const struct insn_memory *m = &insn_at(f, insn)->memory;
	struct address base, index;

	if (m->base == ISA_PC || m->index == ISA_NONE)
		return m->base == ISA_PC ? fixed : value_at(f, insn, m->base, link);
	if (m->base != ISA_NONE)
		link.is_known = false;
	base = value_at(f, insn, m->base, bent);
	if (base.walk == ADDRESS_FIXED && m->scale <= 1)
		return value_at(f, insn, m->index, link);
	index = times(value_at(f, insn, m->index, bent), m->scale);
	if (index.walk == ADDRESS_FIXED && base.walk != ADDRESS_FIXED) {
		link.is_known = false;
		base = value_at(f, insn, m->base, link);
	}
	return sum_addresses(base, index);
}

/*
 * The value that a store writes: a register, or the old value changed by a step of
 * unknown size, or any value.
 */
static struct address stored(struct finder *f, int insn)
{
	const struct insn *at = insn_at(f, insn);
	const struct isa_effect e = isa_effect(f->isa, at);
	int others = 0;

	if (e.op == ISA_OP_STORE)
		return value_at(f, insn, e.a, straight);
	for (unsigned int reg = ISA_GENERAL; reg < ISA_MASK; reg++)
		others += isa_has(&at->reads, reg) && reg != at->memory.base &&
			  reg != at->memory.index;
	return at->kind & INSN_LOAD && !others ? (struct address){ ADDRESS_STEPS, 0 }
					       : anywhere;
}

/* A load of the value that was last stored in the same place. */
static struct address reloaded(struct finder *f, int insn)
{
	struct address a = fixed;
	struct blame_writers w;

	blame_find_stores(f->paths, insn, &w);
	for (int i = 0; i < w.nr; i++)
		a = join_addresses(a, stored(f, w.insn[i]));
	return w.nr ? a : anywhere;
}

/*
 * The value that a load returns. From a fixed place it is a variable, which may be
 * known; from other places it may be anything.
 */
static struct address loaded(struct finder *f, int insn)
{
	if (insn_at(f, insn)->memory.base == ISA_PC &&
	    insn_at(f, insn)->memory.index == ISA_NONE)
		return fixed;
	if (memory_at(f, insn, bent).walk != ADDRESS_FIXED)
		return (struct address){ ADDRESS_LOADED, 0 };
	return f->isa ? reloaded(f, insn) : anywhere;
}

static struct address added(struct finder *f, int insn, const struct isa_effect *e)
{
	struct link link = { (uint64_t)e->value, true, e->b == ISA_NONE };
	struct address b = fixed;

	if (e->b != ISA_NONE)
		b = times(value_at(f, insn, e->b, bent), UINT64_C(1)
								 << (e->shift & 63));
	link.is_straight = b.walk == ADDRESS_FIXED;
	return sum_addresses(value_at(f, insn, e->a, link), b);
}

/* Whether the flags select one of two values. */
static bool selects(const struct insn *insn)
{
	return isa_has(&insn->reads, ISA_FLAGS) && !isa_has(&insn->writes, ISA_FLAGS) &&
	       !(insn->kind & (INSN_LOAD | INSN_CALL));
}

static struct address selected(struct finder *f, int insn)
{
	struct address a = { ADDRESS_NEAR, 0 };
	bool any = false;

	for (unsigned int reg = ISA_GENERAL; reg < ISA_VECTOR; reg++) {
		if (!isa_has(&insn_at(f, insn)->reads, reg))
			continue;
		a = any ? join_addresses(a, value_at(f, insn, reg, straight))
			: value_at(f, insn, reg, straight);
		any = true;
	}
	return a;
}

/* The value after an instruction with an unknown effect. */
static struct address changed(struct finder *f, int insn, unsigned int reg)
{
	const struct insn *at = insn_at(f, insn);
	const struct link step = { 0, true, false };

	if (at->kind & INSN_LOAD)
		return loaded(f, insn);
	if (selects(at))
		return selected(f, insn);
	return !f->isa && isa_has(&at->reads, reg) ? value_at(f, insn, reg, step)
						   : anywhere;
}

static struct address written(struct finder *f, int insn, unsigned int reg)
{
	const struct insn *at = insn_at(f, insn);
	struct isa_effect e = { .op = ISA_OP_OTHER };
	struct link link = straight;

	if (at->kind & (INSN_CALL | INSN_ATOMIC))
		return anywhere;
	if (f->isa)
		e = isa_effect(f->isa, at);
	switch (e.op) {
	case ISA_OP_SET:
		return fixed;
	case ISA_OP_COPY:
		return value_at(f, insn, e.a, straight);
	case ISA_OP_ADDRESS:
		link.added = (uint64_t)at->memory.displacement;
		return memory_at(f, insn, link);
	case ISA_OP_ADD:
		return added(f, insn, &e);
	case ISA_OP_COMPARE:
		link.added = -(uint64_t)e.value;
		return value_at(f, insn, e.a, link);
	case ISA_OP_SHIFT:
		return times(value_at(f, insn, e.a, bent), UINT64_C(1)
								   << (e.shift & 63));
	case ISA_OP_AND:
		return masked(value_at(f, insn, e.a, straight), (uint64_t)e.value);
	default:
		return changed(f, insn, reg);
	}
}

/*
 * Whether the writer is already on the path, so that the value has gone round a loop.
 * The first element of the path is not a writer.
 */
static bool is_round(const struct finder *f, int insn, struct address *out)
{
	bool is_straight = true, is_known = true;

	for (int i = f->depth - 1; i > 0; i--) {
		is_straight &= f->way[i].is_straight;
		is_known &= f->way[i].is_known;
		if (f->way[i].insn != insn)
			continue;
		*out = anywhere;
		if (is_straight)
			*out = (struct address){
				ADDRESS_STEPS,
				is_known ? (int64_t)(f->way[f->depth - 1].added -
						     f->way[i - 1].added)
					 : 0
			};
		if (is_straight && is_known && !out->stride)
			*out = fixed;
		return true;
	}
	return false;
}

static double runs_of(const struct finder *f, int insn)
{
	return f->paths->freq->block[f->paths->block_of[insn]];
}

static struct address join_writers(struct finder *f, const struct blame_writers *w,
				   unsigned int reg)
{
	struct address a = fixed, round;
	double most = 0;

	for (int i = 0; i < w->nr; i++)
		if (runs_of(f, w->insn[i]) > most)
			most = runs_of(f, w->insn[i]);
	for (int i = 0; i < w->nr; i++) {
		if (runs_of(f, w->insn[i]) < RARE * most)
			continue;
		a = join_addresses(a, is_round(f, w->insn[i], &round)
					      ? round
					      : written(f, w->insn[i], reg));
	}
	return a;
}

/*
 * The value of a register that insn reads. link says how insn uses it. ISA_NONE has the
 * value 0.
 */
static struct address value_at(struct finder *f, int insn, unsigned int reg,
			       struct link link)
{
	const uint64_t before = f->depth ? f->way[f->depth - 1].added : 0;
	struct blame_writers w;
	struct address a;

	if (reg == ISA_NONE)
		return fixed;
	if (f->depth == MAX_DEPTH || f->work == MAX_WORK)
		return anywhere;
	f->work++;
	f->way[f->depth++] = (struct address_way){ insn, before + link.added,
						   link.is_straight, link.is_known };
	blame_find_writers(f->paths, insn, reg, &w);
	a = join_writers(f, &w, reg);
	f->depth--;
	return a;
}

struct address blame_find_address(struct isa *isa, struct blame_paths *paths, int insn)
{
	const struct insn_memory *m = &paths->cfg->insn[insn].memory;
	struct finder f = { .isa = isa, .paths = paths };

	if (m->base == ISA_NONE && m->index == ISA_NONE && !m->size)
		return anywhere;
	return memory_at(&f, insn, bent);
}
