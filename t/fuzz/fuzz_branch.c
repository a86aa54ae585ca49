/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_branch.c - any bytes are decoded as a jump or not, and any jump is decided
 *
 * The first 24 bytes are flags and two registers, the rest is code.
 */
#include "config.h"

#include <string.h>

#include "abi/branch_arm64.h"
#include "abi/branch_x86_64.h"
#include "t/fuzz/fuzz.h"

static void check_arm64(const uint8_t *code, const uint64_t value[3])
{
	uint32_t insn[2];
	struct cpi_branch b;

	memcpy(insn, code, sizeof(insn));
	b = cpi_branch_decode_arm64(insn[0], insn[1]);
	fuzz_check(b.kind != CPI_BRANCH_UNKNOWN);
	fuzz_check(cpi_branch_outcome_arm64(b, value[1], value[2], value[0]) !=
		   CPI_OUTCOME_UNREADABLE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t value[3];
	enum cpi_outcome outcome;
	struct cpi_branch b;

	if (size < sizeof(value))
		return 0;
	memcpy(value, data, sizeof(value));
	data += sizeof(value);
	size -= sizeof(value);
	b = cpi_branch_decode_x86_64(data, size);
	outcome = cpi_branch_outcome_x86_64(b, value[0], value[1], value[2]);
	fuzz_check((b.kind == CPI_BRANCH_UNKNOWN) ==
		   (outcome == CPI_OUTCOME_UNREADABLE));
	fuzz_check((b.kind == CPI_BRANCH_NOT) == (outcome == CPI_OUTCOME_NONE));
	if (size >= 8)
		check_arm64(data, value);
	return 0;
}
