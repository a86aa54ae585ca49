/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "abi/branch_arm64.h"
#include "abi/branch_x86_64.h"
#include "t/unit/unit.h"

static const struct {
	const char *what;
	uint8_t code[8];
	unsigned int nr;
	unsigned int kind, arg; /* condition, or width */
} x86[] = {
	{ "je rel8", { 0x74, 0x05 }, 2, CPI_BRANCH_X86_CC, 4 },
	{ "jg rel8", { 0x7f, 0x05 }, 2, CPI_BRANCH_X86_CC, 15 },
	{ "jo rel32", { 0x0f, 0x80, 1, 2, 3, 4 }, 6, CPI_BRANCH_X86_CC, 0 },
	{ "jle rel32", { 0x0f, 0x8e, 1, 2, 3, 4 }, 6, CPI_BRANCH_X86_CC, 14 },
	{ "hinted jne", { 0x3e, 0x75, 0x05 }, 3, CPI_BRANCH_X86_CC, 5 },
	{ "bnd jne", { 0xf2, 0x75, 0x05 }, 3, CPI_BRANCH_X86_CC, 5 },
	{ "jrcxz", { 0xe3, 0x05 }, 2, CPI_BRANCH_X86_CX, 64 },
	{ "jecxz", { 0x67, 0xe3, 0x05 }, 3, CPI_BRANCH_X86_CX, 32 },
	{ "loop", { 0xe2, 0xfe }, 2, CPI_BRANCH_X86_LOOP, 64 },
	{ "loope", { 0xe1, 0xfe }, 2, CPI_BRANCH_X86_LOOPE, 64 },
	{ "loopne", { 0x67, 0xe0, 0xfe }, 3, CPI_BRANCH_X86_LOOPNE, 32 },
	{ "jmp", { 0xeb, 0x05 }, 2, CPI_BRANCH_NOT, 0 },
	{ "call", { 0xe8, 1, 2, 3, 4 }, 5, CPI_BRANCH_NOT, 0 },
	{ "setcc", { 0x0f, 0x94, 0xc0 }, 3, CPI_BRANCH_NOT, 0 },
	{ "cmovcc", { 0x48, 0x0f, 0x44, 0xc1 }, 4, CPI_BRANCH_NOT, 0 },
	{ "vex (c5 is no prefix here)", { 0xc5, 0xf8, 0x77 }, 3, CPI_BRANCH_NOT, 0 },
	{ "cut after 0f", { 0x0f }, 1, CPI_BRANCH_UNKNOWN, 0 },
	{ "prefixes only", { 0x66, 0x66, 0x2e }, 3, CPI_BRANCH_UNKNOWN, 0 },
	{ "nothing", { 0 }, 0, CPI_BRANCH_UNKNOWN, 0 },
};

START_TEST(x86_jumps_are_told_from_the_rest)
{
	struct cpi_branch b = cpi_branch_decode_x86_64(x86[_i].code, x86[_i].nr);

	ck_assert_msg(b.kind == x86[_i].kind && (b.arg | b.width) == x86[_i].arg,
		      "%s: %u %u %u", x86[_i].what, b.kind, b.arg, b.width);
}
END_TEST

START_TEST(x86_code_of_32_bits_is_told_by_the_selector_alone)
{
	ck_assert(cpi_x86_is_compat(0x23));
	ck_assert(cpi_x86_is_compat(0x3a00020023));
	ck_assert(!cpi_x86_is_compat(0x33));
	ck_assert(!cpi_x86_is_compat(0x10));
}
END_TEST

static const unsigned int flag_bits[] = { CPI_X86_CF, CPI_X86_PF, CPI_X86_ZF,
					  CPI_X86_SF, CPI_X86_OF };

static uint64_t flags_of(unsigned int mask)
{
	uint64_t flags = 2; /* always set */

	for (unsigned int i = 0; i < NR(flag_bits); i++) {
		if (mask >> i & 1)
			flags |= flag_bits[i];
	}
	return flags;
}

