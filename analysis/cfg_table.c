/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where does an indirect jump lead? Compilers make
 *
 *	cmp   index, bound; ja default
 *	load  entry, [table + index * size]
 *	add   entry, base                       (relative entries)
 *	jmp   entry
 *
 * with the parts in any order, hoisted, folded, or left out. So the instructions on a
 * path to the jump are evaluated: each register holds a sum of a constant and a
 * multiple of an unknown, or of an entry of a table at an unknown's place. When
 * the jump's value is of the last kind, the table is known; the comparison of
 * that unknown on the path is its bound.
 *
 * A path goes back through what falls through, else through the only, or the first,
 * jump. A register that was set before the path has the one constant that the
 * procedure ever puts into it. Several paths and constants are tried; the entries
 * tell which is right, for all must be instructions of the procedure.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cfg_code.h"

#define MAX_PATH    96
#define MAX_SYMBOLS 256
#define MAX_PLACES  8
#define MAX_ENTRIES 65536
#define MAX_GUESSED 1024
#define MIN_GUESSED 2
#define MIN_ADDRESS                                                       \
	512 /* below are headers; small numbers are offsets in structures \
	     */
#define NR_GENERAL 32
#define MAX_TRIES  4

/* An unknown number. */
struct symbol_value {
	int64_t low, high;
	bool exact;   /* by a comparison; else the table may end before */
	uint8_t reg;  /* that held it when the path began; ISA_NONE: no such */
	bool indexed; /* comes from memory, by an index */
};

/* addend + scale * unknown, or addend + entry << shift. */
struct value {
	int64_t addend;
	int symbol; /* in evaluation.symbol; 0: the value is the addend */
	int64_t scale;
	bool is_entry; /* of the table at table + scale * unknown */
	int64_t table;
	int loaded; /* the entry itself, as an unknown */
	uint8_t size, shift;
	bool is_signed;
};

/* A place in memory that was read or written: the same is read there again. */
struct place {
	struct value address, value;
};

struct evaluation {
	struct code *c;
	uint64_t jump; /* address */
	struct value reg[NR_GENERAL];
	struct symbol_value symbol[MAX_SYMBOLS];
	int nr_symbols;
	struct place place[MAX_PLACES];
	int nr_places;
	int which_constant;    /* of those that a register has in the procedure */
	int nr_constants;      /* how many there are to try, so far */
	struct value compared; /* by the last comparison */
	int64_t with;
	bool has_compared;
};

struct step {
	struct insn insn;
	bool taken; /* the path goes on where it jumps to */
};

struct path {
	struct step step[MAX_PATH]; /* from the last backwards */
	int nr;
	bool has_more; /* there is a path by a further choice */
};

static struct value constant(int64_t v)
{
	return (struct value){ .addend = v };
}

static bool is_constant(const struct value *v)
{
	return !v->symbol && !v->is_entry;
}

static struct value fresh(struct evaluation *e, uint8_t reg, bool indexed)
{
	if (e->nr_symbols == MAX_SYMBOLS)
		return (struct value){ .symbol = MAX_SYMBOLS - 1, .scale = 1 };
	e->symbol[e->nr_symbols] = (struct symbol_value){ .high = MAX_GUESSED - 1,
							  .reg = reg,
							  .indexed = indexed };
	return (struct value){ .symbol = e->nr_symbols++, .scale = 1 };
}

static void begin(struct evaluation *e, struct code *c, uint64_t jump,
		  int which_constant)
{
	memset(e, 0, sizeof(*e));
	e->c = c;
	e->jump = jump;
	e->which_constant = which_constant;
	e->nr_symbols = 1;
	for (int i = 0; i < NR_GENERAL; i++)
		e->reg[i] = fresh(e, (uint8_t)(ISA_GENERAL + i), false);
}

/* Whether a table, or what its entries count from, can be at an address. */
static bool is_mapped(const struct code *c, int64_t address)
{
	uint64_t offset;

	return address >= MIN_ADDRESS &&
	       image_offset(c->im, (uint64_t)address, &offset);
}

/* The value that insn gives reg, which had *now when known. */
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
		*now += effect.value; /* adrp, add */
	else
		return false;
	return true;
}

