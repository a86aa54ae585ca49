/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64_operand.c - an instruction's fields as a micro-op's
 *
 * Registers have the machine's own numbers, except 31, which means two registers.
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

uint32_t a64_field(const struct a64 *x, unsigned int low, unsigned int width)
{
	return x->word >> low & ((1u << width) - 1);
}

int32_t a64_signed(const struct a64 *x, unsigned int low, unsigned int width)
{
	return (int32_t)(a64_field(x, low, width) << (32 - width)) >> (32 - width);
}

unsigned int a64_size(const struct a64 *x)
{
	return x->word >> 31 ? 3 : 2;
}

unsigned int a64_read(const struct a64 *x, unsigned int low)
{
	const unsigned int reg = a64_field(x, low, 5);

	return reg == A64_ZERO ? CPI_REG_ZERO : reg;
}

unsigned int a64_written(const struct a64 *x, unsigned int low)
{
	const unsigned int reg = a64_field(x, low, 5);

	return reg == A64_ZERO ? CPI_REG_NONE : reg;
}

unsigned int a64_or_sp(const struct a64 *x, unsigned int low)
{
	return a64_field(x, low, 5);
}

unsigned int a64_condition(struct a64 *x, unsigned int cond)
{
	/* eq cs mi vs hi ge gt, and what is not */
	static const uint8_t ours[] = { 4, 2, 8, 0, CPI_COND_HI, 13, 15 };
	const unsigned int kind = cond >> 1 & 7;

	if (kind == 7) {
		x->failed = true;
		return 0;
	}
	return ours[kind] ^ (cond & 1);
}

struct cpi_uop *a64_add(struct a64 *x, unsigned int op, unsigned int size)
{
	return translated_add(x->out, op, size, &x->failed);
}

struct cpi_uop *a64_compute(struct a64 *x, unsigned int op, unsigned int size,
			    unsigned int dst, unsigned int left, unsigned int src)
{
	struct cpi_uop *u = a64_add(x, op, size);

	u->dst = (uint8_t)dst;
	u->left = (uint8_t)left;
	u->src = (uint8_t)src;
	return u;
}

struct cpi_uop *a64_compute_imm(struct a64 *x, unsigned int op, unsigned int size,
				unsigned int dst, unsigned int left, int32_t imm)
{
	struct cpi_uop *u = a64_compute(x, op, size, dst, left, CPI_REG_ZERO);

	uop_src_imm(u, imm);
	return u;
}

void a64_extend(struct a64 *x, unsigned int op, unsigned int size, unsigned int dst,
		unsigned int src, unsigned int source)
{
	uop_src_size(a64_compute(x, op, size, dst, CPI_REG_ZERO, src), source);
}

void a64_constant(struct a64 *x, unsigned int dst, unsigned int size, uint64_t value)
{
	struct cpi_uop *u;

	if (size < 3 || value == (uint64_t)(int32_t)value) {
		a64_compute_imm(x, CPI_UOP_MOV, size, dst, CPI_REG_ZERO,
				(int32_t)value);
		return;
	}
	u = a64_add(x, CPI_UOP_CONST, 3);
	u->dst = (uint8_t)dst;
	u->disp = (int32_t)value;
	u->imm = (int32_t)(value >> 32);
}

void a64_address(struct a64 *x, unsigned int dst, unsigned int base, int32_t disp)
{
	struct cpi_uop *u = a64_add(x, CPI_UOP_LEA, 3);

	u->dst = (uint8_t)dst;
	u->disp = disp;
	uop_base(u, base);
}

void a64_merge(struct a64 *x, unsigned int dst, unsigned int size, unsigned int src,
	       uint64_t mask)
{
	a64_constant(x, A64_TEMP, 3, mask);
	a64_compute(x, CPI_UOP_VTERNARY, size, dst, A64_TEMP, src)->imm = A64_A_THEN_B;
}

unsigned int a64_lane(const struct a64 *x, unsigned int low, unsigned int lane)
{
	return CPI_REG_LANE(a64_field(x, low, 5), lane);
}

void a64_insert(struct a64 *x, unsigned int v, unsigned int element, unsigned int size)
{
	const unsigned int at = element << size, shift = 8 * (at & 7);
	const unsigned int lane = CPI_REG_LANE(v, at >> 3);

	if (size == 3) {
		a64_compute(x, CPI_UOP_MOV, 3, lane, CPI_REG_ZERO, A64_TEMP + 2);
		return;
	}
	a64_compute_imm(x, CPI_UOP_SHL, 3, A64_TEMP + 2, A64_TEMP + 2, (int32_t)shift);
	a64_merge(x, lane, 3, A64_TEMP + 2, ((1ULL << (8u << size)) - 1) << shift);
}

void a64_forget_vector(struct a64 *x, unsigned int v)
{
	a64_forget(x, CPI_REG_LANE(v, 0));
	a64_forget(x, CPI_REG_LANE(v, 1));
}
