/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instruction with an unsupported effect gives a new unknown. So values are never
 * wrong, but may be inexact. The constants of the whole procedure are an exception:
 * they are guesses, and their users check the result.
 */
#include "config.h"

#include "analysis/cfg/cfg_value.h"

#include <string.h>

/* Below are headers; small numbers are offsets in structures. */
#define MIN_ADDRESS 512

static struct value constant(int64_t v)
{
	return (struct value){ .addend = v };
}

/* Addresses wrap around, as the machine's do. */
static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool is_constant(const struct value *v)
{
	return !v->symbol && !v->is_entry;
}

static struct value fresh(struct evaluation *e, uint8_t reg, bool indexed)
{
	if (e->nr_symbols == VALUE_MAX_SYMBOLS)
		return (struct value){ .symbol = VALUE_MAX_SYMBOLS - 1, .scale = 1 };
	e->symbol[e->nr_symbols] = (struct symbol_value){ .high = VALUE_MAX_GUESSED - 1,
							  .reg = reg,
							  .indexed = indexed };
	return (struct value){ .symbol = e->nr_symbols++, .scale = 1 };
}

void value_begin(struct evaluation *e, struct code *c, uint64_t jump,
		 int which_constant)
{
	memset(e, 0, sizeof(*e));
	e->c = c;
	e->jump = jump;
	e->which_constant = which_constant;
	e->nr_symbols = 1;
	for (int i = 0; i < VALUE_NR_GENERAL; i++)
		e->reg[i] = fresh(e, (uint8_t)(ISA_GENERAL + i), false);
}

/* Whether a table, or what its entries count from, can be at an address. */
static bool is_mapped(const struct code *c, int64_t address)
{
	uint64_t offset;

	return address >= MIN_ADDRESS &&
	       image_offset(c->im, (uint64_t)address, &offset);
}

/* Computes the value of reg after insn; *now is its value before, if known. */
static bool next_constant(struct code *c, const struct insn *insn, unsigned int reg,
			  bool known, int64_t *now)
{
	const struct isa_effect effect = isa_effect(c->isa, insn);

	if (effect.to != reg)
		return false;
	if (effect.op == ISA_OP_SET)
		*now = effect.value;
	else if (effect.op == ISA_OP_ADDRESS && insn->memory.base == ISA_PC)
		*now = insn->memory.displacement;
	else if (known && effect.op == ISA_OP_ADD && effect.a == reg && !effect.b)
		*now = plus(*now, effect.value); /* adrp, add */
	else
		return false;
	return true;
}

static void find_constants_in(struct code *c, const struct code_part *p,
			      unsigned int reg, struct code_constants *out)
{
	bool known = false, listed = false, was;
	struct insn insn;
	int64_t now = 0;

	for (size_t at = 0; at < p->size; at++) {
		if (!(p->state[at] & CODE_START))
			continue;
		code_insn_at(c, p->start + at, &insn);
		if (!isa_has(&insn.writes, reg))
			continue;
		was = known && isa_has(&insn.reads, reg);
		known = next_constant(c, &insn, reg, known, &now);
		if (was && known && listed)
			out->nr--; /* of adrp and add, the sum counts */
		listed = known && out->nr < CODE_MAX_CONSTANTS && is_mapped(c, now);
		if (!listed)
			continue;
		out->at[out->nr] = insn.address;
		out->value[out->nr++] = now;
	}
}

/*
 * A constant that the procedure puts into reg: the last one before the jump, or an
 * earlier one by which_constant. After the first constant the last one follows.
 */
static bool find_constant(struct evaluation *e, unsigned int reg, int64_t *out)
{
	struct code_constants *k = &e->c->constants[reg - ISA_GENERAL];
	int before = 0;

	if (k->nr_insns != e->c->nr_insns) {
		*k = (struct code_constants){ .nr_insns = e->c->nr_insns };
		for (int i = 0; i < e->c->nr_parts; i++)
			find_constants_in(e->c, &e->c->part[i], reg, k);
	}
	if (k->nr > e->nr_constants)
		e->nr_constants = k->nr;
	if (!k->nr)
		return false;
	while (before < k->nr && k->at[before] < e->jump)
		before++;
	*out = k->value[(before - 1 + k->nr - e->which_constant % k->nr) % k->nr];
	return true;
}

