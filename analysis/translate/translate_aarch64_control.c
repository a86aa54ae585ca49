/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_aarch64_control.c - jumps, calls, and what ends a window
 *
 * A call is two micro-ops: the link register gets the address behind it, then it jumps.
 */
#include "config.h"

#include "analysis/translate/translate_aarch64.h"

#define ADDRESS_BITS 48

static void link(struct a64 *x)
{
	a64_address(x, A64_LINK, CPI_REG_PC, 4);
}

static struct cpi_uop *jump(struct a64 *x, unsigned int op, unsigned int width,
			    unsigned int low)
{
	struct cpi_uop *u = a64_add(x, op, 3);

	u->address = 0;
	u->disp = a64_signed(x, low, width) * 4;
	return u;
}

void a64_b(struct a64 *x, unsigned int arg)
{
	x->out->ends = true;
	jump(x, CPI_UOP_JMP, 26, 0);
}

void a64_bl(struct a64 *x, unsigned int arg)
{
	link(x);
	jump(x, CPI_UOP_JMP, 26, 0);
}

void a64_b_cond(struct a64 *x, unsigned int arg)
{
	const unsigned int cond = a64_field(x, 0, 4);

	if (cond >= 14) { /* always */
		x->out->ends = true;
		jump(x, CPI_UOP_JMP, 19, 5);
		return;
	}
	jump(x, CPI_UOP_JCC, 19, 5)->imm = (int32_t)a64_condition(x, cond);
}

static unsigned int jump_by_zero(const struct a64 *x)
{
	return a64_field(x, 24, 1) ? CPI_UOP_JNZ : CPI_UOP_JZ;
}

void a64_cbz(struct a64 *x, unsigned int arg)
{
	struct cpi_uop *u = jump(x, jump_by_zero(x), 19, 5);

	u->src = (uint8_t)a64_read(x, 0);
	uop_src_size(u, a64_size(x));
}

/* Reads only the bytes up to the tested bit, because others may be unknown. */
void a64_tbz(struct a64 *x, unsigned int arg)
{
	const unsigned int bit = x->word >> 31 << 5 | a64_field(x, 19, 5);
	const unsigned int size = bit < 8 ? 0 : bit < 16 ? 1 : 2;
	unsigned int src = a64_read(x, 0), test = bit;
	struct cpi_uop *u;

	if (bit > 31) {
		a64_compute_imm(x, CPI_UOP_SHR, 3, A64_TEMP, src, 32);
		src = A64_TEMP;
		test -= 32;
	}
	a64_compute_imm(x, CPI_UOP_AND, size, A64_TEMP, src, (int32_t)(1u << test));
	u = jump(x, jump_by_zero(x), 14, 5);
	u->src = A64_TEMP;
	uop_src_size(u, size);
}

static void jump_to(struct a64 *x, unsigned int reg)
{
	a64_add(x, CPI_UOP_JMPI, 3)->src = (uint8_t)reg;
}

void a64_br(struct a64 *x, unsigned int arg)
{
	x->out->ends = true;
	jump_to(x, a64_read(x, 5));
}

/* A jump to the address in reg, which may be the link register. */
static void call_to(struct a64 *x, unsigned int reg)
{
	if (reg == A64_LINK) {
		a64_compute(x, CPI_UOP_MOV, 3, A64_TEMP, CPI_REG_ZERO, reg);
		reg = A64_TEMP;
	}
	link(x);
	jump_to(x, reg);
}

void a64_blr(struct a64 *x, unsigned int arg)
{
	call_to(x, a64_read(x, 5));
}

/* Removes a signature. */
static void strip(struct a64 *x, unsigned int dst, unsigned int src)
{
	a64_compute_imm(x, CPI_UOP_SHL, 3, dst, src, 64 - ADDRESS_BITS);
	a64_compute_imm(x, CPI_UOP_SHR, 3, dst, dst, 64 - ADDRESS_BITS);
}

/* arg: whether the register is the link register */
void a64_br_signed(struct a64 *x, unsigned int arg)
{
	x->out->ends = true;
	strip(x, A64_TEMP, arg ? A64_LINK : a64_read(x, 5));
	jump_to(x, A64_TEMP);
}

void a64_blr_signed(struct a64 *x, unsigned int arg)
{
	strip(x, A64_TEMP, a64_read(x, 5));
	call_to(x, A64_TEMP);
}

void a64_strip_register(struct a64 *x, unsigned int arg)
{
	strip(x, arg, arg);
}

void a64_strip(struct a64 *x, unsigned int arg)
{
	const unsigned int reg = a64_written(x, 0);

	strip(x, reg, reg);
}

/* arg: a register that is unknown then */
void a64_forget(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_MOV, 3, arg, CPI_REG_ZERO, CPI_REG_UNKNOWN);
}

void a64_unflag(struct a64 *x, unsigned int arg)
{
	a64_add(x, CPI_UOP_UNFLAG, 3)->imm = (int32_t)CPI_FLAG_ALL;
}

void a64_stop(struct a64 *x, unsigned int arg)
{
	x->out->ends = true;
	a64_add(x, CPI_UOP_STOP, 3)->imm = (int32_t)arg;
}

void a64_nop(struct a64 *x, unsigned int arg)
{
	a64_add(x, CPI_UOP_NOP, 3);
}

void a64_get_thread(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_MOV, 3, a64_written(x, 0), CPI_REG_ZERO, CPI_REG_THREAD);
}

void a64_set_thread(struct a64 *x, unsigned int arg)
{
	a64_compute(x, CPI_UOP_MOV, 3, CPI_REG_THREAD, CPI_REG_ZERO, a64_read(x, 0));
}
