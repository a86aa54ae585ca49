/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64_integer.c - arithmetic on integers and bits
 */
#include "config.h"

#include "analysis/translate/translate_x86_64.h"

/* The first operand is both a and the result. */
static struct cpi_uop *add_updating(struct x86 *x, unsigned int op)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	u->flags |= CPI_UOP_FLAGS;
	x86_left(x, u, x->op[0]);
	x86_dst(x, u, x->op[0]);
	return u;
}

/* What a register does to itself does not depend on its value. */
static bool cancels(const struct x86 *x, unsigned int op)
{
	return (op == CPI_UOP_XOR || op == CPI_UOP_SUB || op == CPI_UOP_SBB) &&
	       x86_same_register(x->op[0], x->op[1]);
}

void x86_binary(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = add_updating(x, op);

	if (cancels(x, op))
		u->left = CPI_REG_ZERO;
	else
		x86_src(x, u, x->op[1]);
}

void x86_compare(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	u->flags |= CPI_UOP_FLAGS;
	if (cancels(x, op))
		return;
	x86_left(x, u, x->op[0]);
	x86_src(x, u, x->op[1]);
}

/* not leaves the flags alone. */
void x86_unary(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = add_updating(x, op);

	if (op == CPI_UOP_NOT)
		u->flags &= (uint16_t)~CPI_UOP_FLAGS;
}

void x86_shift(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = add_updating(x, op);

	if (x->nr < 2) {
		uop_src_imm(u, 1);
		return;
	}
	/* Memory is loaded with the source's size, so cl is read with the op's size. */
	x86_src(x, u, x->op[1]);
	uop_src_size(u, cpi_uop_size(u));
}

/* shlx, shrx, sarx, rorx: no flags, a count apart. */
void x86_shift_three(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	x86_left(x, u, x->op[1]);
	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[2]);
}

void x86_shift_double(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u;

	if (x86_is_memory(x->op[0]) || x86_size(x, x->op[0]) < 2) {
		x86_unknown(x, op, arg);
		return;
	}
	u = add_updating(x, op);
	x86_src(x, u, x->op[1]);
	if (x->op[2]->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		u->imm = (int32_t)x->op[2]->imm.value.u;
	else
		uop_base(u, X86_RCX);
}

/* A register as the bit's number reaches beyond a memory operand. */
void x86_bit_test(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = add_updating(x, op);

	if (x86_is_memory(x->op[0]) && x86_is_register(x->op[1]))
		x->failed = x->refused = true;
	x86_src(x, u, x->op[1]);
	if (op != CPI_UOP_BT)
		return;
	u->flags &= (uint16_t)~CPI_UOP_STORE;
	u->dst = CPI_REG_NONE;
}

/* If no bit is set, bsf and bsr leave the whole register as it was, or undefined. */
void x86_scan(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);
	const bool keeps = op == CPI_UOP_BSF || op == CPI_UOP_BSR;
	struct cpi_uop *u = x86_add(x, op, keeps && size == 2 ? 3 : size);

	u->flags |= CPI_UOP_FLAGS;
	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[1]);
}

/* bzhi, andn */
void x86_three(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	u->flags |= CPI_UOP_FLAGS;
	x86_dst(x, u, x->op[0]);
	x86_left(x, u, x->op[1]);
	x86_src(x, u, x->op[2]);
}

void x86_swap(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	if (x->op[0]->size < 32)
		x->failed = true; /* undefined */
	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[0]);
}

/* Swaps on its way from or to memory. */
void x86_movbe(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);
	struct cpi_uop *u;

	u = x86_add(x, CPI_UOP_BSWAP, size);
	u->dst = CPI_REG_TEMP;
	x86_src(x, u, x->op[1]);
	u = x86_add(x, CPI_UOP_MOV, size);
	u->src = CPI_REG_TEMP;
	x86_dst(x, u, x->op[0]);
}

/* imul of one operand is x86_multiply_wide()'s. */
void x86_multiply(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u;

	if (x->nr == 1) {
		x86_multiply_wide(x, CPI_UOP_MULHS, arg);
		return;
	}
	u = x86_add(x, op, x86_size(x, x->op[0]));
	u->flags |= CPI_UOP_FLAGS;
	x86_dst(x, u, x->op[0]);
	x86_left(x, u, x->op[x->nr - 2]);
	x86_src(x, u, x->op[x->nr - 1]);
}

/* The operand, where it stays while rax and rdx change. */
static void copy_operand(struct x86 *x, unsigned int size)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, size);

	u->dst = CPI_REG_TEMP;
	x86_src(x, u, x->op[0]);
}

/* dst = rax op the copied operand */
static struct cpi_uop *add_on_rax(struct x86 *x, unsigned int op, unsigned int size,
				  unsigned int dst)
{
	struct cpi_uop *u = x86_add(x, op, size);

	u->dst = (uint8_t)dst;
	u->left = X86_RAX;
	u->src = CPI_REG_TEMP;
	return u;
}

static void move(struct x86 *x, unsigned int size, unsigned int dst, unsigned int src)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, size);

	u->dst = (uint8_t)dst;
	u->src = (uint8_t)src;
}

/* mul and imul to rdx:rax; op gives the upper half. */
void x86_multiply_wide(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);

	if (size < 1) {
		x86_unknown(x, op, arg);
		return;
	}
	copy_operand(x, size);
	add_on_rax(x, op, size, CPI_REG_TEMP + 1)->flags |= CPI_UOP_FLAGS;
	add_on_rax(x, CPI_UOP_MUL, size, X86_RAX);
	move(x, size, X86_RDX, CPI_REG_TEMP + 1);
}

/* op gives the quotient, arg the rest. */
void x86_divide(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);
	struct cpi_uop *u;

	if (size < 2) {
		x86_unknown(x, op, arg);
		return;
	}
	copy_operand(x, size);
	u = add_on_rax(x, op, size, CPI_REG_TEMP + 1);
	u->flags |= CPI_UOP_FLAGS;
	uop_base(u, X86_RDX);
	uop_base(add_on_rax(x, arg, size, X86_RDX), X86_RDX);
	move(x, size, X86_RAX, CPI_REG_TEMP + 1);
}
