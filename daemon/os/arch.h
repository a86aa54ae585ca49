/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch.h - what is particular to the machine that we run on
 */
#ifndef CPI_DAEMON_ARCH_H
#define CPI_DAEMON_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "abi/branch.h"

#define ARCH_ADDS 16

struct arch_ops {
	uint16_t elf_machine; /* EM_…; EM_NONE: not known here */
	/*
	 * Interrupted registers (PERF_SAMPLE_REGS_INTR's mask) that outcome() reads;
	 * it gets their values in ascending order of register number.
	 */
	uint64_t regs_mask;
	struct cpi_branch (*decode)(const uint8_t *code, size_t n);
	enum cpi_outcome (*outcome)(struct cpi_branch branch, const uint64_t *regs);
	/*
	 * Runs rounds × ARCH_ADDS dependent add instructions; each takes one
	 * cycle. NULL: not available.
	 */
	void (*add_in_turn)(unsigned int rounds); /* of ARCH_ADDS each */
	/*
	 * user_mask: the PERF_SAMPLE_REGS_USER mask that unwinding needs; 0:
	 * unwinding is not supported on this machine. user_dwarf: the DWARF
	 * number of each of these registers, in perf's order. The PC is 16 on
	 * x86-64 and 32 on AArch64.
	 */
	uint64_t user_mask;
	const uint8_t *user_dwarf;
	uint8_t dwarf_sp, dwarf_pc;
	/*
	 * Reads the CPU's family and model, by which IBS errata are chosen. NULL:
	 * not needed on this machine.
	 */
	void (*cpu_model)(unsigned int *family, unsigned int *model);
};

extern const struct arch_ops arch_native;

#endif
