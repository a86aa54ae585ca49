/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64_move.c - instructions that move integers: registers, stack, strings
 */
#include "config.h"

#include "analysis/translate/translate_x86_64.h"

static struct cpi_uop *move(struct x86 *x, unsigned int size, unsigned int dst,
			    unsigned int src)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, size);

	u->dst = (uint8_t)dst;
	u->src = (uint8_t)src;
	return u;
}

/*
 * Whether the instruction has room for a constant of 64 bits. Small ones count, too, so
 * that the micro-op depends on the form alone (abi/form.h).
 */
static bool is_wide(const struct x86 *x)
{
	return x->op[1]->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       x->in->raw.imm[0].size == 64;
}

void x86_mov(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	x86_dst(x, u, x->op[0]);
	if (is_wide(x)) {
		u->op = CPI_UOP_CONST;
		u->disp = (int32_t)x->op[1]->imm.value.u;
		u->imm = (int32_t)(x->op[1]->imm.value.u >> 32);
		return;
	}
	x86_src(x, u, x->op[1]);
}

/* movzx, movsx, movsxd: the source is smaller. */
void x86_extend(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[1]);
}

void x86_lea(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	x86_dst(x, u, x->op[0]);
	x86_memory(x, u, x->op[1], 0);
}

/* cbw, cwde, cdqe; arg: log2 of the new size */
void x86_extend_rax(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, arg);

	u->dst = X86_RAX;
	u->src = X86_RAX;
	uop_src_size(u, arg - 1);
}

/* cwd, cdq, cqo; arg: log2 of the size */
void x86_sign_rax(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_SAR, arg);

	u->dst = X86_RDX;
	u->left = X86_RAX;
	uop_src_imm(u, (8 << arg) - 1);
}

/* The first operand's old value. */
static void save_first(struct x86 *x, unsigned int size)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, size);

	u->dst = CPI_REG_TEMP;
	x86_src(x, u, x->op[0]);
}

/* operand = the saved value */
static void restore(struct x86 *x, const ZydisDecodedOperand *o, unsigned int size)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, size);

	u->src = CPI_REG_TEMP;
	x86_dst(x, u, o);
}

void x86_xchg(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);
	struct cpi_uop *u;

	save_first(x, size);
	u = x86_add(x, CPI_UOP_MOV, size);
	if (x86_is_memory(x->op[1]))
		x->failed = true; /* its address may depend on the register */
	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[1]);
	restore(x, x->op[1], size);
}

/*
 * If both operands are the same register, the sum is what stays; if the second is in
 * the first's address, the sum is stored before it changes.
 */
void x86_xadd(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);
	struct cpi_uop *u;

	save_first(x, size);
	u = x86_add(x, CPI_UOP_ADD, size);
	u->flags |= CPI_UOP_FLAGS;
	u->left = CPI_REG_TEMP;
	u->dst = CPI_REG_TEMP + 1;
	x86_src(x, u, x->op[1]);
	if (!x86_is_memory(x->op[0]))
		restore(x, x->op[1], size);
	u = x86_add(x, CPI_UOP_MOV, size);
	u->src = CPI_REG_TEMP + 1;
	x86_dst(x, u, x->op[0]);
	if (x86_is_memory(x->op[0]))
		restore(x, x->op[1], size);
}

/*
 * The flags of rax - operand; operand = equal ? source : operand; rax = equal ? rax :
 * operand. What keeps its value keeps all of it: 4 bytes do not clear the upper half.
 */
void x86_cmpxchg(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int size = x86_size(x, x->op[0]);
	const unsigned int whole = size == 2 ? 3 : size;
	struct cpi_uop *u;

	save_first(x, size);
	u = x86_add(x, CPI_UOP_SUB, size);
	u->flags |= CPI_UOP_FLAGS;
	u->left = X86_RAX;
	u->src = CPI_REG_TEMP;
	if (x86_is_memory(x->op[0])) {
		u = x86_add(x, CPI_UOP_CMOV, size);
		u->left = CPI_REG_TEMP;
	} else {
		u = x86_add(x, CPI_UOP_CMOV, whole);
		x86_left(x, u, x->op[0]);
	}
	u->imm = X86_EQUAL;
	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[1]);
	u = x86_add(x, CPI_UOP_CMOV, whole);
	u->dst = X86_RAX;
	u->left = X86_RAX;
	u->src = CPI_REG_TEMP;
	u->imm = X86_EQUAL ^ 1;
}

void x86_setcc(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 0);

	u->imm = (int32_t)arg;
	x86_dst(x, u, x->op[0]);
}

void x86_cmov(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, x86_size(x, x->op[0]));

	u->imm = (int32_t)arg;
	x86_left(x, u, x->op[0]);
	x86_dst(x, u, x->op[0]);
	x86_src(x, u, x->op[1]);
}

void x86_push(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	if (x->in->operand_width != 64)
		x->failed = true;
	u->flags |= CPI_UOP_STORE;
	x86_src(x, u, x->op[0]);
	uop_src_size(u, 3);
}

