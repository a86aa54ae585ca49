/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_truth.h - which data an x86-64 instruction touches, from its registers
 *
 * By Zydis alone, without micro-ops.
 */
#ifndef CPI_T_DATA_TRUTH_H
#define CPI_T_DATA_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#define DATA_TRUTH_MOST 2 /* operands in memory that windows tell of */

/* The registers before the instruction, in the order of their numbers. */
struct data_truth_regs {
	uint64_t gpr[16];
	uint64_t fs_base;
};

/*
 * Stores the addresses of the operands in memory, but for those of the stack pointer
 * alone. Returns how many; 0 also for what windows do not tell of: repeated strings,
 * prefetches, addresses of 32 bits and of gs.
 */
int data_truth(const uint8_t *code, size_t size, uint64_t pc,
	       const struct data_truth_regs *r, uint64_t address[DATA_TRUTH_MOST]);

#endif