static void find_constants_in(struct code *c, const struct code_part *p,
			      unsigned int reg, struct code_constants *out)
{
	bool known = false, was;
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
		if (was && known && out->nr)
			out->nr--; /* of adrp and add, the sum counts */
		if (!known || out->nr == CODE_MAX_CONSTANTS || !is_mapped(c, now))
			continue;
		out->at[out->nr] = insn.address;
		out->value[out->nr++] = now;
	}
}

/*
 * The which-th constant that the procedure puts into reg, counted backwards from
 * the jump and on from the last.
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

static struct value get(const struct evaluation *e, unsigned int reg)
{
	if (reg < ISA_GENERAL || reg >= ISA_GENERAL + NR_GENERAL)
		return constant(0);
	return e->reg[reg - ISA_GENERAL];
}

static void set(struct evaluation *e, unsigned int reg, struct value v)
{
	if (reg >= ISA_GENERAL && reg < ISA_GENERAL + NR_GENERAL)
		e->reg[reg - ISA_GENERAL] = v;
}

/* What was there when the path began, by the procedure's constants. */
static void settle(struct evaluation *e, struct value *v)
{
	const struct symbol_value *s = &e->symbol[v->symbol];
	int64_t found;

	if (!v->symbol || v->is_entry || v->scale != 1 || !s->reg)
		return;
	if (!find_constant(e, s->reg, &found))
		return;
	v->addend += found;
	v->symbol = 0;
	v->scale = 0;
}

/* The value of an instruction that is not understood, but has both operands in it. */
static struct value mixed(struct evaluation *e, const struct value *a,
			  const struct value *b)
{
	const bool indexed = a->is_entry || b->is_entry ||
			     e->symbol[a->symbol].indexed ||
			     e->symbol[b->symbol].indexed;

	return fresh(e, ISA_NONE, indexed);
}

