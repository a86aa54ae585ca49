/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.c - which registers count the iterations of the loop at an instruction
 *
 * explore() finds the instructions that can be reached, make_blocks() the basic blocks,
 * and evaluate() finds what a block does to each register: each value is unknown, or a
 * register's value at the start of the block plus a constant. find_region() then takes
 * one register at a time.
 *
 * Code is hostile: each loop here is bounded by STEPS_MAX_INSNS or MOST_UOPS.
 */
#include "config.h"

#include "analysis/windows/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define MOST_UOPS  64 /* of an instruction */
#define MOST_LEAF  64 /* instructions of a callee that is examined */
#define NR_VALUES  64 /* registers that can be in addresses */
#define NR_SLOTS   (2 * STEPS_MAX_INSNS)
#define NO_INSN    (-1)
#define FIRST_TEMP CPI_REG_ZERO /* machine registers are below */
/*
 * Instructions of callees that one steps_find() examines: at most a millisecond, even
 * with hundreds of calls and all registers. After that a callee counts as unknown.
 */
#define LEAF_BUDGET 8192

struct insn {
	uint64_t pc;
	struct walk_code code; /* uop NULL: it is not known */
	int next[2];           /* instructions, or NO_INSN */
	int nr_next;
	int nr_before;
	int last_before; /* if there are any */
	int block;
	bool calls;
	uint32_t clobbers; /* registers that its callee may change */
	uint64_t callee;   /* a small procedure; 0: not known to be small */
};

struct block {
	int first, last; /* instructions; next[0] leads from one to the next */
	uint32_t writes; /* registers with writes other than steps: a bit each */
	uint32_t steps;  /* registers that it steps */
	uint32_t narrow; /* ... of which the lower half counts */
	bool calls;
};

/* register + add, if it is known. */
struct value {
	uint64_t add;
	uint8_t base;
	bool known, narrow;
};

struct steps {
	struct insn insn[STEPS_MAX_INSNS];
	int nr_insns;
	int slot[NR_SLOTS]; /* 1 + instruction, by a hash of its pc */
	struct block block[STEPS_MAX_INSNS];
	int nr_blocks;
	struct value value[NR_VALUES];
	uint64_t written; /* one bit for each value that differs from the start of the
			     block */
	bool forward[STEPS_MAX_INSNS], region[STEPS_MAX_INSNS]; /* blocks */
	int leaf_budget; /* instructions of small procedures that may still be looked at
			  */
	const struct steps_code *code;
};

struct steps *steps_new(void)
{
	struct steps *s = calloc(1, sizeof(*s));

	if (s)
		s->written = ~0ULL;
	return s;
}

void steps_free(struct steps *s)
{
	free(s);
}

/* ---- instructions ---- */

static int *find_slot(struct steps *s, uint64_t pc)
{
	uint32_t at = (uint32_t)hash_u64(pc) % NR_SLOTS;

	while (s->slot[at] && s->insn[s->slot[at] - 1].pc != pc)
		at = (at + 1) % NR_SLOTS;
	return &s->slot[at];
}

/* The instruction at pc, which may be a new one; NO_INSN: there is no room. */
static int get_insn(struct steps *s, uint64_t pc)
{
	int *slot = find_slot(s, pc);

	if (*slot)
		return *slot - 1;
	if (s->nr_insns == STEPS_MAX_INSNS)
		return NO_INSN;
	s->insn[s->nr_insns++] = (struct insn){ .pc = pc,
						.next = { NO_INSN, NO_INSN },
						.last_before = NO_INSN,
						.block = -1 };
	*slot = s->nr_insns;
	return s->nr_insns - 1;
}

static void find_code(const struct steps *s, struct insn *i)
{
	if (s->code->find(s->code->ctx, i->pc, &i->code))
		i->code.uop = NULL;
}

/* The k-th micro-op of an instruction; NULL if that is not its own. */
static const struct cpi_uop *uop_of(const struct insn *i, uint32_t k)
{
	const struct cpi_uop *u;

	if (!i->code.uop || k >= MOST_UOPS || i->code.place + k >= i->code.nr_uops)
		return NULL;
	u = &i->code.uop[i->code.place + k];
	return k && !(u->flags & CPI_UOP_MORE) && u->op != CPI_UOP_GOTO ? NULL : u;
}

