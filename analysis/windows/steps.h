/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - which registers count the rounds of the loop at an instruction
 *
 * A register counts while a thread stays in a region of code if every write to it there
 * adds a constant. If one basic block of the region has all of these writes, and they
 * go the same way, the change of the register between two moments, divided by the sum
 * of the block's constants, is how often the block ran in between. Neither the loop's
 * other branches nor the loops around it or in it matter.
 *
 * For each register the region is the largest set of blocks around the instruction in
 * which nothing else is written to it: the strongly connected component of the control
 * flow without the blocks that write otherwise. The code is the micro-ops of windows
 * (abi/uop.h), followed through calls but not into them. A call writes to the registers
 * that the machine's calling convention does not preserve; if it calls a small
 * procedure that calls no other, to those of them that this writes.
 *
 * What this cannot see: an unknown jump or code that is not translated may come back to
 * the region after other writes. Whoever uses the steps has to check that the changes
 * agree with them.
 */
#ifndef CPI_ANALYSIS_STEPS_H
#define CPI_ANALYSIS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/windows/walk.h"

#define STEPS_MAX_INSNS 512 /* of code that is looked at, nearest first */
#define STEPS_MAX       32  /* registers */

/* The registers that calls may change, a bit each (abi/uop.h has their numbers). */
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
	STEP_BELOW,  /* in a small procedure that it calls, which leaves the register
			alone */
};

struct step {
	uint64_t at;   /* the first instruction of its block that steps it */
	int64_t by;    /* what the block adds to it, in all; not 0 */
	uint64_t unit; /* every change is a multiple of it; a positive divisor of by */
	int block;     /* a number of its block: the same for registers of one block */
	uint8_t reg;
	bool narrow;                   /* only the lower 32 bits count */
	bool calls;                    /* the region calls */
	enum step_place first, second; /* where these instructions are */
};

struct steps;

struct steps *steps_new(void);    /* room to work in; NULL when out of memory */
void steps_free(struct steps *s); /* accepts NULL */

/*
 * The registers that count in a region around the instruction at. Returns how many
 * there are. first and second are instructions whose places are wanted; first may be at
 * itself, or in a small procedure that returned to it. s is used anew with each call.
 */
uint32_t steps_find(struct steps *s, const struct steps_code *code, uint64_t at,
		    uint64_t first, uint64_t second, struct step out[STEPS_MAX]);

#endif
