/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64_memory.c - loads and stores
 *
 * Loads and stores of one register, of pairs and of vectors; atomic ones as if no other
 * CPU existed. The third temporary register holds addresses. An instruction that writes
 * its base back and also loads it is unpredictable, so its translation fails.
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

#define INDEX (A64_TEMP + 2)

/* What an instruction moves, and where. */
struct access {
	bool load;
	bool vector;
	bool sign;         /* a load extends the sign */
	unsigned int size; /* log2 of the bytes in memory; 4 for a whole vector */
	unsigned int to;   /* log2 of the bytes to which sign extends */
	unsigned int base, index, scale;
	int32_t disp;
};

static void set_address(struct cpi_uop *u, const struct access *a, int32_t offset)
{
	uop_base(u, a->base);
	uop_index(u, a->index, a->scale);
	u->disp = a->disp + offset;
}

/* A load of 1 << size bytes to dst, or a store of src. */
static void load(struct a64 *x, const struct access *a, unsigned int dst,
		 unsigned int size, int32_t offset)
{
	struct cpi_uop *u =
		a64_add(x, a->sign ? CPI_UOP_SEXT : CPI_UOP_MOV, a->sign ? a->to : 3);

	u->dst = (uint8_t)dst;
	u->flags |= CPI_UOP_SRC_MEM;
	uop_src_size(u, size);
	set_address(u, a, offset);
}

static void store(struct a64 *x, const struct access *a, unsigned int src,
		  unsigned int size, int32_t offset)
{
	struct cpi_uop *u = a64_add(x, CPI_UOP_MOV, size);

	u->src = (uint8_t)src;
	u->flags |= CPI_UOP_STORE;
	set_address(u, a, offset);
}

static void move_vector(struct a64 *x, const struct access *a, unsigned int v,
			int32_t offset)
{
	const unsigned int size = a->size > 3 ? 3 : a->size;

	for (unsigned int i = 0; i <= a->size / 4; i++) {
		const unsigned int lane = CPI_REG_LANE(v, i);

		if (a->load)
			load(x, a, lane, size, offset + 8 * (int32_t)i);
		else
			store(x, a, lane, size, offset + 8 * (int32_t)i);
	}
	if (a->load && a->size < 4)
		x->out->uop[x->out->nr - 1].flags |= CPI_UOP_ZERO_NEXT;
}

/* Moves the register in the field of five bits at low. */
static void move(struct a64 *x, const struct access *a, unsigned int low,
		 int32_t offset)
{
	if (a->vector)
		move_vector(x, a, a64_field(x, low, 5), offset);
	else if (a->load)
		load(x, a, a64_written(x, low), a->size, offset);
	else
		store(x, a, a64_read(x, low), a->size, offset);
}

/* Whether the integer register in that field is the base. */
static bool is_base(const struct a64 *x, const struct access *a, unsigned int low)
{
	return !a->vector && a64_field(x, low, 5) == a->base && a->base != A64_ZERO;
}

/* What field rn says, without an index. */
static struct access access_of_base(const struct a64 *x)
{
	return (struct access){ .base = a64_or_sp(x, 5), .index = CPI_REG_ZERO };
}

/* Of one register. Returns false where there is nothing to do: it is a prefetch. */
static bool decode_single(struct a64 *x, struct access *a)
{
	const unsigned int size = a64_field(x, 30, 2), opc = a64_field(x, 22, 2);

	*a = access_of_base(x);
	a->size = size;
	a->vector = a64_field(x, 26, 1);
	a->load = opc;
	if (a->vector) {
		a->size |= opc >> 1 << 2;
		a->load = opc & 1;
		if (a->size > 4)
			x->failed = true;
	} else if (opc > 1) {
		a->sign = true;
		a->to = opc == 2 ? 3 : 2;
		if (size == 3 && opc == 2)
			return false;
		if (size >= a->to)
			x->failed = true;
	}
	return true;
}