#ifdef __x86_64__
/* The oracle is the processor: setcc under these flags, for all sixteen codes. */
#define SETCC(name, cc)                                            \
	do {                                                       \
		uint8_t holds;                                     \
		__asm__ volatile("pushq %1; popfq; set" name " %0" \
				 : "=r"(holds)                     \
				 : "r"(flags)                      \
				 : "cc", "memory");                \
		want[cc] = holds;                                  \
	} while (0)

START_TEST(x86_conditions_agree_with_the_processor)
{
	for (unsigned int mask = 0; mask < 1u << NR(flag_bits); mask++) {
		uint64_t flags = flags_of(mask);
		int want[16];

		SETCC("o", 0);
		SETCC("no", 1);
		SETCC("b", 2);
		SETCC("nb", 3);
		SETCC("z", 4);
		SETCC("nz", 5);
		SETCC("be", 6);
		SETCC("nbe", 7);
		SETCC("s", 8);
		SETCC("ns", 9);
		SETCC("p", 10);
		SETCC("np", 11);
		SETCC("l", 12);
		SETCC("nl", 13);
		SETCC("le", 14);
		SETCC("nle", 15);
		for (unsigned int cc = 0; cc < 16; cc++)
			ck_assert_msg(cpi_x86_condition(cc, flags) == want[cc],
				      "condition %u under flags %#llx", cc,
				      (unsigned long long)flags);
	}
}
END_TEST
#endif

static const struct {
	unsigned int kind, width;
	uint64_t flags, rcx;
	enum cpi_outcome want;
} counted[] = {
	{ CPI_BRANCH_X86_CX, 64, 2, 0, CPI_OUTCOME_TAKEN },
	{ CPI_BRANCH_X86_CX, 64, 2, 1ULL << 32, CPI_OUTCOME_NOT_TAKEN },
	{ CPI_BRANCH_X86_CX, 32, 2, 1ULL << 32, CPI_OUTCOME_TAKEN },
	{ CPI_BRANCH_X86_LOOP, 64, 2, 2, CPI_OUTCOME_TAKEN },
	{ CPI_BRANCH_X86_LOOP, 64, 2, 1, CPI_OUTCOME_NOT_TAKEN },
	{ CPI_BRANCH_X86_LOOP, 64, 2, 0, CPI_OUTCOME_TAKEN }, /* wraps */
	{ CPI_BRANCH_X86_LOOPE, 64, 2, 2, CPI_OUTCOME_NOT_TAKEN },
	{ CPI_BRANCH_X86_LOOPE, 64, 2 | CPI_X86_ZF, 2, CPI_OUTCOME_TAKEN },
	{ CPI_BRANCH_X86_LOOPNE, 64, 2 | CPI_X86_ZF, 2, CPI_OUTCOME_NOT_TAKEN },
	{ CPI_BRANCH_X86_LOOPNE, 64, 2, 2, CPI_OUTCOME_TAKEN },
	{ CPI_BRANCH_NOT, 0, 0, 0, CPI_OUTCOME_NONE },
	{ CPI_BRANCH_UNKNOWN, 0, 0, 0, CPI_OUTCOME_UNREADABLE },
};

START_TEST(x86_counted_jumps_follow_rcx)
{
	struct cpi_branch b = { .kind = counted[_i].kind, .width = counted[_i].width };

	ck_assert_int_eq(cpi_branch_outcome_x86_64(b, counted[_i].flags,
						   counted[_i].rcx, 0),
			 counted[_i].want);
}
END_TEST