/* linked: an earlier micro-op of the instruction was cpi_uop_is_link(). */
static bool is_call(const struct cpi_uop *u, bool linked)
{
	return u->op == CPI_UOP_CALL || u->op == CPI_UOP_CALLI ||
	       (linked && (u->op == CPI_UOP_JMP || u->op == CPI_UOP_JMPI));
}

/*
 * The instructions of a small procedure and of all that it calls. look_into() examines
 * them in this order, and meanwhile appends those to which they lead.
 */
struct leaf {
	uint64_t pc[MOST_LEAF];
	int nr;
	uint32_t written;
};

/* False: there is no room. */
static bool leaf_add(struct leaf *l, uint64_t pc)
{
	for (int i = 0; i < l->nr; i++) {
		if (l->pc[i] == pc)
			return true;
	}
	if (l->nr == MOST_LEAF)
		return false;
	l->pc[l->nr++] = pc;
	return true;
}

/* Whether all that the instruction does is known. */
static bool leaf_do(struct steps *s, struct leaf *l, uint64_t pc)
{
	struct insn i = { .pc = pc };
	const struct cpi_uop *u;
	bool linked = false;

	find_code(s, &i);
	if (!i.code.uop)
		return false;
	for (uint32_t k = 0; (u = uop_of(&i, k)); k++) {
		const uint64_t target = pc + (uint64_t)(int64_t)u->disp;

		if (u->op == CPI_UOP_RET || (u->op == CPI_UOP_JMPI && !linked &&
					     u->src == CPI_REG_AARCH64_LINK))
			return true;
		if (u->op == CPI_UOP_JMP && !linked)
			return leaf_add(l, target);
		linked |= cpi_uop_is_link(u);
		if (u->op == CPI_UOP_STOP || u->op == CPI_UOP_JMPI ||
		    u->op == CPI_UOP_CALLI ||
		    (u->op == CPI_UOP_CALL && !leaf_add(l, target)))
			return false;
		if (u->op == CPI_UOP_GOTO)
			break;
		if (cpi_uop_is_direct(u) && !leaf_add(l, target))
			return false;
		if (u->op > CPI_UOP_RET && !(u->flags & CPI_UOP_STORE) &&
		    u->dst < STEPS_MAX)
			l->written |= 1u << u->dst;
	}
	return leaf_add(l, pc + cpi_uop_length(uop_of(&i, 0)));
}

/*
 * Whether the procedure at pc and all that it calls are small: together at most
 * MOST_LEAF instructions. Also returns these.
 */
static bool look_into(struct steps *s, uint64_t pc, struct leaf *l)
{
	l->pc[0] = pc;
	l->nr = 1;
	l->written = 0;
	for (int i = 0; i < l->nr; i++) {
		if (s->leaf_budget-- <= 0 || !leaf_do(s, l, l->pc[i]))
			return false;
	}
	return true;
}

/*
 * Notes which registers a call of pc may change. Compilers know what a small procedure
 * writes, and keep the other registers across its calls.
 */
static void note_callee(struct steps *s, struct insn *i, uint64_t pc)
{
	struct leaf l;

	if (!look_into(s, pc, &l))
		return;
	i->callee = pc;
	i->clobbers &= l.written;
}

static void add_next(struct steps *s, int from, uint64_t pc)
{
	const int to = get_insn(s, pc);
	struct insn *i = &s->insn[from];

	if (to == NO_INSN || i->nr_next == 2 || (i->nr_next && i->next[0] == to))
		return;
	i->next[i->nr_next++] = to;
	s->insn[to].nr_before++;
	s->insn[to].last_before = from;
}

/* Finds the successors of an instruction. */
static void follow(struct steps *s, int from)
{
	const uint64_t pc = s->insn[from].pc;
	const struct cpi_uop *u;
	bool linked = false;
	uint64_t length;

	find_code(s, &s->insn[from]);
	u = uop_of(&s->insn[from], 0);
	if (!u)
		return;
	length = cpi_uop_length(u);
	for (uint32_t k = 0; (u = uop_of(&s->insn[from], k)); k++) {
		const uint64_t target = pc + (uint64_t)(int64_t)u->disp;

		if (u->op == CPI_UOP_GOTO)
			break;
		if (u->op == CPI_UOP_STOP || u->op == CPI_UOP_RET ||
		    (u->op == CPI_UOP_JMPI && !linked))
			return;
		if (u->op == CPI_UOP_JMP && !linked) {
			add_next(s, from, target);
			return;
		}
		if (u->op == CPI_UOP_JCC || u->op == CPI_UOP_JZ || u->op == CPI_UOP_JNZ)
			add_next(s, from, target);
		linked |= cpi_uop_is_link(u);
		if (!is_call(u, linked))
			continue;
		s->insn[from].calls = true;
		s->insn[from].clobbers = s->code->clobbered;
		if (cpi_uop_is_direct(u))
			note_callee(s, &s->insn[from], target);
	}
	add_next(s, from, pc + length);
}