void a64_single_imm(struct a64 *x, unsigned int arg)
{
	struct access a;

	if (!decode_single(x, &a)) {
		a64_nop(x, 0);
		return;
	}
	a.disp = (int32_t)(a64_field(x, 10, 12) << a.size);
	move(x, &a, 0, 0);
}

void a64_single_unscaled(struct a64 *x, unsigned int arg)
{
	struct access a;

	if (!decode_single(x, &a)) {
		a64_nop(x, 0);
		return;
	}
	a.disp = a64_signed(x, 12, 9);
	move(x, &a, 0, 0);
}

/* arg: whether the base changes before the access */
void a64_single_indexed(struct a64 *x, unsigned int arg)
{
	const int32_t imm = a64_signed(x, 12, 9);
	struct access a;

	if (!decode_single(x, &a) || is_base(x, &a, 0))
		x->failed = true;
	a.disp = arg ? imm : 0;
	move(x, &a, 0, 0);
	a64_address(x, a.base, a.base, imm);
}

/* The index of option, extended and scaled. */
static void set_index(struct a64 *x, struct access *a)
{
	const unsigned int option = a64_field(x, 13, 3);
	const unsigned int scale = a64_field(x, 12, 1) ? a->size : 0;

	if (!(option & 2))
		x->failed = true;
	a->index = a64_read(x, 16);
	if (!(option & 1)) {
		a64_extend(x, option & 4 ? CPI_UOP_SEXT : CPI_UOP_MOV, 3, INDEX,
			   a->index, 2);
		a->index = INDEX;
	}
	a->scale = scale;
	if (scale > 3) {
		a64_compute_imm(x, CPI_UOP_SHL, 3, INDEX, a->index, (int32_t)scale);
		a->index = INDEX;
		a->scale = 0;
	}
}

void a64_single_register(struct a64 *x, unsigned int arg)
{
	struct access a;

	if (!decode_single(x, &a)) {
		a64_nop(x, 0);
		return;
	}
	set_index(x, &a);
	move(x, &a, 0, 0);
}

static void decode_pair(struct a64 *x, struct access *a)
{
	const unsigned int opc = a64_field(x, 30, 2);

	*a = access_of_base(x);
	a->load = a64_field(x, 22, 1);
	a->vector = a64_field(x, 26, 1);
	a->size = a->vector ? 2 + opc : opc == 2 ? 3 : 2;
	if (opc == 3 || (!a->vector && opc == 1 && !a->load))
		x->failed = true;
	if (!a->vector && opc == 1) {
		a->sign = true;
		a->to = 3;
	}
	if (a->load && a64_field(x, 0, 5) == a64_field(x, 10, 5))
		x->failed = true;
}

/* Both registers; a base that is loaded is loaded last. */
static void move_pair(struct a64 *x, const struct access *a)
{
	const int32_t bytes = 1 << a->size;

	if (a->load && is_base(x, a, 0)) {
		move(x, a, 10, bytes);
		move(x, a, 0, 0);
	} else {
		move(x, a, 0, 0);
		move(x, a, 10, bytes);
	}
}

/* Bits 23 and 24: 1 is behind, 3 before the access, else the base stays. */
void a64_pair(struct a64 *x, unsigned int arg)
{
	const unsigned int index = a64_field(x, 23, 2);
	struct access a;
	int32_t imm;

	decode_pair(x, &a);
	imm = a64_signed(x, 15, 7) * (1 << a.size);
	a.disp = index == 1 ? 0 : imm;
	move_pair(x, &a);
	if (!(index & 1))
		return;
	if (is_base(x, &a, 0) || is_base(x, &a, 10))
		x->failed = true;
	a64_address(x, a.base, a.base, imm);
}

