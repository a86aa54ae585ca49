/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * branch.h - is the instruction at a sampled PC a conditional jump, and is it
 *            about to be taken?
 *
 * SOSP'97 section 7, "interpretation": "each conditional branch can be
 * interpreted to determine whether or not the branch will be taken, yielding
 * edge samples". The opcode bytes and the interrupted registers suffice. One
 * header for the kernel side and the daemon: no library, no floating point,
 * no loops without a bound.
 *
 * Decoding and judging are apart, because a collector may have the bytes long
 * before or after it has the registers. struct cpi_branch is the decoded form.
 */
#ifndef CPI_ABI_BRANCH_H
#define CPI_ABI_BRANCH_H

#include "abi/entry.h"

/* As many bytes as a decision can need: prefixes, 0F, opcode. */
#define CPI_BRANCH_MAX_BYTES 8

enum cpi_branch_kind {
	CPI_BRANCH_NOT = 0,  /* not a conditional jump */
	CPI_BRANCH_X86_CC,   /* Jcc; arg: condition code 0..15 */
	CPI_BRANCH_X86_CX,   /* jcxz, jecxz, jrcxz; arg: width of the counter in bits */
	CPI_BRANCH_X86_LOOP, /* loop; arg: width */
	CPI_BRANCH_X86_LOOPE,  /* loope; arg: width */
	CPI_BRANCH_X86_LOOPNE, /* loopne; arg: width */
	CPI_BRANCH_ARM64_CC,   /* b.cond, bc.cond; arg: condition 0..15 */
	CPI_BRANCH_ARM64_CBZ,  /* arg: register; bit: operand width - 1 */
	CPI_BRANCH_ARM64_CBNZ,
	CPI_BRANCH_ARM64_TBZ, /* arg: register; bit: tested bit */
	CPI_BRANCH_ARM64_TBNZ,
	CPI_BRANCH_UNKNOWN, /* too few bytes to tell */
};

struct cpi_branch {
	uint8_t kind; /* enum cpi_branch_kind */
	uint8_t arg;
	uint8_t bit;
};

/* x86 flags that conditions read. */
#define CPI_X86_CF (1u << 0)
#define CPI_X86_PF (1u << 2)
#define CPI_X86_ZF (1u << 6)
#define CPI_X86_SF (1u << 7)
#define CPI_X86_OF (1u << 11)

/* AArch64 PSTATE conditions. */
#define CPI_ARM64_N (1u << 31)
#define CPI_ARM64_Z (1u << 30)
#define CPI_ARM64_C (1u << 29)
#define CPI_ARM64_V (1u << 28)

/*
 * Decodes the first instruction in code[0..n) as x86-64 (64-bit mode). Legacy
 * prefixes (branch hints, BND, operand and address size) and REX are skipped.
 */
static inline struct cpi_branch cpi_branch_decode_x86_64(const uint8_t *code,
							 unsigned int n)
{
	struct cpi_branch b = { CPI_BRANCH_NOT, 0, 0 };
	uint8_t width = 64;
	unsigned int i;

	for (i = 0; i < n && i < CPI_BRANCH_MAX_BYTES - 1; i++) {
		uint8_t c = code[i];

		if (c == 0x67)
			width = 32;
		else if (c != 0x2e && c != 0x3e && c != 0x26 && c != 0x36 &&
			 c != 0x64 && c != 0x65 && c != 0x66 && c != 0xf2 &&
			 c != 0xf3 && (c & 0xf0) != 0x40)
			break;
	}
	if (i >= n) {
		b.kind = CPI_BRANCH_UNKNOWN;
		return b;
	}
	switch (code[i]) {
	case 0x70 ... 0x7f:
		b.kind = CPI_BRANCH_X86_CC;
		b.arg = code[i] & 0xf;
		break;
	case 0x0f:
		if (i + 1 >= n) {
			b.kind = CPI_BRANCH_UNKNOWN;
		} else if ((code[i + 1] & 0xf0) == 0x80) {
			b.kind = CPI_BRANCH_X86_CC;
			b.arg = code[i + 1] & 0xf;
		}
		break;
	case 0xe0 ... 0xe3: /* loopne, loope, loop, jcxz: the kinds the other way */
		b.kind = CPI_BRANCH_X86_LOOPNE - (code[i] & 3);
		b.arg = width;
		break;
	}
	return b;
}

/* Whether condition code cc (the low nibble of Jcc) holds under flags. */
static inline int cpi_x86_condition(unsigned int cc, uint64_t flags)
{
	int of_ne_sf = !(flags & CPI_X86_OF) != !(flags & CPI_X86_SF);
	int holds = 0;

	switch (cc >> 1 & 7) {
	case 0:
		holds = !!(flags & CPI_X86_OF);
		break;
	case 1:
		holds = !!(flags & CPI_X86_CF);
		break;
	case 2:
		holds = !!(flags & CPI_X86_ZF);
		break;
	case 3:
		holds = !!(flags & (CPI_X86_CF | CPI_X86_ZF));
		break;
	case 4:
		holds = !!(flags & CPI_X86_SF);
		break;
	case 5:
		holds = !!(flags & CPI_X86_PF);
		break;
	case 6:
		holds = of_ne_sf;
		break;
	case 7:
		holds = of_ne_sf || (flags & CPI_X86_ZF);
		break;
	}
	return holds != (int)(cc & 1);
}

