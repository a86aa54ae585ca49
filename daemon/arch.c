/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/arch.h"

#include <asm/perf_regs.h>
#include <string.h>

#if defined(__x86_64__)

enum { REGS_CX, REGS_FLAGS };

static struct cpi_branch decode_x86_64(const uint8_t *code, size_t n)
{
	return cpi_branch_decode_x86_64(code, n);
}

static enum cpi_outcome outcome_x86_64(struct cpi_branch branch, const uint64_t *regs)
{
	return cpi_branch_outcome_x86_64(branch, regs[REGS_FLAGS], regs[REGS_CX]);
}

const struct arch_ops arch_native = {
	.regs_mask = 1ULL << PERF_REG_X86_CX | 1ULL << PERF_REG_X86_FLAGS,
	.decode = decode_x86_64,
	.outcome = outcome_x86_64,
};

#elif defined(__aarch64__)

static struct cpi_branch decode_arm64(const uint8_t *code, size_t n)
{
	uint32_t insn;

	if (n < sizeof(insn))
		return (struct cpi_branch){ .kind = CPI_BRANCH_UNKNOWN };
	memcpy(&insn, code, sizeof(insn));
	return cpi_branch_decode_arm64(insn);
}

/* perf hands out no PSTATE here: b.cond stays unreadable, cbz and tbz do not. */
static enum cpi_outcome outcome_arm64(struct cpi_branch branch, const uint64_t *regs)
{
	if (branch.kind == CPI_BRANCH_ARM64_CC)
		return CPI_OUTCOME_UNREADABLE;
	return cpi_branch_outcome_arm64(branch, branch.arg < 31 ? regs[branch.arg] : 0,
					0);
}

const struct arch_ops arch_native = {
	.regs_mask = (1ULL << (PERF_REG_ARM64_LR + 1)) - 1, /* x0 .. x30 */
	.decode = decode_arm64,
	.outcome = outcome_arm64,
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