void a64_literal(struct a64 *x, unsigned int arg)
{
	const unsigned int opc = a64_field(x, 30, 2);
	struct access a = { .load = true,
			    .vector = a64_field(x, 26, 1),
			    .base = CPI_REG_PC,
			    .index = CPI_REG_ZERO,
			    .disp = a64_signed(x, 5, 19) * 4 };

	a.size = a.vector ? 2 + opc : opc == 1 ? 3 : 2;
	if (opc == 3 && !a.vector) { /* a prefetch */
		a64_nop(x, 0);
		return;
	}
	if (opc == 3)
		x->failed = true;
	a.sign = opc == 2 && !a.vector;
	a.to = 3;
	move(x, &a, 0, 0);
}

/* Without an offset: with an order, or exclusive. arg: whether it is always a load */
void a64_ordered(struct a64 *x, unsigned int arg)
{
	struct access a = access_of_base(x);

	a.size = a64_field(x, 30, 2);
	a.load = arg || a64_field(x, 22, 1);
	move(x, &a, 0, 0);
}

void a64_load_pair(struct a64 *x, unsigned int arg)
{
	struct access a = access_of_base(x);

	a.size = a64_field(x, 30, 1) ? 3 : 2;
	a.load = true;
	if (a64_field(x, 0, 5) == a64_field(x, 10, 5))
		x->failed = true;
	move_pair(x, &a);
}

/* The first temporary is what was there. */
static struct access begin_atomic(struct a64 *x)
{
	struct access a = access_of_base(x);

	a.size = a64_field(x, 30, 2);
	load(x, &a, A64_TEMP, a.size, 0);
	return a;
}

static void end_atomic(struct a64 *x, unsigned int low)
{
	a64_compute(x, CPI_UOP_MOV, 3, a64_written(x, low), CPI_REG_ZERO, A64_TEMP);
}

/* arg: what is done; NOP is what we cannot do */
void a64_atomic(struct a64 *x, unsigned int arg)
{
	const struct access a = begin_atomic(x);
	const unsigned int operand = a64_read(x, 16);
	struct cpi_uop *u;

	if (arg == CPI_UOP_NOP) {
		store(x, &a, CPI_REG_UNKNOWN, a.size, 0);
	} else {
		u = a64_compute(x, arg, a.size, CPI_REG_NONE,
				arg == CPI_UOP_ANDN ? operand : A64_TEMP,
				arg == CPI_UOP_ANDN ? A64_TEMP : operand);
		u->flags |= CPI_UOP_STORE;
		set_address(u, &a, 0);
	}
	end_atomic(x, 0);
}

void a64_swap(struct a64 *x, unsigned int arg)
{
	const struct access a = begin_atomic(x);

	store(x, &a, a64_read(x, 16), a.size, 0);
	end_atomic(x, 0);
}

/* If the memory does not have the expected value, stores the old value again. */
void a64_compare_swap(struct a64 *x, unsigned int arg)
{
	const unsigned int expected = A64_TEMP + 1;
	const struct access a = begin_atomic(x);

	a64_extend(x, CPI_UOP_MOV, 3, expected, a64_read(x, 16), a.size);
	a64_compute(x, CPI_UOP_VCMPEQ, 3, expected, A64_TEMP, expected)->imm = 3;
	a64_compute(x, CPI_UOP_VTERNARY, 3, expected, a64_read(x, 0), A64_TEMP)->imm =
		A64_C_THEN_A;
	store(x, &a, expected, a.size, 0);
	end_atomic(x, 16);
}

/* Structures write their base back by their size or by a register. */
static void change_base(struct a64 *x, int32_t bytes)
{
	const unsigned int base = a64_or_sp(x, 5), by = a64_field(x, 16, 5);

	if (!a64_field(x, 23, 1))
		return;
	if (by == A64_ZERO)
		a64_address(x, base, base, bytes);
	else
		a64_compute(x, CPI_UOP_ADD, 3, base, base, by);
}

/* Whole registers whose elements take turns in memory: what is where is not followed.
 */