/* The outcome of b with the interrupted RFLAGS and RCX. */
static inline enum cpi_outcome cpi_branch_outcome_x86_64(struct cpi_branch b,
							 uint64_t flags, uint64_t rcx)
{
	uint64_t count = b.arg == 32 ? (uint32_t)rcx : rcx;
	int zf = !!(flags & CPI_X86_ZF);
	int taken;

	switch (b.kind) {
	case CPI_BRANCH_NOT:
		return CPI_OUTCOME_NONE;
	case CPI_BRANCH_X86_CC:
		taken = cpi_x86_condition(b.arg, flags);
		break;
	case CPI_BRANCH_X86_CX:
		taken = count == 0;
		break;
	case CPI_BRANCH_X86_LOOP: /* decrements first */
		taken = count != 1;
		break;
	case CPI_BRANCH_X86_LOOPE:
		taken = count != 1 && zf;
		break;
	case CPI_BRANCH_X86_LOOPNE:
		taken = count != 1 && !zf;
		break;
	default:
		return CPI_OUTCOME_UNREADABLE;
	}
	return taken ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN;
}

/* Decodes one A64 instruction word (b.cond, bc.cond, cbz, cbnz, tbz, tbnz). */
static inline struct cpi_branch cpi_branch_decode_arm64(uint32_t insn)
{
	struct cpi_branch b = { CPI_BRANCH_NOT, 0, 0 };

	if ((insn & 0xff000000) == 0x54000000) {
		/* Conditions 14 and 15 both mean always: no choice to record. */
		if ((insn & 0xe) != 0xe)
			b.kind = CPI_BRANCH_ARM64_CC;
		b.arg = insn & 0xf;
	} else if ((insn & 0x7e000000) == 0x34000000) {
		b.kind = insn & 1u << 24 ? CPI_BRANCH_ARM64_CBNZ : CPI_BRANCH_ARM64_CBZ;
		b.arg = insn & 0x1f;
		b.bit = insn >> 31 ? 63 : 31;
	} else if ((insn & 0x7e000000) == 0x36000000) {
		b.kind = insn & 1u << 24 ? CPI_BRANCH_ARM64_TBNZ : CPI_BRANCH_ARM64_TBZ;
		b.arg = insn & 0x1f;
		b.bit = (insn >> 31) << 5 | (insn >> 19 & 0x1f);
	}
	return b;
}

/* Whether an A64 condition holds; pstate has N, Z, C, V in bits 31..28. */
static inline int cpi_arm64_condition(unsigned int cond, uint64_t pstate)
{
	int n = !!(pstate & CPI_ARM64_N), z = !!(pstate & CPI_ARM64_Z);
	int c = !!(pstate & CPI_ARM64_C), v = !!(pstate & CPI_ARM64_V);
	int holds = 1;

	switch (cond >> 1 & 7) {
	case 0:
		holds = z;
		break;
	case 1:
		holds = c;
		break;
	case 2:
		holds = n;
		break;
	case 3:
		holds = v;
		break;
	case 4:
		holds = c && !z;
		break;
	case 5:
		holds = n == v;
		break;
	case 6:
		holds = n == v && !z;
		break;
	case 7: /* always, in both forms */
		return 1;
	}
	return holds != (int)(cond & 1);
}

/*
 * The outcome of b with the value of register b.arg (0 for register 31, the
 * zero register) and PSTATE. Only one of the two is read.
 */
static inline enum cpi_outcome cpi_branch_outcome_arm64(struct cpi_branch b,
							uint64_t reg, uint64_t pstate)
{
	int taken;

	switch (b.kind) {
	case CPI_BRANCH_NOT:
		return CPI_OUTCOME_NONE;
	case CPI_BRANCH_ARM64_CC:
		taken = cpi_arm64_condition(b.arg, pstate);
		break;
	case CPI_BRANCH_ARM64_CBZ:
	case CPI_BRANCH_ARM64_CBNZ:
		taken = (b.bit == 63 ? reg : (uint32_t)reg) == 0;
		taken = taken != (b.kind == CPI_BRANCH_ARM64_CBNZ);
		break;
	case CPI_BRANCH_ARM64_TBZ:
	case CPI_BRANCH_ARM64_TBNZ:
		taken = !(reg >> b.bit & 1);
		taken = taken != (b.kind == CPI_BRANCH_ARM64_TBNZ);
		break;
	default:
		return CPI_OUTCOME_UNREADABLE;
	}
	return taken ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN;
}

#endif
