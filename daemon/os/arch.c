/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch.c - the machine-specific functions of the daemon
 *
 * One table for each machine; arch_native is that of the machine that is built for.
 */
#include "config.h"

#include "daemon/os/arch.h"

#include <asm/perf_regs.h>
#include <elf.h>
#include <string.h>

#include "abi/branch_arm64.h"
#include "abi/branch_x86_64.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* As perf hands them out: its own order, without those that are not in the mask. */
enum { AX, BX, CX, DX, SI, DI, BP, SP, FLAGS, R8, R9, R10, R11, R12, R13, R14, R15 };

#define REGS_MASK                                                             \
	(((1ULL << (PERF_REG_X86_SP + 1)) - 1) | 1ULL << PERF_REG_X86_FLAGS | \
	 0xffULL << PERF_REG_X86_R8)

/*
 * The value of a register by its number in instructions; 0 if there is no such
 * register.
 */
static uint64_t register_x86_64(const uint64_t *regs, unsigned int nr)
{
	static const uint8_t place[] = { AX, CX, DX,  BX,  SP,  BP,  SI,  DI,
					 R8, R9, R10, R11, R12, R13, R14, R15 };

	return nr < sizeof(place) ? regs[place[nr]] : 0;
}

static struct cpi_branch decode_x86_64(const uint8_t *code, size_t n)
{
	return cpi_branch_decode_x86_64(code, n);
}

static enum cpi_outcome outcome_x86_64(struct cpi_branch branch, const uint64_t *regs)
{
	return cpi_branch_outcome_x86_64(branch, regs[FLAGS],
					 register_x86_64(regs, branch.left),
					 register_x86_64(regs, branch.right));
}

static void add_in_turn(unsigned int rounds)
{
	unsigned long x = rounds;

	for (unsigned int i = 0; i < rounds; i++)
		__asm__ volatile(".rept %c1\n\tadd %0, %0\n\t.endr"
				 : "+r"(x)
				 : "i"(ARCH_ADDS));
}

/* Extended family and model are added where the base family says so: CPUID 1, EAX. */
static void cpu_model_x86_64(unsigned int *family, unsigned int *model)
{
	unsigned int eax = 0, ebx, ecx, edx;

	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
	*family = eax >> 8 & 0xf;
	*model = eax >> 4 & 0xf;
	if (*family == 0xf || *family == 6)
		*model |= (eax >> 16 & 0xf) << 4;
	if (*family == 0xf)
		*family += eax >> 20 & 0xff;
}

#define USER_MASK                                                          \
	(((1ULL << (PERF_REG_X86_SP + 1)) - 1) | 1ULL << PERF_REG_X86_IP | \
	 0xffULL << PERF_REG_X86_R8)

/* AX, BX, CX, DX, SI, DI, BP, SP, IP, R8 … */
static const uint8_t dwarf_x86_64[] = { 0, 3, 2,  1,  4,  5,  6,  7, 16,
					8, 9, 10, 11, 12, 13, 14, 15 };

const struct arch_ops arch_native = {
	.elf_machine = EM_X86_64,
	.regs_mask = REGS_MASK,
	.user_mask = USER_MASK,
	.user_dwarf = dwarf_x86_64,
	.dwarf_sp = 7,
	.dwarf_pc = 16,
	.decode = decode_x86_64,
	.outcome = outcome_x86_64,
	.add_in_turn = add_in_turn,
	.cpu_model = cpu_model_x86_64,
};

#elif defined(__aarch64__)

static struct cpi_branch decode_arm64(const uint8_t *code, size_t n)
{
	uint32_t insn[2] = { 0, 0 };

	if (n < sizeof(*insn))
		return (struct cpi_branch){ .kind = CPI_BRANCH_UNKNOWN };
	memcpy(insn, code, n < sizeof(insn) ? sizeof(*insn) : sizeof(insn));
	return cpi_branch_decode_arm64(insn[0], insn[1]);
}

static uint64_t register_arm64(const uint64_t *regs, unsigned int nr)
{
	return nr < 31 ? regs[nr] : 0;
}

/* perf does not provide PSTATE, so the outcome of a single b.cond is unreadable. */
static enum cpi_outcome outcome_arm64(struct cpi_branch branch, const uint64_t *regs)
{
	if (branch.kind == CPI_BRANCH_ARM64_CC)
		return CPI_OUTCOME_UNREADABLE;
	return cpi_branch_outcome_arm64(branch, register_arm64(regs, branch.left),
					register_arm64(regs, branch.right), 0);
}

static void add_in_turn(unsigned int rounds)
{
	unsigned long x = rounds;

	for (unsigned int i = 0; i < rounds; i++)
		__asm__ volatile(".rept %c1\n\tadd %0, %0, %0\n\t.endr"
				 : "+r"(x)
				 : "i"(ARCH_ADDS));
}

/* x0 .. x30, SP, PC */
static const uint8_t dwarf_arm64[] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

const struct arch_ops arch_native = {
	.elf_machine = EM_AARCH64,
	.regs_mask = (1ULL << (PERF_REG_ARM64_LR + 1)) - 1, /* x0 .. x30 */
	.user_mask = (1ULL << (PERF_REG_ARM64_PC + 1)) - 1,
	.user_dwarf = dwarf_arm64,
	.dwarf_sp = 31,
	.dwarf_pc = 32,
	.decode = decode_arm64,
	.outcome = outcome_arm64,
	.add_in_turn = add_in_turn,
};

#else

static struct cpi_branch decode_unknown(const uint8_t *code, size_t n)
{
	(void)code;
	(void)n;
	return (struct cpi_branch){ .kind = CPI_BRANCH_UNKNOWN };
}

static enum cpi_outcome outcome_unknown(struct cpi_branch branch, const uint64_t *regs)
{
	(void)branch;
	(void)regs;
	return CPI_OUTCOME_UNREADABLE;
}

const struct arch_ops arch_native = {
	.decode = decode_unknown,
	.outcome = outcome_unknown,
};

#endif