static void explore(struct steps *s, uint64_t first)
{
	memset(s->slot, 0, sizeof(s->slot));
	s->nr_insns = 0;
	get_insn(s, first);
	for (int i = 0; i < s->nr_insns; i++)
		follow(s, i);
}

/* ---- blocks ---- */

static bool begins_block(const struct steps *s, const struct insn *i)
{
	return i->nr_before != 1 || s->insn[i->last_before].nr_next != 1;
}

static void make_block(struct steps *s, int first)
{
	struct block *b = &s->block[s->nr_blocks];
	int at = first, next = first;

	*b = (struct block){ .first = first };
	do {
		at = next;
		s->insn[at].block = s->nr_blocks;
		b->calls |= s->insn[at].calls;
		next = s->insn[at].nr_next == 1 ? s->insn[at].next[0] : NO_INSN;
	} while (next != NO_INSN && next != first && !begins_block(s, &s->insn[next]));
	b->last = at;
	s->nr_blocks++;
}

/*
 * In an endless loop without a branch no instruction begins a block; then the first one
 * does.
 */
static void make_blocks(struct steps *s)
{
	s->nr_blocks = 0;
	for (int i = 0; i < s->nr_insns; i++) {
		if (begins_block(s, &s->insn[i]))
			make_block(s, i);
	}
	if (s->insn[0].block < 0)
		make_block(s, 0);
}

/* ---- what a block does to registers ---- */

static struct value value_plus(const struct value *v, uint64_t add, bool narrow)
{
	return (struct value){ .add = v->add + add,
			       .base = v->base,
			       .known = v->known,
			       .narrow = v->narrow || narrow };
}

static struct value value_of_address(const struct steps *s, const struct cpi_uop *u)
{
	const unsigned int base = cpi_uop_base(u), index = cpi_uop_index(u);
	const uint64_t add = (uint64_t)(int64_t)u->disp;
	const bool narrow = cpi_uop_size(u) == 2;

	if (index == CPI_REG_ZERO)
		return value_plus(&s->value[base], add, narrow);
	if (base == CPI_REG_ZERO && !cpi_uop_scale(u))
		return value_plus(&s->value[index], add, narrow);
	return (struct value){ 0 };
}

/* The sum of a register and a constant. */
static struct value value_of_sum(const struct steps *s, const struct cpi_uop *u)
{
	uint64_t add = (uint64_t)(int64_t)u->imm;

	if (u->op == CPI_UOP_INC || u->op == CPI_UOP_DEC)
		add = 1;
	else if (!(u->flags & CPI_UOP_SRC_IMM) ||
		 cpi_uop_source_size(u) != cpi_uop_size(u))
		return (struct value){ 0 };
	if (u->flags & CPI_UOP_LEFT_MEM || u->left >= NR_VALUES)
		return (struct value){ 0 };
	if (u->op == CPI_UOP_SUB || u->op == CPI_UOP_SUBN || u->op == CPI_UOP_DEC)
		add = -add;
	return value_plus(&s->value[u->left], add, cpi_uop_size(u) == 2);
}

static struct value value_of_move(const struct steps *s, const struct cpi_uop *u)
{
	if (u->flags & (CPI_UOP_SRC_MEM | CPI_UOP_SRC_IMM) || u->src >= NR_VALUES ||
	    cpi_uop_source_size(u) < 2)
		return (struct value){ 0 };
	return value_plus(&s->value[u->src], 0,
			  cpi_uop_size(u) == 2 || cpi_uop_source_size(u) == 2);
}

static struct value value_of(const struct steps *s, const struct cpi_uop *u)
{
	if (cpi_uop_size(u) < 2 || u->flags & (CPI_UOP_HIGH | CPI_UOP_SRC_HIGH))
		return (struct value){ 0 };
	switch (u->op) {
	case CPI_UOP_MOV:
		return value_of_move(s, u);
	case CPI_UOP_LEA:
		return value_of_address(s, u);
	case CPI_UOP_ADD:
	case CPI_UOP_SUB:
	case CPI_UOP_SUBN:
	case CPI_UOP_INC:
	case CPI_UOP_DEC:
		return value_of_sum(s, u);
	default:
		return (struct value){ 0 };
	}
}

