/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * branch_arm64.h - conditional jumps of AArch64, decoded and judged (see branch.h)
 */
#ifndef CPI_ABI_BRANCH_ARM64_H
#define CPI_ABI_BRANCH_ARM64_H

#include "abi/branch.h"

/* AArch64 PSTATE conditions. */
#define CPI_ARM64_N (1u << 31)
#define CPI_ARM64_Z (1u << 30)
#define CPI_ARM64_C (1u << 29)
#define CPI_ARM64_V (1u << 28)

/*
 * A condition code of b.cond or bc.cond, or -1. 14 and 15 mean "always", so they are no
 * conditional jump.
 */
static inline int cpi_arm64_decode_cond(uint32_t insn)
{
	if ((insn & 0xff000000) != 0x54000000 || (insn & 0xe) == 0xe)
		return -1;
	return insn & 0xf;
}

/* The constant of ands and the like (DecodeBitMasks): a run of ones, rotated. */
static inline uint64_t cpi_arm64_mask(unsigned int n, unsigned int imms,
				      unsigned int immr)
{
	unsigned int size = 64, ones, turn;
	uint64_t element;

	if (!n)
		for (size = 32; size > 2 && !(~imms & size); size /= 2)
			;
	ones = (imms & (size - 1)) + 1;
	turn = immr & (size - 1);
	element = ~0ULL >> (64 - ones);
	if (turn)
		element = (element >> turn | element << (size - turn)) &
			  ~0ULL >> (64 - size);
	for (; size < 64; size *= 2)
		element |= element << size;
	return element;
}

/*
 * Decodes adds, subs and ands with a constant or a shifted register; then b->value is
 * the kind of shift: 0 lsl, 1 lsr, 2 asr. Returns 0; -1: another instruction.
 */
static inline int cpi_arm64_decode_first(uint32_t insn, struct cpi_branch *b)
{
	b->width = insn >> 31 ? 64 : 32;
	b->left = insn >> 5 & 0x1f;
	b->right = CPI_BRANCH_CONSTANT;
	if ((insn & 0x3f800000) == 0x31000000) { /* adds, subs with a constant */
		b->op = insn & 1u << 30 ? CPI_PAIR_SUB : CPI_PAIR_ADD;
		b->value = (insn >> 10 & 0xfff) << (insn & 1u << 22 ? 12 : 0);
		return b->left == 31 ? -1 : 0; /* here, the stack pointer */
	}
	if ((insn & 0x7f800000) == 0x72000000) { /* ands with a constant */
		b->op = CPI_PAIR_AND;
		b->value = cpi_arm64_mask(insn >> 22 & 1, insn >> 10 & 0x3f,
					  insn >> 16 & 0x3f);
		return insn >> 31 || !(insn >> 22 & 1) ? 0 : -1;
	}
	b->right = insn >> 16 & 0x1f;
	b->right_shift = insn >> 10 & 0x3f;
	b->value = insn >> 22 & 3;
	if (b->value == 3 || b->right_shift >= b->width || insn & 1u << 21)
		return -1;
	switch (insn & 0x7f000000) {
	case 0x2b000000:
		b->op = CPI_PAIR_ADD;
		return 0;
	case 0x6b000000:
		b->op = CPI_PAIR_SUB;
		return 0;
	case 0x6a000000:
		b->op = CPI_PAIR_AND;
		return 0;
	}
	return -1;
}

/*
 * Decodes one A64 instruction (b.cond, bc.cond, cbz, cbnz, tbz, tbnz), or a pair of
 * cmp, cmn, tst or similar with b.cond. next is the next instruction, 0 if it is not
 * known.
 */
static inline struct cpi_branch cpi_branch_decode_arm64(uint32_t insn, uint32_t next)
{
	struct cpi_branch none = { .kind = CPI_BRANCH_NOT }, b = none;
	int cond = cpi_arm64_decode_cond(insn);

	if (cond >= 0) {
		b.kind = CPI_BRANCH_ARM64_CC;
		b.arg = cond;
	} else if ((insn & 0x7e000000) == 0x34000000) {
		b.kind = insn & 1u << 24 ? CPI_BRANCH_ARM64_CBNZ : CPI_BRANCH_ARM64_CBZ;
		b.left = insn & 0x1f;
		b.width = insn >> 31 ? 64 : 32;
	} else if ((insn & 0x7e000000) == 0x36000000) {
		b.kind = insn & 1u << 24 ? CPI_BRANCH_ARM64_TBNZ : CPI_BRANCH_ARM64_TBZ;
		b.left = insn & 0x1f;
		b.arg = (insn >> 31) << 5 | (insn >> 19 & 0x1f);
	} else {
		cond = cpi_arm64_decode_cond(next);
		if (cond < 0 || cpi_arm64_decode_first(insn, &b))
			return none;
		b.kind = CPI_BRANCH_ARM64_PAIR;
		b.arg = cond;
	}
	return b;
}

/* N, Z, C and V as the first instruction of pair b leaves them. */
static inline uint64_t cpi_arm64_pair_flags(struct cpi_branch b, uint64_t left,
					    uint64_t right)
{
	uint64_t mask = ~0ULL >> (64 - b.width), sign = 1ULL << (b.width - 1);
	uint64_t r, c = 0, v = 0;

	left &= mask;
	right &= mask;
	if (b.right == CPI_BRANCH_CONSTANT)
		right = b.value;
	else if (b.value == 0)
		right <<= b.right_shift;
	else if (b.value == 1 || !(right & sign))
		right >>= b.right_shift;
	else
		right = ~(~(right | ~mask) >> b.right_shift);
	right &= mask;
	switch (b.op) {
	case CPI_PAIR_ADD:
		r = (left + right) & mask;
		c = r < left;
		v = (left ^ r) & (right ^ r) & sign;
		break;
	case CPI_PAIR_SUB:
		r = (left - right) & mask;
		c = left >= right;
		v = (left ^ right) & (left ^ r) & sign;
		break;
	default:
		r = left & right;
		break;
	}
	return (r & sign ? CPI_ARM64_N : 0) | (r ? 0 : CPI_ARM64_Z) |
	       (c ? CPI_ARM64_C : 0) | (v ? CPI_ARM64_V : 0);
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
 * The outcome of b. left and right are the values of registers b.left and b.right;
 * register 31 is 0. pstate is used only if b is a single b.cond.
 */
static inline enum cpi_outcome cpi_branch_outcome_arm64(struct cpi_branch b,
							uint64_t left, uint64_t right,
							uint64_t pstate)
{
	int taken;

	switch (b.kind) {
	case CPI_BRANCH_NOT:
		return CPI_OUTCOME_NONE;
	case CPI_BRANCH_ARM64_CC:
		taken = cpi_arm64_condition(b.arg, pstate);
		break;
	case CPI_BRANCH_ARM64_PAIR:
		taken = cpi_arm64_condition(b.arg,
					    cpi_arm64_pair_flags(b, left, right));
		break;
	case CPI_BRANCH_ARM64_CBZ:
	case CPI_BRANCH_ARM64_CBNZ:
		taken = (b.width == 64 ? left : (uint32_t)left) == 0;
		taken = taken != (b.kind == CPI_BRANCH_ARM64_CBNZ);
		break;
	case CPI_BRANCH_ARM64_TBZ:
	case CPI_BRANCH_ARM64_TBNZ:
		taken = !(left >> b.arg & 1);
		taken = taken != (b.kind == CPI_BRANCH_ARM64_TBNZ);
		break;
	default:
		return CPI_OUTCOME_UNREADABLE;
	}
	return taken ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN;
}

#endif
