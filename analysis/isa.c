/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding by capstone. What it does not know is shown as "(bad)" rather than
 * guessed at.
 */
#include "config.h"

#include "analysis/isa.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct isa_ops {
	cs_arch arch;
	cs_mode mode;
	unsigned int step;     /* what "(bad)" is long */
	unsigned int max_size; /* of an instruction */
	/* The operand that a direct jump or call goes to. */
	bool (*target)(const cs_detail *detail, uint64_t *target);
};

struct isa {
	const struct isa_ops *ops;
	csh handle;
	cs_insn *insn; /* decoded into, again and again */
};

static bool target_x86_64(const cs_detail *detail, uint64_t *target)
{
	const cs_x86 *x = &detail->x86;

	if (x->op_count != 1 || x->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x->operands[0].imm;
	return true;
}

/* The last operand, behind what cbz and tbz test. */
static bool target_aarch64(const cs_detail *detail, uint64_t *target)
{
	const cs_arm64 *a = &detail->arm64;

	if (!a->op_count || a->operands[a->op_count - 1].type != ARM64_OP_IMM)
		return false;
	*target = (uint64_t)a->operands[a->op_count - 1].imm;
	return true;
}

static const struct isa_ops machines[] = {
	[MACHINE_X86_64] = {
		.arch = CS_ARCH_X86,
		.mode = CS_MODE_64,
		.step = 1,
		.max_size = 15,
		.target = target_x86_64,
	},
	[MACHINE_AARCH64] = {
		.arch = CS_ARCH_ARM64,
		.mode = CS_MODE_LITTLE_ENDIAN,
		.step = 4,
		.max_size = 4,
		.target = target_aarch64,
	},
};

int isa_open(enum machine machine, struct isa **out)
{
	struct isa *isa;

	if (machine == MACHINE_UNKNOWN)
		return -CPI_EFORMAT;
	isa = calloc(1, sizeof(*isa));
	if (!isa)
		return -ENOMEM;
	isa->ops = &machines[machine];
	if (cs_open(isa->ops->arch, isa->ops->mode, &isa->handle) != CS_ERR_OK ||
	    cs_option(isa->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK) {
		isa_close(isa);
		return -CPI_EFORMAT;
	}
	isa->insn = cs_malloc(isa->handle);
	if (!isa->insn) {
		isa_close(isa);
		return -ENOMEM;
	}
	*out = isa;
	return 0;
}

void isa_close(struct isa *isa)
{
	if (!isa)
		return;
	if (isa->insn)
		cs_free(isa->insn, 1);
	if (isa->handle)
		cs_close(&isa->handle);
	free(isa);
}

static bool decode(struct isa *isa, const uint8_t *code, size_t size, uint64_t address)
{
	return cs_disasm_iter(isa->handle, &code, &size, &address, isa->insn);
}

/* Whether more bytes would make an instruction of code[0..size). */
static bool is_cut(struct isa *isa, const uint8_t *code, size_t size, uint64_t address)
{
	uint8_t more[16] = { 0 };

	if (size >= isa->ops->max_size)
		return false;
	memcpy(more, code, size);
	return decode(isa, more, isa->ops->max_size, address) && isa->insn->size > size;
}

static uint64_t target_of(struct isa *isa)
{
	uint64_t target = 0;

	if (!cs_insn_group(isa->handle, isa->insn, CS_GRP_JUMP) &&
	    !cs_insn_group(isa->handle, isa->insn, CS_GRP_CALL))
		return 0;
	return isa->ops->target(isa->insn->detail, &target) ? target : 0;
}

int isa_decode(struct isa *isa, const uint8_t *code, size_t size, uint64_t address,
	       struct insn *out)
{
	if (!size)
		return -CPI_ETRUNCATED;
	if (decode(isa, code, size, address)) {
		*out = (struct insn){ .address = address,
				      .size = isa->insn->size,
				      .code = code,
				      .target = target_of(isa) };
		return 0;
	}
	if (size < isa->ops->step || is_cut(isa, code, size, address))
		return -CPI_ETRUNCATED;
	*out = (struct insn){ .address = address,
			      .size = isa->ops->step,
			      .code = code,
			      .kind = INSN_BAD };
	return 0;
}

char *isa_text(struct isa *isa, const struct insn *insn, char out[ISA_TEXT_SIZE])
{
	const cs_insn *cs = isa->insn;

	if (insn->kind & INSN_BAD ||
	    !decode(isa, insn->code, insn->size, insn->address))
		snprintf(out, ISA_TEXT_SIZE, "(bad)");
	else
		snprintf(out, ISA_TEXT_SIZE, cs->op_str[0] ? "%-6s %s" : "%s",
			 cs->mnemonic, cs->op_str);
	return out;
}