/* Executes i's micro-op u. Returns the registers that were written, a bit each. */
static uint32_t execute(struct steps *s, const struct insn *i, const struct cpi_uop *u)
{
	uint32_t written = 0;

	if (is_call(u, i->calls)) {
		for (uint32_t left = i->clobbers; left; left &= left - 1)
			s->value[__builtin_ctz(left)].known = false;
		s->written |= i->clobbers;
		return i->clobbers;
	}
	if (u->op <= CPI_UOP_RET)
		return 0;
	if (u->op == CPI_UOP_PUSH || u->op == CPI_UOP_POP) {
		s->value[CPI_REG_X86_RSP].add += u->op == CPI_UOP_POP ? 8 : -8;
		written = 1u << CPI_REG_X86_RSP;
		s->written |= written;
	}
	if (u->flags & CPI_UOP_STORE || u->dst >= NR_VALUES)
		return written;
	s->value[u->dst] = value_of(s, u);
	s->written |= 1ULL << u->dst;
	return u->dst < STEPS_MAX ? written | 1u << u->dst : written;
}

static void begin_values(struct steps *s)
{
	for (; s->written; s->written &= s->written - 1) {
		const unsigned int r = (unsigned int)__builtin_ctzll(s->written);

		s->value[r] =
			(struct value){ .base = (uint8_t)r, .known = r < FIRST_TEMP };
	}
}

static bool is_stepped(const struct value *v)
{
	return (v->narrow ? (uint32_t)v->add : v->add) != 0;
}

/* Notes which registers were written, and with what: *stepped, or anything else. */
static void note_writes(const struct steps *s, uint32_t written, struct block *b,
			uint32_t *stepped)
{
	for (; written; written &= written - 1) {
		const unsigned int r = (unsigned int)__builtin_ctz(written);
		const struct value *v = &s->value[r];

		if (!v->known || v->base != r)
			b->writes |= 1u << r;
		else if (is_stepped(v))
			*stepped |= 1u << r;
		else
			b->narrow |= (uint32_t)v->narrow << r;
	}
}

/* If the steps of a register add up to 0, it counts nothing: treat them as a write. */
static void evaluate(struct steps *s, struct block *b)
{
	const struct cpi_uop *u;
	uint32_t stepped = 0;

	begin_values(s);
	for (int at = b->first;; at = s->insn[at].next[0]) {
		for (uint32_t k = 0; (u = uop_of(&s->insn[at], k)); k++)
			note_writes(s, execute(s, &s->insn[at], u), b, &stepped);
		if (at == b->last)
			break;
	}
	for (stepped &= ~b->writes; stepped; stepped &= stepped - 1) {
		const unsigned int r = (unsigned int)__builtin_ctz(stepped);
		const struct value *v = &s->value[r];

		if (is_stepped(v))
			b->steps |= 1u << r;
		else
			b->writes |= 1u << r;
		b->narrow |= (uint32_t)v->narrow << r;
	}
}

/* ---- regions ---- */

static bool leads_to(const struct steps *s, const struct block *b, const bool *set)
{
	const struct insn *last = &s->insn[b->last];

	for (int k = 0; k < last->nr_next; k++) {
		if (set[s->insn[last->next[k]].block])
			return true;
	}
	return false;
}

/*
 * Marks the blocks that the first instruction's block reaches without passing a block
 * that writes the register.
 */
static void go_forward(struct steps *s, uint32_t bit)
{
	bool more = true;

	memset(s->forward, 0, sizeof(s->forward));
	s->forward[s->insn[0].block] = true;
	while (more) {
		more = false;
		for (int b = 0; b < s->nr_blocks; b++) {
			const struct insn *last = &s->insn[s->block[b].last];

			for (int k = 0; s->forward[b] && k < last->nr_next; k++) {
				const int to = s->insn[last->next[k]].block;

				if (s->forward[to] || s->block[to].writes & bit)
					continue;
				s->forward[to] = true;
				more = true;
			}
		}
	}
}

/*
 * Marks the region of a register: the blocks that the first instruction reaches and
 * that lead back to it. Returns whether there is a region.
 */