static struct value value_of_register(const struct evaluation *e, unsigned int reg)
{
	if (reg < ISA_GENERAL || reg >= ISA_GENERAL + VALUE_NR_GENERAL)
		return constant(0);
	return e->reg[reg - ISA_GENERAL];
}

static void set_register(struct evaluation *e, unsigned int reg, struct value v)
{
	if (reg >= ISA_GENERAL && reg < ISA_GENERAL + VALUE_NR_GENERAL)
		e->reg[reg - ISA_GENERAL] = v;
}

/* Replaces a register's unknown value by a constant that the procedure puts there. */
static void use_constant(struct evaluation *e, struct value *v)
{
	const struct symbol_value *s = &e->symbol[v->symbol];
	int64_t found;

	if (!v->symbol || v->is_entry || v->scale != 1 || !s->reg)
		return;
	if (!find_constant(e, s->reg, &found))
		return;
	v->addend = plus(v->addend, found);
	v->symbol = 0;
	v->scale = 0;
}

/* Returns the value of an unsupported instruction with these two operands. */
static struct value mixed(struct evaluation *e, const struct value *a,
			  const struct value *b)
{
	const bool indexed = a->is_entry || b->is_entry ||
			     e->symbol[a->symbol].indexed ||
			     e->symbol[b->symbol].indexed;

	return fresh(e, ISA_NONE, indexed);
}

static struct value add_values(struct evaluation *e, struct value a, struct value b)
{
	if (!is_constant(&a) && !is_constant(&b)) {
		/* One of them is the table or what its entries count from. */
		if (!a.is_entry &&
		    (b.is_entry || b.scale != 1 || e->symbol[a.symbol].reg))
			use_constant(e, &a);
		if (!is_constant(&a) && !b.is_entry)
			use_constant(e, &b);
	}
	if (is_constant(&a)) {
		b.addend = plus(b.addend, a.addend);
		return b;
	}
	if (is_constant(&b)) {
		a.addend = plus(a.addend, b.addend);
		return a;
	}
	if (!a.is_entry && !b.is_entry && a.symbol == b.symbol) {
		a.addend = plus(a.addend, b.addend);
		a.scale = plus(a.scale, b.scale);
		return a;
	}
	return mixed(e, &a, &b);
}

static struct value shift(struct value v, unsigned int by)
{
	if (by >= 64)
		return constant(0);
	v.addend = (int64_t)((uint64_t)v.addend << by);
	if (v.is_entry)
		v.shift = (uint8_t)(v.shift + by < 64 ? v.shift + by : 63);
	else
		v.scale = (int64_t)((uint64_t)v.scale << by);
	return v;
}

/* Returns the low size bytes, extended; an unknown stays the same unknown. */
static struct value extend(struct value v, unsigned int size, bool is_signed)
{
	const unsigned int unused = size < 8 ? 64 - 8 * size : 0;

	if (is_constant(&v)) {
		const uint64_t high = (uint64_t)v.addend << unused;

		v.addend =
			is_signed ? (int64_t)high >> unused : (int64_t)(high >> unused);
	} else if (v.is_entry && !v.shift && !v.addend && size == v.size) {
		v.is_signed = is_signed;
	}
	return v;
}

/* An entry that is used as an index, a base or an operand of a compare: an unknown. */
static struct value as_number(struct value v)
{
	if (!v.is_entry)
		return v;
	return (struct value){ .addend = v.addend,
			       .symbol = v.loaded,
			       .scale = (int64_t)(1ULL << v.shift) };
}