static struct value add(struct evaluation *e, struct value a, struct value b)
{
	if (!is_constant(&a) && !is_constant(&b)) {
		/* One of them is the table or what its entries count from. */
		if (!a.is_entry &&
		    (b.is_entry || b.scale != 1 || e->symbol[a.symbol].reg))
			settle(e, &a);
		if (!is_constant(&a) && !b.is_entry)
			settle(e, &b);
	}
	if (is_constant(&a)) {
		b.addend = (int64_t)((uint64_t)b.addend + (uint64_t)a.addend);
		return b;
	}
	if (is_constant(&b)) {
		a.addend = (int64_t)((uint64_t)a.addend + (uint64_t)b.addend);
		return a;
	}
	if (!a.is_entry && !b.is_entry && a.symbol == b.symbol) {
		a.addend = (int64_t)((uint64_t)a.addend + (uint64_t)b.addend);
		a.scale = (int64_t)((uint64_t)a.scale + (uint64_t)b.scale);
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

/* The low size bytes, extended: of an unknown, the unknown. */
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

/* An entry that is no part of an address, but an index or compared: an unknown. */
static struct value as_number(struct value v)
{
	if (!v.is_entry)
		return v;
	return (struct value){ .addend = v.addend,
			       .symbol = v.loaded,
			       .scale = 1LL << v.shift };
}

/* base + index * scale + displacement; loads: memory is accessed there. */
static struct value address_of(struct evaluation *e, const struct insn *insn,
			       bool loads)
{
	const struct insn_memory *m = &insn->memory;
	struct value base, index;

	if (m->base == ISA_PC)
		return constant(m->displacement);
	base = add(e, get(e, m->base), constant(m->displacement));
	if (loads)
		base = as_number(base);
	if (!m->index)
		return base;
	index = get(e, m->index);
	if (loads || m->scale != 1)
		index = as_number(index);
	if (!index.is_entry) {
		index.addend = (int64_t)((uint64_t)index.addend * m->scale);
		index.scale = (int64_t)((uint64_t)index.scale * m->scale);
	}
	return add(e, base, index);
}

static bool same_place(const struct value *a, const struct value *b)
{
	return a->symbol == b->symbol && a->scale == b->scale &&
	       a->addend == b->addend && !a->is_entry && !b->is_entry;
}

static void remember(struct evaluation *e, const struct value *at, struct value v)
{
	e->place[e->nr_places++ % MAX_PLACES] = (struct place){ *at, v };
}

/* What stands in memory at an address. */
static struct value value_at(struct evaluation *e, const struct value *at, bool indexed)
{
	const int nr = e->nr_places < MAX_PLACES ? e->nr_places : MAX_PLACES;
	struct value v;

	for (int i = 0; i < nr; i++)
		if (same_place(&e->place[i].address, at))
			return e->place[i].value;
	v = fresh(e, ISA_NONE, indexed);
	remember(e, at, v);
	return v;
}

/* Other places of the same frame keep what they have; elsewhere nothing is known. */
static void store(struct evaluation *e, const struct insn *insn, unsigned int size,
		  struct value v)
{
	const struct value at = address_of(e, insn, true);
	const int nr = e->nr_places < MAX_PLACES ? e->nr_places : MAX_PLACES;
	int kept = 0;

	for (int i = 0; i < nr; i++) {
		const struct value *a = &e->place[i].address;

		if (a->symbol == at.symbol && a->scale == at.scale && !a->is_entry &&
		    (a->addend >= at.addend + (int64_t)size ||
		     at.addend >= a->addend + 8))
			e->place[kept++] = e->place[i];
	}
	e->nr_places = kept;
	if (size >= 4)
		remember(e, &at, extend(v, size, false));
}

/* What stands in memory: perhaps an entry of a table. */
static struct value load(struct evaluation *e, const struct insn *insn,
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
	e->compared =
		effect->a ? get(e, effect->a) : load(e, insn, effect->size, false);
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
		return extend(get(e, effect->a), effect->size, effect->is_signed);
	case ISA_OP_ADDRESS:
		return address_of(e, insn, false);
	case ISA_OP_LOAD:
		return load(e, insn, effect->size, effect->is_signed);
	case ISA_OP_ADD:
		a = add(e, get(e, effect->a), constant(effect->value));
		if (!effect->b)
			return a;
		b = extend(get(e, effect->b), effect->size, effect->is_signed);
		return add(e, a, shift(b, effect->shift));
	case ISA_OP_SHIFT:
		return shift(get(e, effect->a), effect->shift);
	case ISA_OP_AND:
		a = fresh(e, ISA_NONE, false);
		if (effect->value >= 0 && effect->value < MAX_ENTRIES) {
			e->symbol[a.symbol].high = effect->value;
			e->symbol[a.symbol].exact = true;
		}
		return a;
	case ISA_OP_COMPARE:
		return add(e, e->compared, constant(-effect->value));
	case ISA_OP_STORE:
	case ISA_OP_OTHER:
		break;
	}
	return fresh(e, ISA_NONE, false);
}

/* What a call may change; the other registers keep their values. */
static bool is_clobbered(const struct code *c, unsigned int number)
{
	if (image_machine(c->im) == MACHINE_X86_64)
		return number <= 2 || (number >= 6 && number <= 11);
	return number <= 18;
}

static void forget(struct evaluation *e, const struct insn *insn)
{
	for (unsigned int i = 0; i < NR_GENERAL; i++)
		if (isa_has(&insn->writes, ISA_GENERAL + i) ||
		    (insn->kind & INSN_CALL && is_clobbered(e->c, i)))
			e->reg[i] = fresh(e, ISA_NONE, false);
	if (insn->kind & (INSN_STORE | INSN_CALL))
		e->nr_places = 0;
	if (isa_has(&insn->writes, ISA_FLAGS) || insn->kind & INSN_CALL)
		e->has_compared = false;
}

/* The unknown is at most what a comparison with a jump on its result says. */
static void narrow(struct evaluation *e, const struct insn *insn, bool taken)
{
	struct symbol_value *s = &e->symbol[e->compared.symbol];
	int64_t most = e->with;

	if (!e->has_compared || !e->compared.symbol || e->compared.is_entry ||
	    e->compared.scale != 1 || most < 0 || most > MAX_ENTRIES)
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
	case ISA_IF_OTHER:
		return;
	}
	s->low = -e->compared.addend;
	s->high = most - e->compared.addend;
	s->exact = true;
}

static void evaluate(struct evaluation *e, const struct step *step)
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
		store(e, insn, effect.size, get(e, effect.a));
		return;
	}
	if (effect.op != ISA_OP_COMPARE) {
		v = result(e, insn, &effect);
		forget(e, insn);
		set(e, effect.to, v);
		return;
	}
	compare(e, insn, &effect);
	set(e, effect.to, result(e, insn, &effect));
}

static bool is_on_path(const struct path *p, uint64_t address)
{
	for (int i = 0; i < p->nr; i++)
		if (p->step[i].insn.address == address)
			return true;
	return false;
}