static bool find_region(struct steps *s, uint32_t bit)
{
	const int start = s->insn[0].block;
	bool more = true;

	if (s->block[start].writes & bit)
		return false;
	go_forward(s, bit);
	memset(s->region, 0, sizeof(s->region));
	s->region[start] = true;
	while (more) {
		more = false;
		for (int b = s->nr_blocks - 1; b >= 0; b--) {
			if (s->region[b] || !s->forward[b] ||
			    !leads_to(s, &s->block[b], s->region))
				continue;
			s->region[b] = true;
			more = true;
		}
	}
	return leads_to(s, &s->block[start], s->region);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The constant with its sign; for a narrow value, the sign of its lower half. */
static int64_t constant(uint64_t add, bool narrow)
{
	return narrow ? (int32_t)(uint32_t)add : (int64_t)add;
}

/* Adds one change of a register to its step. */
static void add_change(struct step *out, uint64_t pc, int64_t change)
{
	const uint64_t size = change < 0 ? -(uint64_t)change : (uint64_t)change;

	if (!out->unit)
		out->at = pc;
	out->unit = common_divisor(size, out->unit);
	out->by += change;
}

/*
 * Fills at, by and unit of a register that a block steps. Returns whether all changes
 * have the same sign; only then does a block that ran in part count as less than one
 * run.
 */
static bool measure(struct steps *s, const struct block *b, struct step *out)
{
	uint64_t before = 0;
	bool up = false, down = false;
	const struct cpi_uop *u;

	begin_values(s);
	for (int at = b->first;; at = s->insn[at].next[0]) {
		int64_t change;

		for (uint32_t k = 0; (u = uop_of(&s->insn[at], k)); k++)
			execute(s, &s->insn[at], u);
		change = constant(s->value[out->reg].add - before, out->narrow);
		before = s->value[out->reg].add;
		up |= change > 0;
		down |= change < 0;
		if (change)
			add_change(out, s->insn[at].pc, change);
		if (at == b->last)
			return up != down;
	}
}

/* Whether an instruction of the region calls a small procedure that has pc. */
static bool calls_into(struct steps *s, uint64_t pc)
{
	for (int i = 0; i < s->nr_insns; i++) {
		struct leaf l;

		if (!s->insn[i].callee || !s->region[s->insn[i].block] ||
		    !look_into(s, s->insn[i].callee, &l))
			continue;
		for (int k = 0; k < l.nr; k++) {
			if (l.pc[k] == pc)
				return true;
		}
	}
	return false;
}

static enum step_place place_of(struct steps *s, uint64_t pc)
{
	const int *slot = find_slot(s, pc);

	if (*slot && s->region[s->insn[*slot - 1].block])
		return STEP_INSIDE;
	return calls_into(s, pc) ? STEP_BELOW : STEP_OUTSIDE;
}

/* Finds the block that has all steps of the register in the region, if one has. */
static bool find_step(struct steps *s, unsigned int reg, struct step *out)
{
	const uint32_t bit = 1u << reg;
	int found = -1;

	if (!find_region(s, bit))
		return false;
	*out = (struct step){ .reg = (uint8_t)reg };
	for (int b = 0; b < s->nr_blocks; b++) {
		if (!s->region[b])
			continue;
		out->narrow |= s->block[b].narrow & bit;
		out->calls |= s->block[b].calls;
		out->nr_blocks++;
		if (!(s->block[b].steps & bit))
			continue;
		if (found >= 0)
			return false;
		found = b;
	}
	if (found < 0)
		return false;
	out->block = found;
	return measure(s, &s->block[found], out);
}

uint32_t steps_find(struct steps *s, const struct steps_code *code, uint64_t at,
		    uint64_t first, uint64_t second, struct step out[STEPS_MAX])
{
	uint32_t stepped = 0, nr = 0;
	struct leaf leaf;

	s->code = code;
	s->leaf_budget = LEAF_BUDGET;
	if (first != at && !look_into(s, first, &leaf))
		return 0;
	explore(s, at);
	make_blocks(s);
	for (int b = 0; b < s->nr_blocks; b++) {
		evaluate(s, &s->block[b]);
		stepped |= s->block[b].steps;
	}
	for (unsigned int reg = 0; reg < STEPS_MAX; reg++) {
		if (!(stepped >> reg & 1) || !find_step(s, reg, &out[nr]))
			continue;
		out[nr].first = place_of(s, first);
		out[nr].second = place_of(s, second);
		nr++;
	}
	return nr;
}