static struct cpi_uop *pop(struct x86 *x, unsigned int dst)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_POP, 3);

	u->dst = (uint8_t)dst;
	u->flags |= CPI_UOP_SRC_MEM;
	uop_base(u, X86_RSP);
	return u;
}

/* An address with rsp in it is the one after the pop. */
void x86_pop(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u;
	bool high;

	if (x->in->operand_width != 64)
		x->failed = true;
	if (!x86_is_memory(x->op[0])) {
		if (x86_gpr(x->op[0], &high) < 0)
			x->failed = true; /* a segment register */
		pop(x, (unsigned int)x86_gpr(x->op[0], &high));
		return;
	}
	pop(x, CPI_REG_TEMP);
	u = x86_add(x, CPI_UOP_MOV, 3);
	u->src = CPI_REG_TEMP;
	x86_dst(x, u, x->op[0]);
}

void x86_leave(struct x86 *x, unsigned int op, unsigned int arg)
{
	if (x->in->operand_width != 64)
		x->failed = true;
	move(x, 3, X86_RSP, X86_RBP);
	pop(x, X86_RBP);
}

/* arg: which, or 0 for all */
void x86_unflag(struct x86 *x, unsigned int op, unsigned int arg)
{
	x86_add(x, CPI_UOP_UNFLAG, 3)->imm = (int32_t)(arg ? arg : CPI_FLAG_ALL);
}

void x86_forward(struct x86 *x, unsigned int op, unsigned int arg)
{
	x86_add(x, CPI_UOP_FORWARD, 3);
}

/* reg += 1 << size, or that times rcx. */
static void advance(struct x86 *x, unsigned int reg, unsigned int size, bool repeated)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_LEA, 3);

	u->dst = (uint8_t)reg;
	uop_base(u, reg);
	if (repeated)
		uop_index(u, X86_RCX, size);
	else
		u->disp = 1 << size;
}

/* memory[rdi] = reg */
static void store_string(struct x86 *x, unsigned int reg, unsigned int size)
{
	struct cpi_uop *u = move(x, size, CPI_REG_NONE, reg);

	u->flags |= CPI_UOP_STORE;
	uop_base(u, X86_RDI);
}

/* What rep stores is unknown, and rcx is 0 then. */
static void blur_string(struct x86 *x, unsigned int size)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_SHL, 3);

	u->dst = CPI_REG_TEMP;
	u->left = X86_RCX;
	uop_src_imm(u, (int32_t)size);
	u = x86_add(x, CPI_UOP_BLUR, 3);
	u->left = X86_RDI;
	u->src = CPI_REG_TEMP;
}

/* Either prefix repeats those that compare nothing. */
#define REPEATED (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)

/* movs, stos, lods, as op says; arg: log2 of the size. */
void x86_string(struct x86 *x, unsigned int op, unsigned int arg)
{
	const bool repeated = x->in->attributes & REPEATED;
	struct cpi_uop *u;

	if (x->in->address_width != 64 || (repeated && op == X86_LODS))
		x->failed = true;
	for (unsigned int i = 0; i < x->in->operand_count; i++)
		if (x86_is_memory(&x->all[i]) &&
		    (x->all[i].mem.segment == ZYDIS_REGISTER_FS ||
		     x->all[i].mem.segment == ZYDIS_REGISTER_GS))
			x->failed = true;
	x86_add(x, CPI_UOP_FORWARD, 3);
	if (op != X86_STOS && !repeated) {
		u = move(x, arg, op == X86_LODS ? X86_RAX : CPI_REG_TEMP, 0);
		u->flags |= CPI_UOP_SRC_MEM;
		uop_base(u, X86_RSI);
	}
	if (repeated)
		blur_string(x, arg);
	else if (op != X86_LODS)
		store_string(x, op == X86_STOS ? X86_RAX : CPI_REG_TEMP, arg);
	if (op != X86_STOS)
		advance(x, X86_RSI, arg, repeated);
	if (op != X86_LODS)
		advance(x, X86_RDI, arg, repeated);
	if (repeated)
		move(x, 3, X86_RCX, CPI_REG_ZERO);
}

/* Two instructions of one name: a string's, and a vector's. */
static bool is_string(const struct x86 *x)
{
	return x->in->meta.category == ZYDIS_CATEGORY_STRINGOP;
}

void x86_movsd(struct x86 *x, unsigned int op, unsigned int arg)
{
	if (is_string(x))
		x86_string(x, X86_MOVS, 2);
	else
		x86_vmov_scalar(x, 0, 3);
}

void x86_cmpsd(struct x86 *x, unsigned int op, unsigned int arg)
{
	if (is_string(x))
		x86_stop(x, op, arg);
	else
		x86_unknown(x, op, arg);
}

/* Of the flags, those that are not followed are in it, too. */
void x86_pushf(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_PUSH, 3);

	u->flags |= CPI_UOP_STORE;
	u->src = CPI_REG_UNKNOWN;
}