/* base + index * scale + displacement; loads: memory is accessed there. */
static struct value address_of(struct evaluation *e, const struct insn *insn,
			       bool loads)
{
	const struct insn_memory *m = &insn->memory;
	struct value base, index;

	if (m->base == ISA_PC)
		return constant(m->displacement);
	base = add_values(e, value_of_register(e, m->base), constant(m->displacement));
	if (loads)
		base = as_number(base);
	if (!m->index)
		return base;
	index = value_of_register(e, m->index);
	if (loads || m->scale != 1)
		index = as_number(index);
	if (!index.is_entry) {
		index.addend = (int64_t)((uint64_t)index.addend * m->scale);
		index.scale = (int64_t)((uint64_t)index.scale * m->scale);
	}
	return add_values(e, base, index);
}

static bool same_place(const struct value *a, const struct value *b)
{
	return a->symbol == b->symbol && a->scale == b->scale &&
	       a->addend == b->addend && !a->is_entry && !b->is_entry;
}

static void remember(struct evaluation *e, const struct value *at, struct value v)
{
	e->place[e->nr_places++ % VALUE_MAX_PLACES] = (struct memory_cell){ *at, v };
}

/* Finds the memory cell of an address. */
static struct value value_at(struct evaluation *e, const struct value *at, bool indexed)
{
	const int nr =
		e->nr_places < VALUE_MAX_PLACES ? e->nr_places : VALUE_MAX_PLACES;
	struct value v;

	for (int i = 0; i < nr; i++)
		if (same_place(&e->place[i].address, at))
			return e->place[i].value;
	v = fresh(e, ISA_NONE, indexed);
	remember(e, at, v);
	return v;
}

static bool overlap(int64_t a, unsigned int a_size, int64_t b, unsigned int b_size)
{
	return (uint64_t)a - (uint64_t)b < b_size || (uint64_t)b - (uint64_t)a < a_size;
}

/* Other places of the same frame keep what they have; elsewhere nothing is known. */
static void store(struct evaluation *e, const struct insn *insn, unsigned int size,
		  struct value v)
{
	const struct value at = address_of(e, insn, true);
	const int nr =
		e->nr_places < VALUE_MAX_PLACES ? e->nr_places : VALUE_MAX_PLACES;
	int kept = 0;

	for (int i = 0; i < nr; i++) {
		const struct value *a = &e->place[i].address;

		if (a->symbol == at.symbol && a->scale == at.scale && !a->is_entry &&
		    !overlap(a->addend, 8, at.addend, size))
			e->place[kept++] = e->place[i];
	}
	e->nr_places = kept;
	if (size >= 4)
		remember(e, &at, extend(v, size, false));
}

/* Returns the value in memory, which may be an entry of a table. */
struct value value_of_memory(struct evaluation *e, const struct insn *insn,
			     unsigned int size, bool is_signed)
{
	const struct value at = address_of(e, insn, true);
	struct value v = value_at(e, &at, insn->memory.index || at.scale > 1);

	if (is_constant(&v) || v.is_entry)
		return extend(v, size, is_signed);
	if (size == 1 && !is_signed && !e->symbol[v.symbol].exact)
		e->symbol[v.symbol].high = 255;
	if (!at.symbol || at.is_entry || at.scale < (int64_t)size ||
	    !is_mapped(e->c, at.addend))
		return v;
	return (struct value){ .symbol = at.symbol,
			       .scale = at.scale,
			       .is_entry = true,
			       .table = at.addend,
			       .loaded = v.symbol,
			       .size = (uint8_t)size,
			       .is_signed = is_signed };
}

static void compare(struct evaluation *e, const struct insn *insn,
		    const struct isa_effect *effect)
{
	e->compared = effect->a ? value_of_register(e, effect->a)
				: value_of_memory(e, insn, effect->size, false);
	e->with = effect->value;
	if (effect->size < 8)
		e->with &= (1LL << 8 * effect->size) - 1;
	e->has_compared = true;
}

