/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_truth.c - which data an x86-64 instruction touches, from its registers
 */
#include "config.h"

#include "t/data_truth.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>

static bool is_gpr64(ZydisRegister r)
{
	return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64;
}

static bool is_data(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       o->mem.type == ZYDIS_MEMOP_TYPE_MEM && o->actions &&
	       !(o->mem.base == ZYDIS_REGISTER_RSP &&
		 o->mem.index == ZYDIS_REGISTER_NONE &&
		 o->mem.segment != ZYDIS_REGISTER_FS);
}

static bool is_left_out(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_PREFETCH ||
	       in->meta.category == ZYDIS_CATEGORY_NOP ||
	       in->meta.category == ZYDIS_CATEGORY_WIDENOP || in->address_width != 64 ||
	       in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				 ZYDIS_ATTRIB_HAS_REPNE);
}

static uint64_t address_of(const ZydisDecodedInstruction *in,
			   const ZydisDecodedOperand *o, uint64_t pc,
			   const struct data_truth_regs *r)
{
	uint64_t address =
		o->mem.disp.has_displacement ? (uint64_t)o->mem.disp.value : 0;

	if (o->mem.base == ZYDIS_REGISTER_RIP)
		address += pc + in->length;
	else if (is_gpr64(o->mem.base))
		address += r->gpr[ZydisRegisterGetId(o->mem.base)];
	if (is_gpr64(o->mem.index))
		address += r->gpr[ZydisRegisterGetId(o->mem.index)] * o->mem.scale;
	return o->mem.segment == ZYDIS_REGISTER_FS ? address + r->fs_base : address;
}

int data_truth(const uint8_t *code, size_t size, uint64_t pc,
	       const struct data_truth_regs *r, uint64_t address[DATA_TRUTH_MOST])
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	int nr = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, size, &in, op)) ||
	    is_left_out(&in))
		return 0;
	for (unsigned int i = 0; i < in.operand_count; i++) {
		if (!is_data(&op[i]) || op[i].mem.segment == ZYDIS_REGISTER_GS)
			continue;
		if (nr < DATA_TRUTH_MOST)
			address[nr++] = address_of(&in, &op[i], pc, r);
	}
	return nr;
}