/* What can be executed just before address, and is not on the path yet. */
static int find_before(struct code *c, const struct path *p, uint64_t address,
		       struct step out[MAX_TRIES])
{
	const struct code_jump *jump;
	int found = 0;
	size_t nr;

	if (code_falls_into(c, address, &out[0].insn) &&
	    !is_on_path(p, out[0].insn.address))
		out[found++].taken = false;
	if (!(code_state_at(c, address) & CODE_LEADER))
		return found;
	jump = code_jumps_to(c, address, &nr);
	for (size_t i = 0; i < nr && found < MAX_TRIES; i++) {
		if (is_on_path(p, jump[i].from))
			continue;
		code_insn_at(c, jump[i].from, &out[found].insn);
		out[found++].taken = true;
	}
	return found;
}

/* A path to address: its last join is entered by the choice-th way, others by the
 * first. */
static void find_path(struct code *c, uint64_t address, int choice, struct path *p)
{
	struct step before[MAX_TRIES];
	bool joined = false;
	int nr;

	p->nr = 0;
	p->has_more = false;
	while (p->nr < MAX_PATH && (nr = find_before(c, p, address, before))) {
		int pick = 0;

		if (nr > 1 && !joined) {
			joined = true;
			pick = choice < nr ? choice : 0;
			p->has_more = choice + 1 < nr;
		}
		p->step[p->nr++] = before[pick];
		address = before[pick].insn.address;
	}
}

/* Whether another jump's table begins there: this one's has ended. */
static bool is_other_table(const struct code *c, uint64_t address, uint64_t own)
{
	for (size_t i = 0; i < c->nr_indirects; i++)
		if (c->indirect[i].kind == INDIRECT_TABLE &&
		    c->indirect[i].table == address && address != own)
			return true;
	return false;
}

/* Data may be in another segment than code. */
static bool read_data(const struct code *c, uint64_t address, void *out, size_t size)
{
	uint64_t offset;

	return image_offset(c->im, address, &offset) &&
	       image_read(c->im, offset, out, size) == 0;
}

static bool read_entry(const struct code *c, const struct value *v, int64_t index,
		       uint64_t *target)
{
	const uint64_t at = (uint64_t)v->table + (uint64_t)(v->scale * index);
	const unsigned int unused = 64 - 8 * v->size;
	uint8_t bytes[8];
	uint64_t entry = 0;

	if (v->size > 8 || !v->size || !read_data(c, at, bytes, v->size))
		return false;
	for (int i = v->size; i-- > 0;)
		entry = entry << 8 | bytes[i];
	if (v->is_signed)
		entry = (uint64_t)((int64_t)(entry << unused) >> unused);
	*target = (uint64_t)v->addend + (entry << v->shift);
	if (v->size == 4 && !v->addend && !v->shift)
		*target = (uint32_t)*target;
	return true;
}

/* certain: as code_is_inside() has it. */
static bool is_target(struct code *c, uint64_t address, bool certain)
{
	struct insn insn;
	size_t at;
	const struct code_part *p;

	if (!code_is_inside(c, address, certain))
		return false;
	p = code_part_at(c, address, &at);
	if (p->state[at] & CODE_START)
		return true;
	return !(p->state[at] & (CODE_INSIDE | CODE_BAD)) &&
	       isa_decode(c->isa, p->bytes + at, p->size - at, address, &insn) == 0 &&
	       !(insn.kind & INSN_BAD);
}