static void interleave(struct a64 *x, const struct access *a, unsigned int nr)
{
	const unsigned int first = a64_field(x, 0, 5);

	for (unsigned int i = 0; i < nr; i++) {
		if (a->load)
			a64_forget_vector(x, (first + i) % 32);
		for (unsigned int half = 0; !a->load && half <= a->size / 4; half++)
			store(x, a, CPI_REG_UNKNOWN, 3,
			      (int32_t)(i << a->size | half << 3));
	}
}

/* ld1 to ld4 and st1 to st4, of several whole registers. */
void a64_structures(struct a64 *x, unsigned int arg)
{
	/* By opcode: registers, and whether their elements are in a row. */
	static const struct {
		uint8_t nr;
		bool in_a_row;
	} forms[16] = { [0] = { 4, false }, [2] = { 4, true }, [4] = { 3, false },
			[6] = { 3, true },  [7] = { 1, true }, [8] = { 2, false },
			[10] = { 2, true } };
	const unsigned int opcode = a64_field(x, 12, 4), nr = forms[opcode].nr;
	const unsigned int first = a64_field(x, 0, 5);
	struct access a = access_of_base(x);

	a.load = a64_field(x, 22, 1);
	a.vector = true;
	a.size = a64_field(x, 30, 1) ? 4 : 3;
	if (!nr)
		x->failed = true;
	if (forms[opcode].in_a_row) {
		for (unsigned int i = 0; i < nr; i++)
			move_vector(x, &a, (first + i) % 32, (int32_t)(i << a.size));
	} else {
		interleave(x, &a, nr);
	}
	change_base(x, (int32_t)(nr << a.size));
}

/* One element of v. */
static void move_element(struct a64 *x, const struct access *a, unsigned int v,
			 unsigned int element, int32_t offset)
{
	const unsigned int at = element << a->size;

	if (a->load) {
		load(x, a, A64_TEMP + 2, a->size, offset);
		a64_insert(x, v, element, a->size);
		return;
	}
	a64_compute_imm(x, CPI_UOP_SHR, 3, A64_TEMP, CPI_REG_LANE(v, at >> 3),
			(int32_t)(8 * (at & 7)));
	store(x, a, A64_TEMP, a->size, offset);
}

/* ld1r: the same in all of them. */
static void duplicate(struct a64 *x, const struct access *a, unsigned int v,
		      int32_t offset)
{
	const bool whole = a64_field(x, 30, 1);

	load(x, a, A64_TEMP, a->size, offset);
	for (unsigned int lane = 0; lane <= whole; lane++)
		a64_extend(x, CPI_UOP_VDUP, 3, CPI_REG_LANE(v, lane), A64_TEMP,
			   a->size);
	if (!whole)
		x->out->uop[x->out->nr - 1].flags |= CPI_UOP_ZERO_NEXT;
}

/* ld1 to ld4 and st1 to st4, of one element of each register. */
void a64_structure(struct a64 *x, unsigned int arg)
{
	const unsigned int scale = a64_field(x, 14, 2);
	const unsigned int nr = (a64_field(x, 13, 1) << 1 | a64_field(x, 21, 1)) + 1;
	const unsigned int q = a64_field(x, 30, 1), s = a64_field(x, 12, 1);
	const unsigned int size = a64_field(x, 10, 2), first = a64_field(x, 0, 5);
	unsigned int element = q << 3 | s << 2 | size;
	struct access a = access_of_base(x);

	a.load = a64_field(x, 22, 1);
	a.size = scale;
	if (scale == 3) {
		a.size = size;
		if (!a.load || s)
			x->failed = true;
	} else if (scale == 2 && size & 1) {
		a.size = 3;
		if (size & 2 || s)
			x->failed = true;
	} else if (size & ((1u << scale) - 1)) {
		x->failed = true;
	}
	element >>= a.size;
	for (unsigned int i = 0; i < nr; i++) {
		const int32_t offset = (int32_t)(i << a.size);

		if (scale == 3)
			duplicate(x, &a, (first + i) % 32, offset);
		else
			move_element(x, &a, (first + i) % 32, element, offset);
	}
	change_base(x, (int32_t)(nr << a.size));
}
