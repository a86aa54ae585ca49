/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * branch.h - whether a sampled instruction is a conditional jump, and whether it is
 * about to be taken
 *
 * SOSP'97 section 7, "interpretation": "each conditional branch can be
 * interpreted to determine whether or not the branch will be taken, yielding
 * edge samples". The opcode bytes and the interrupted registers suffice. One
 * header for the kernel side and the daemon: no library, no floating point,
 * no loops without a bound.
 *
 * Many cores execute a compare and the jump after it as one operation, and cannot be
 * interrupted between the two. Then the sample is at the compare, and the flags are
 * those from before it. So a sample at an instruction that sets flags from registers
 * and constants, directly before a jump, also has an outcome: it is decided by
 * computing the flags.
 *
 * Decoding and deciding are separate functions, because a collector may get the bytes
 * and the registers at different times. struct cpi_branch is the decoded form.
 */
#ifndef CPI_ABI_BRANCH_H
#define CPI_ABI_BRANCH_H

#include "abi/entry.h"

/* The most bytes that a decision needs: a compare, and the jump's prefix and opcode. */
#define CPI_BRANCH_MAX_BYTES 16

enum cpi_branch_kind {
	CPI_BRANCH_NOT = 0,    /* neither a conditional jump nor a compare before one */
	CPI_BRANCH_X86_CC,     /* Jcc; arg: condition code 0..15 */
	CPI_BRANCH_X86_CX,     /* jcxz, jecxz, jrcxz; left is rcx with width bits */
	CPI_BRANCH_X86_LOOP,   /* loop; the same */
	CPI_BRANCH_X86_LOOPE,  /* loope */
	CPI_BRANCH_X86_LOOPNE, /* loopne */
	CPI_BRANCH_ARM64_CC,   /* b.cond, bc.cond; arg: condition 0..15 */
	CPI_BRANCH_ARM64_CBZ,  /* left is the register, with width bits */
	CPI_BRANCH_ARM64_CBNZ,
	CPI_BRANCH_ARM64_TBZ, /* left; arg: tested bit */
	CPI_BRANCH_ARM64_TBNZ,
	CPI_BRANCH_X86_PAIR,   /* op left, right; Jcc. arg: condition code */
	CPI_BRANCH_ARM64_PAIR, /* the same with b.cond */
	CPI_BRANCH_UNKNOWN,    /* too few bytes to decide */
};

/*
 * What the first instruction of a pair (compare and jump) does to its operands; only
 * the flags matter.
 */
enum cpi_pair_op {
	CPI_PAIR_ADD,
	CPI_PAIR_OR,
	CPI_PAIR_AND,
	CPI_PAIR_SUB,
	CPI_PAIR_XOR,
	CPI_PAIR_INC, /* CF does not change */
	CPI_PAIR_DEC,
};

#define CPI_BRANCH_CONSTANT 0xff

/* left and right are registers as the machine numbers them: rax 0, rcx 1, …, r15 15. */
struct cpi_branch {
	uint8_t kind; /* enum cpi_branch_kind */
	uint8_t arg;
	uint8_t op; /* enum cpi_pair_op */
	uint8_t width;
	uint8_t left;
	uint8_t right;       /* or CPI_BRANCH_CONSTANT: the operand is value */
	uint8_t left_shift;  /* right: x86's ah, ch, dh, bh are bits 8 to 15 */
	uint8_t right_shift; /* x86: right; A64: by lsl, lsr or asr, as value says */
	uint64_t value;
};

#endif
