/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpi_window_registers.h - the registers that an interrupt saved, with which a window
 * begins
 *
 * All that differs between machines at interrupt time. The includer defines
 * CPI_WINDOW_REGS, the type of the saved registers, whose members have the kernel's
 * names; abi/uop.h has the numbers that the translator gives them. Each machine's
 * header has CPI_WINDOW_UOPS, which bounds a window, and cpi_window_pc(), _is_user(),
 * _is_compat() (it executes code of 32 bits) and _set_registers().
 */
#ifndef CPI_KMOD_CPI_WINDOW_REGISTERS_H
#define CPI_KMOD_CPI_WINDOW_REGISTERS_H

#if defined(__TARGET_ARCH_x86) || defined(CONFIG_X86_64)
#include "kmod/cpi_window_x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kmod/cpi_window_arm64.h"
#else
#error "cpi: no windows on this machine"
#endif

#endif
