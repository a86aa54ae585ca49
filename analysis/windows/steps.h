/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - which registers count the iterations of the loop at an instruction
 *
 * A register counts in a region of code if three conditions hold: every write to it in
 * the region adds a constant; one basic block has all of these writes; and all add, or
 * all subtract. While a thread stays in the region, the change of the register, divided
 * by the sum of the block's constants, is the number of times that the block ran. Other
 * branches of the loop, outer loops and inner loops do not change this.
 *
 * For each register, all blocks that write anything else to it are removed from the
 * control flow graph. The region is the strongly connected component of the remaining
 * graph that contains the instruction. The code is the micro-ops of windows
 * (abi/uop.h). The search continues after a call; the callee's blocks are never part of
 * a region. A call is assumed to write all registers that the calling convention does
 * not preserve. But if the callee is small, including all procedures that it calls,
 * their instructions are examined. Then such a register is assumed written only if one
 * of them writes it.
 *
 * The search does not see unknown jumps and code that is not translated. They may write
 * to the register and return to the region. So the caller must check that the changes
 * of the registers agree with the steps.
 */
#ifndef CPI_ANALYSIS_STEPS_H
#define CPI_ANALYSIS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/windows/walk.h"

#define STEPS_MAX_INSNS 512 /* the nearest instructions that are examined */
#define STEPS_MAX       32  /* registers */

/* One bit for each register that a call may change (abi/uop.h has the numbers). */
#define STEPS_CLOBBERED_X86_64  0x0fc7u     /* rax, rcx, rdx, rsi, rdi, r8 to r11 */
#define STEPS_CLOBBERED_AARCH64 0x4007ffffu /* x0 to x18, x30 */

struct steps_code {
	walk_find_fn *find;
	void *ctx;
	uint32_t clobbered; /* by calls */
};

enum step_place {
	STEP_OUTSIDE,
	STEP_INSIDE, /* the region */
	/* In a small procedure that the region calls and that does not write the
	   register. */
	STEP_BELOW,
};

struct step {
	uint64_t at;   /* the first instruction of its block that changes it */
	int64_t by;    /* the sum of what the block adds to it; not 0 */
	uint64_t unit; /* positive; every change, and so by, is a multiple of it */
	int block;     /* number of its block; equal for registers of the same block */
	int nr_blocks; /* of the region */
	uint8_t reg;
	bool narrow;                   /* only the lower 32 bits count */
	bool calls;                    /* the region has a call */
	enum step_place first, second; /* where the arguments first and second are */
};

struct steps;

struct steps *steps_new(void);    /* working memory; NULL when out of memory */
void steps_free(struct steps *s); /* accepts NULL */

/*
 * Finds the registers that count in a region around the instruction at address at.
 * Returns their number. first and second are the addresses of two instructions; each
 * step says whether they are in its region. first equals at, or is in a small procedure
 * that returned to at. Each call overwrites s.
 */
uint32_t steps_find(struct steps *s, const struct steps_code *code, uint64_t at,
		    uint64_t first, uint64_t second, struct step out[STEPS_MAX]);

#endif
