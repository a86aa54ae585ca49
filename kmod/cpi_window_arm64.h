/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpi_window_arm64.h - what an interrupt has saved, on arm64
 *
 * Part of kmod/cpi_window_registers.h.
 */
#ifndef CPI_KMOD_CPI_WINDOW_ARM64_H
#define CPI_KMOD_CPI_WINDOW_ARM64_H

#include "abi/window.h"

#define PSTATE_LEVEL  0x0fu /* of exceptions; users have 0 */
#define PSTATE_32_BIT 0x10u

#define CPI_WINDOW_UOPS 300 /* for 100 instructions; more take two than on x86-64 */

static inline __attribute__((always_inline)) uint64_t
cpi_window_pc(const CPI_WINDOW_REGS *r)
{
	return r->pc;
}

static inline __attribute__((always_inline)) int
cpi_window_is_user(const CPI_WINDOW_REGS *r)
{
	return !(r->pstate & PSTATE_LEVEL);
}

/* Whether it executes code of 32 bits. */
static inline __attribute__((always_inline)) int
cpi_window_is_compat(const CPI_WINDOW_REGS *r)
{
	return r->pstate & PSTATE_32_BIT;
}

/*
 * The kernel's copy of the thread's register is from when the thread was last switched
 * out. Programs set the register once, as they begin: until then it is 0.
 */
static inline __attribute__((always_inline)) void
cpi_window_set_registers(struct cpi_window_state *s, const CPI_WINDOW_REGS *r,
			 uint64_t thread)
{
#pragma unroll
	for (uint32_t i = 0; i < 31; i++)
		s->reg[i] = r->regs[i];
	s->reg[CPI_REG_AARCH64_SP] = r->sp;
	s->reg[CPI_REG_THREAD] = thread;
	s->unknown[CPI_REG_THREAD] = thread ? 0 : 0xff;
	s->flags = cpi_flags_of_nzcv((uint32_t)(r->pstate >> 28));
}

#endif
