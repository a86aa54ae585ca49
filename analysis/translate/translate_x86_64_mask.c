/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64_mask.c - AVX-512's mask registers, and compares into them
 */
#include "config.h"

#include "analysis/translate/translate_x86_64.h"

/* A mask register as an operand of integers' micro-ops; others fail. */
static unsigned int mask_of(struct x86 *x, const ZydisDecodedOperand *o)
{
	int reg = x86_mask(o);

	if (reg < 0)
		x->failed = true;
	return (unsigned int)reg & 0xff;
}

/* Ops on masks clear what is above: all is done with 8 bytes. */
static void add_zero_extend(struct x86 *x, unsigned int reg, unsigned int size)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, 3);

	u->dst = (uint8_t)reg;
	u->src = (uint8_t)reg;
	uop_src_size(u, size);
}

/* Between masks, general registers and memory; arg: log2 of the size. */
void x86_kmov(struct x86 *x, unsigned int op, unsigned int arg)
{
	const bool stores = x86_is_memory(x->op[0]);
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, stores ? arg : 3);
	int reg;

	reg = x86_mask(x->op[1]);
	if (reg >= 0)
		u->src = (uint8_t)reg;
	else
		x86_src(x, u, x->op[1]);
	uop_src_size(u, arg);
	reg = x86_mask(x->op[0]);
	if (reg >= 0)
		u->dst = (uint8_t)reg;
	else
		x86_dst(x, u, x->op[0]);
}

/* arg: log2 of the size */
void x86_kbinary(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	u->dst = (uint8_t)mask_of(x, x->op[0]);
	u->left = (uint8_t)mask_of(x, x->op[1]);
	u->src = (uint8_t)mask_of(x, x->op[2]);
	if (op == CPI_UOP_XOR && u->left == u->src)
		u->left = u->src = CPI_REG_ZERO;
	add_zero_extend(x, u->dst, arg);
}

void x86_knot(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	u->dst = (uint8_t)mask_of(x, x->op[0]);
	u->left = (uint8_t)mask_of(x, x->op[1]);
	add_zero_extend(x, u->dst, arg);
}

void x86_kshift(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int count = x->op[2]->imm.value.u & 0xff;
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, 3);
	unsigned int dst = mask_of(x, x->op[0]);

	u->dst = (uint8_t)dst;
	if (count >= 8u << arg)
		return;
	u->src = (uint8_t)mask_of(x, x->op[1]);
	uop_src_size(u, arg);
	u = x86_add(x, op, 3);
	u->dst = (uint8_t)dst;
	u->left = (uint8_t)dst;
	uop_src_imm(u, (int32_t)count);
	add_zero_extend(x, dst, arg);
}

void x86_ktest(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, arg);

	u->flags |= CPI_UOP_FLAGS;
	u->left = (uint8_t)mask_of(x, x->op[0]);
	u->src = (uint8_t)mask_of(x, x->op[1]);
}

/* The first source's lower half above the second's; arg: log2 of a half's size. */
void x86_kunpack(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u;

	u = x86_add(x, CPI_UOP_SHL, 3);
	u->dst = CPI_REG_TEMP;
	u->left = (uint8_t)mask_of(x, x->op[1]);
	uop_src_imm(u, 8 << arg);
	u = x86_add(x, CPI_UOP_MOV, 3);
	u->dst = CPI_REG_TEMP + 1;
	u->src = (uint8_t)mask_of(x, x->op[2]);
	uop_src_size(u, arg);
	u = x86_add(x, CPI_UOP_OR, 3);
	u->dst = (uint8_t)mask_of(x, x->op[0]);
	u->left = CPI_REG_TEMP;
	u->src = CPI_REG_TEMP + 1;
	add_zero_extend(x, u->dst, arg + 1);
}

/*
 * The first lane's result clears the rest of the destination. If that is also the
 * masking register, the result is made in a temporary register.
 */
static void compare(struct x86 *x, unsigned int what, unsigned int size)
{
	const unsigned int lanes = x->op[1]->size / 64, dst = mask_of(x, x->op[0]);
	struct cpi_uop *u;

	if (lanes > 4 ||
	    (x86_is_memory(x->op[2]) && x->op[2]->size != x->op[1]->size)) {
		x86_unknown(x, 0, 0);
		return;
	}
	for (unsigned int lane = 0; lane < lanes; lane++) {
		u = x86_add(x, CPI_UOP_KCMP, 3);
		u->dst = (uint8_t)(x->mask == dst ? CPI_REG_TEMP : dst);
		u->imm = (int32_t)CPI_MASK_IMM(lane * 8 >> size, size, what, x->mask);
		x86_lane_left(x, u, x->op[1], lane);
		x86_lane_src(x, u, x->op[2], lane);
	}
	if (x->mask != dst)
		return;
	u = x86_add(x, CPI_UOP_MOV, 3);
	u->dst = (uint8_t)dst;
	u->src = CPI_REG_TEMP;
}

/* op: enum cpi_kcmp, arg: log2 of the element's size */
void x86_kcompare(struct x86 *x, unsigned int op, unsigned int arg)
{
	compare(x, op, arg);
}

/* The same, with a predicate in the instruction. */
void x86_kcompare_imm(struct x86 *x, unsigned int op, unsigned int arg)
{
	compare(x, op | (x->op[3]->imm.value.u & 7), arg);
}

/* pcmpeq and pcmpgt: AVX-512's answer is a mask. */
void x86_vcompare(struct x86 *x, unsigned int op, unsigned int arg)
{
	if (x86_mask(x->op[0]) < 0)
		x86_vbinary(x, op, arg);
	else
		compare(x, op == CPI_UOP_VCMPEQ ? CPI_KCMP_EQ : CPI_KCMP_GT, arg);
}