static int compare_addresses(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static int nr_unique(uint64_t *a, int nr)
{
	int kept = 0;

	qsort(a, (size_t)nr, sizeof(*a), compare_addresses);
	for (int i = 0; i < nr; i++)
		if (!kept || a[kept - 1] != a[i])
			a[kept++] = a[i];
	return kept;
}

/* Reads the table, when v is one: 1, or 0 when it is none, or -ENOMEM. */
static int read_table(struct evaluation *e, const struct value *v,
		      struct code_indirect *jump)
{
	const struct symbol_value *s = &e->symbol[v->symbol];
	const uint64_t first = (uint64_t)(v->table + v->scale * s->low);
	uint64_t *target, to;
	int nr = 0;

	if (!v->is_entry || s->high < s->low || s->high - s->low >= MAX_ENTRIES)
		return 0;
	target = arena_array(e->c->arena, (size_t)(s->high - s->low + 1),
			     sizeof(*target));
	if (!target)
		return -ENOMEM;
	for (int64_t i = s->low; i <= s->high; i++) {
		if (!s->exact &&
		    is_other_table(e->c, (uint64_t)(v->table + v->scale * i), first))
			break;
		if (!read_entry(e->c, v, i, &to) || !is_target(e->c, to, s->exact)) {
			if (s->exact)
				return 0;
			break;
		}
		target[nr++] = to;
	}
	if (!s->exact && nr < MIN_GUESSED)
		return 0;
	jump->kind = INDIRECT_TABLE;
	jump->table = first;
	jump->nr_targets = nr_unique(target, nr);
	jump->target = target;
	return 1;
}

/* What the jump's operand is worth at the end of the path. */
static struct value value_of_jump(struct evaluation *e, const struct insn *jump)
{
	if (jump->kind & INSN_LOAD && jump->memory.size)
		return load(e, jump, jump->memory.size, false);
	for (unsigned int i = 0; i < NR_GENERAL; i++)
		if (isa_has(&jump->reads, ISA_GENERAL + i))
			return e->reg[i];
	return constant(0);
}

/* Whether the frame is taken down before the jump, as for a call at the end. */
static bool has_epilogue(const struct code *c, const struct path *p)
{
	const unsigned int sp = image_machine(c->im) == MACHINE_X86_64 ? 4 : 31;

	for (int i = 0; i < p->nr; i++) {
		const struct insn *insn = &p->step[i].insn;

		if (insn->kind & (INSN_JUMP | INSN_CALL))
			break;
		if (isa_has(&insn->writes, ISA_GENERAL + sp))
			return true;
	}
	return false;
}

/* Whether the procedure makes a frame before anything else. */
static bool has_frame(const struct code *c)
{
	const unsigned int sp = image_machine(c->im) == MACHINE_X86_64 ? 4 : 31;
	uint64_t address = c->part[0].start;
	struct insn insn;

	for (; code_state_at(c, address) & CODE_START; address += insn.size) {
		code_insn_at(c, address, &insn);
		if (insn.kind & (INSN_JUMP | INSN_CALL | INSN_RETURN))
			break;
		if (isa_has(&insn.writes, ISA_GENERAL + sp))
			return true;
	}
	return false;
}

/*
 * Whether it stays in the procedure: it jumps by an index, or with the frame still
 * there, which no call at the end does.
 */
static bool is_local(const struct evaluation *e, const struct path *p,
		     const struct insn *jump, const struct value *v)
{
	if (has_epilogue(e->c, p))
		return false;
	if (has_frame(e->c))
		return true;
	return jump->memory.index || v->is_entry || e->symbol[v->symbol].indexed;
}

static int try_path(struct evaluation *e, const struct path *p, const struct insn *insn,
		    struct code_indirect *jump, bool *local)
{
	struct value v;

	for (int i = p->nr; i-- > 0;)
		evaluate(e, &p->step[i]);
	v = value_of_jump(e, insn);
	*local |= is_local(e, p, insn, &v);
	return read_table(e, &v, jump);
}

/* Evaluates one path, with each constant that it may need. */
static int try_constants(struct evaluation *e, const struct path *p,
			 const struct insn *insn, struct code_indirect *jump,
			 bool *local)
{
	struct code *c = e->c;
	int found = 0;

	for (int k = 0; k < CODE_MAX_CONSTANTS && !found; k++) {
		begin(e, c, insn->address, k);
		found = try_path(e, p, insn, jump, local);
		if (k >= e->nr_constants)
			break;
	}
	return found;
}

int code_resolve(struct code *c, struct code_indirect *jump)
{
	struct evaluation *e = malloc(sizeof(*e));
	struct path *p = malloc(sizeof(*p));
	bool local = false, more = true;
	struct insn insn;
	int found = 0;

	if (!e || !p) {
		found = -ENOMEM;
		goto out;
	}
	code_insn_at(c, jump->at, &insn);
	e->c = c;
	for (int choice = 0; choice < MAX_TRIES && more && !found; choice++) {
		find_path(c, jump->at, choice, p);
		more = p->has_more;
		found = try_constants(e, p, &insn, jump, &local);
	}
	if (!found)
		jump->kind = local ? INDIRECT_UNKNOWN : INDIRECT_LEAVES;
out:
	free(p);
	free(e);
	return found < 0 ? found : 0;
}