static const struct {
	const char *what;
	uint32_t insn;
	uint64_t reg, pstate;
	enum cpi_outcome want;
} arm64[] = {
	{ "b.eq, Z", 0x54000040, 0, CPI_ARM64_Z, CPI_OUTCOME_TAKEN },
	{ "b.eq, no Z", 0x54000040, 0, 0, CPI_OUTCOME_NOT_TAKEN },
	{ "b.ne, no Z", 0x54000041, 0, 0, CPI_OUTCOME_TAKEN },
	{ "b.hs, C", 0x54000042, 0, CPI_ARM64_C, CPI_OUTCOME_TAKEN },
	{ "b.mi, N", 0x54000044, 0, CPI_ARM64_N, CPI_OUTCOME_TAKEN },
	{ "b.vs, V", 0x54000046, 0, CPI_ARM64_V, CPI_OUTCOME_TAKEN },
	{ "b.hi, C and Z", 0x54000048, 0, CPI_ARM64_C | CPI_ARM64_Z,
	  CPI_OUTCOME_NOT_TAKEN },
	{ "b.ls, C and Z", 0x54000049, 0, CPI_ARM64_C | CPI_ARM64_Z,
	  CPI_OUTCOME_TAKEN },
	{ "b.ge, N and V", 0x5400004a, 0, CPI_ARM64_N | CPI_ARM64_V,
	  CPI_OUTCOME_TAKEN },
	{ "b.lt, N", 0x5400004b, 0, CPI_ARM64_N, CPI_OUTCOME_TAKEN },
	{ "b.gt, Z", 0x5400004c, 0, CPI_ARM64_Z, CPI_OUTCOME_NOT_TAKEN },
	{ "b.le, Z", 0x5400004d, 0, CPI_ARM64_Z, CPI_OUTCOME_TAKEN },
	{ "b.al is no choice", 0x5400004e, 0, 0, CPI_OUTCOME_NONE },
	{ "bc.eq", 0x54000050, 0, CPI_ARM64_Z, CPI_OUTCOME_TAKEN },
	{ "cbz w0, upper half set", 0x34000040, 1ULL << 32, 0, CPI_OUTCOME_TAKEN },
	{ "cbz x0, upper half set", 0xb4000040, 1ULL << 32, 0, CPI_OUTCOME_NOT_TAKEN },
	{ "cbnz x3", 0xb5000043, 1, 0, CPI_OUTCOME_TAKEN },
	{ "tbz x1, #33", 0xb6080041, 1ULL << 33, 0, CPI_OUTCOME_NOT_TAKEN },
	{ "tbnz x1, #33", 0xb7080041, 1ULL << 33, 0, CPI_OUTCOME_TAKEN },
	{ "tbnz w1, #3", 0x37180041, 4, 0, CPI_OUTCOME_NOT_TAKEN },
	{ "b", 0x14000001, 0, 0, CPI_OUTCOME_NONE },
	{ "bl", 0x94000001, 0, 0, CPI_OUTCOME_NONE },
	{ "ret", 0xd65f03c0, 0, 0, CPI_OUTCOME_NONE },
	{ "csel", 0x9a820020, 0, 0, CPI_OUTCOME_NONE },
};

START_TEST(arm64_jumps_are_decided)
{
	struct cpi_branch b = cpi_branch_decode_arm64(arm64[_i].insn, 0);
	enum cpi_outcome got =
		cpi_branch_outcome_arm64(b, arm64[_i].reg, 0, arm64[_i].pstate);

	ck_assert_msg(got == arm64[_i].want, "%s: %d", arm64[_i].what, got);
}
END_TEST

START_TEST(opposite_conditions_are_opposite)
{
	for (unsigned int mask = 0; mask < 16; mask++) {
		for (unsigned int cond = 0; cond < 14; cond += 2)
			ck_assert_int_ne(
				cpi_arm64_condition(cond, (uint64_t)mask << 28),
				cpi_arm64_condition(cond + 1, (uint64_t)mask << 28));
		for (unsigned int cc = 0; cc < 16; cc += 2)
			ck_assert_int_ne(cpi_x86_condition(cc, flags_of(mask)),
					 cpi_x86_condition(cc + 1, flags_of(mask)));
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("branch");
	TCase *tc = tcase_create("branch");

	tcase_add_loop_test(tc, x86_jumps_are_told_from_the_rest, 0, NR(x86));
	tcase_add_test(tc, x86_code_of_32_bits_is_told_by_the_selector_alone);
#ifdef __x86_64__
	tcase_add_test(tc, x86_conditions_agree_with_the_processor);
#endif
	tcase_add_loop_test(tc, x86_counted_jumps_follow_rcx, 0, NR(counted));
	tcase_add_loop_test(tc, arm64_jumps_are_decided, 0, NR(arm64));
	tcase_add_test(tc, opposite_conditions_are_opposite);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
