/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64_control.c - jumps, calls, and what ends a window
 */
#include "config.h"

#include "analysis/translate/translate_x86_64.h"

/*
 * Fails for far jumps, because segments are not known, and for jumps with prefix 66:
 * AMD's processors cut their target to 16 bits, Intel's ignore the prefix.
 */
static void check_near(struct x86 *x)
{
	if (x->in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	    (x->in->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && !x->in->raw.rex.W))
		x->failed = true;
}

/* A direct target, from the instruction's own address. */
static void direct(struct x86 *x, struct cpi_uop *u)
{
	int64_t disp = x->op[0]->imm.value.s + x->in->length;

	check_near(x);
	if (disp != (int32_t)disp || x->in->operand_width == 16)
		x->failed = true;
	u->address = 0;
	u->disp = (int32_t)disp;
}

static bool is_direct(const struct x86 *x)
{
	return x->op[0]->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* An indirect target. */
static void indirect(struct x86 *x, struct cpi_uop *u)
{
	check_near(x);
	if (x->op[0]->size != 64)
		x->failed = true;
	x86_src(x, u, x->op[0]);
}

void x86_jmp(struct x86 *x, unsigned int op, unsigned int arg)
{
	x->out->ends = true;
	if (is_direct(x))
		direct(x, x86_add(x, CPI_UOP_JMP, 3));
	else
		indirect(x, x86_add(x, CPI_UOP_JMPI, 3));
}

void x86_jcc(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	u->imm = (int32_t)arg;
	direct(x, u);
}

/* arg: log2 of the counter's size */
void x86_jcxz(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	u->src = X86_RCX;
	uop_src_size(u, arg);
	direct(x, u);
}

/* loop alone: loope and loopne depend on a flag, too. */
void x86_loop(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_DEC, 3);

	if (x->in->address_width != 64)
		x->failed = true;
	u->dst = X86_RCX;
	u->left = X86_RCX;
	x86_jcxz(x, CPI_UOP_JNZ, 3);
}

void x86_call(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, is_direct(x) ? CPI_UOP_CALL : CPI_UOP_CALLI, 3);

	u->flags |= CPI_UOP_STORE;
	if (is_direct(x))
		direct(x, u);
	else
		indirect(x, u);
}

void x86_ret(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	check_near(x);
	if (x->in->operand_width != 64)
		x->failed = true;
	x->out->ends = true;
	u->flags |= CPI_UOP_SRC_MEM;
	uop_base(u, X86_RSP);
	if (x->nr)
		u->imm = (int32_t)x->op[0]->imm.value.u;
}

void x86_stop(struct x86 *x, unsigned int op, unsigned int arg)
{
	x86_add(x, CPI_UOP_STOP, 3)->imm = (int32_t)arg;
}

/* With REX.B, pause exchanges rax and r8, on AMD's processors at least. */
void x86_pause(struct x86 *x, unsigned int op, unsigned int arg)
{
	if (x->in->raw.rex.B)
		x->failed = x->refused = true;
	x86_nop(x, op, arg);
}

void x86_nop(struct x86 *x, unsigned int op, unsigned int arg)
{
	x86_add(x, CPI_UOP_NOP, 3);
}
