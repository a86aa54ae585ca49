/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpi_window_x86.h - what an interrupt has saved, on x86-64
 *
 * Part of kmod/cpi_window_registers.h.
 */
#ifndef CPI_KMOD_CPI_WINDOW_X86_H
#define CPI_KMOD_CPI_WINDOW_X86_H

#include "abi/window.h"

#define USER32_CS 0x23

#define CPI_WINDOW_UOPS 220 /* of a hundred instructions */

static inline __attribute__((always_inline)) uint64_t
cpi_window_pc(const CPI_WINDOW_REGS *r)
{
	return r->ip;
}

static inline __attribute__((always_inline)) int
cpi_window_is_user(const CPI_WINDOW_REGS *r)
{
	return r->cs & 3;
}

/* Whether it executes code of 32 bits. FRED saves other things above the selector. */
static inline __attribute__((always_inline)) int
cpi_window_is_compat(const CPI_WINDOW_REGS *r)
{
	return (uint16_t)r->cs == USER32_CS;
}

static inline __attribute__((always_inline)) void
cpi_window_set_registers(struct cpi_window_state *s, const CPI_WINDOW_REGS *r,
			 uint64_t thread)
{
	s->reg[0] = r->ax;
	s->reg[1] = r->cx;
	s->reg[2] = r->dx;
	s->reg[3] = r->bx;
	s->reg[4] = r->sp;
	s->reg[5] = r->bp;
	s->reg[6] = r->si;
	s->reg[7] = r->di;
	s->reg[8] = r->r8;
	s->reg[9] = r->r9;
	s->reg[10] = r->r10;
	s->reg[11] = r->r11;
	s->reg[12] = r->r12;
	s->reg[13] = r->r13;
	s->reg[14] = r->r14;
	s->reg[15] = r->r15;
	s->reg[CPI_REG_THREAD] = thread;
	s->flags = r->flags;
}

#endif