static struct value result(struct evaluation *e, const struct insn *insn,
			   const struct isa_effect *effect)
{
	struct value a, b;

	switch (effect->op) {
	case ISA_OP_SET:
		return constant(effect->value);
	case ISA_OP_COPY:
		return extend(value_of_register(e, effect->a), effect->size,
			      effect->is_signed);
	case ISA_OP_ADDRESS:
		return address_of(e, insn, false);
	case ISA_OP_LOAD:
		return value_of_memory(e, insn, effect->size, effect->is_signed);
	case ISA_OP_ADD:
		a = add_values(e, value_of_register(e, effect->a),
			       constant(effect->value));
		if (!effect->b)
			return a;
		b = extend(value_of_register(e, effect->b), effect->size,
			   effect->is_signed);
		return add_values(e, a, shift(b, effect->shift));
	case ISA_OP_SHIFT:
		return shift(value_of_register(e, effect->a), effect->shift);
	case ISA_OP_AND:
		a = fresh(e, ISA_NONE, false);
		if (effect->value >= 0 && effect->value < VALUE_MAX_ENTRIES) {
			e->symbol[a.symbol].high = effect->value;
			e->symbol[a.symbol].exact = true;
		}
		return a;
	case ISA_OP_COMPARE:
		return add_values(e, e->compared, constant(plus(~effect->value, 1)));
	case ISA_OP_STORE:
	case ISA_OP_OTHER:
		break;
	}
	return fresh(e, ISA_NONE, false);
}

/* Makes the registers unknown that a call may change. */
static void forget(struct evaluation *e, const struct insn *insn)
{
	for (unsigned int i = 0; i < VALUE_NR_GENERAL; i++)
		if (isa_has(&insn->writes, ISA_GENERAL + i) ||
		    (insn->kind & INSN_CALL &&
		     isa_is_clobbered(e->c->isa, ISA_GENERAL + i)))
			e->reg[i] = fresh(e, ISA_NONE, false);
	if (insn->kind & (INSN_STORE | INSN_CALL))
		e->nr_places = 0;
	if (isa_has(&insn->writes, ISA_FLAGS) || insn->kind & INSN_CALL)
		e->has_compared = false;
}

/* Limits an unknown by a comparison and the conditional jump after it. */
static void narrow(struct evaluation *e, const struct insn *insn, bool taken)
{
	struct symbol_value *s = &e->symbol[e->compared.symbol];
	int64_t most = e->with;

	if (!e->has_compared || !e->compared.symbol || e->compared.is_entry ||
	    e->compared.scale != 1 || most < 0 || most > VALUE_MAX_ENTRIES ||
	    e->compared.addend > UINT32_MAX ||
	    e->compared.addend < -(int64_t)UINT32_MAX)
		return;
	switch (isa_condition(e->c->isa, insn)) {
	case ISA_IF_ABOVE:
		if (taken)
			return;
		break;
	case ISA_IF_NOT_ABOVE:
		if (!taken)
			return;
		break;
	case ISA_IF_BELOW:
		if (!taken)
			return;
		most--;
		break;
	case ISA_IF_NOT_BELOW:
		if (taken)
			return;
		most--;
		break;
	default:
		return;
	}
	s->low = -e->compared.addend;
	s->high = most - e->compared.addend;
	s->exact = true;
}

void value_step(struct evaluation *e, const struct step *step)
{
	const struct insn *insn = &step->insn;
	struct isa_effect effect;
	struct value v;

	if (insn->kind & INSN_COND) {
		narrow(e, insn, step->taken);
		return;
	}
	effect = isa_effect(e->c->isa, insn);
	if (effect.op == ISA_OP_OTHER) {
		forget(e, insn);
		return;
	}
	if (effect.op == ISA_OP_STORE) {
		store(e, insn, effect.size, value_of_register(e, effect.a));
		return;
	}
	if (effect.op != ISA_OP_COMPARE) {
		v = result(e, insn, &effect);
		forget(e, insn);
		set_register(e, effect.to, v);
		return;
	}
	compare(e, insn, &effect);
	set_register(e, effect.to, result(e, insn, &effect));
}
