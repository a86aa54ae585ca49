/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64_operand.c - an instruction's operands as a micro-op's
 *
 * Zydis numbers the registers of each class as the machine does, so one addition turns
 * most of them into micro-op registers.
 */
#include "config.h"

#include "analysis/translate/translate_x86_64.h"

struct cpi_uop *x86_add(struct x86 *x, unsigned int op, unsigned int size)
{
	return translated_add(x->out, op, size, &x->failed);
}

bool x86_is_memory(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool x86_is_register(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

int x86_gpr(const ZydisDecodedOperand *o, bool *high)
{
	const ZydisRegister r = o->reg.value;

	*high = false;
	if (!x86_is_register(o))
		return -1;
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8:
		if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH) {
			*high = true;
			return r - ZYDIS_REGISTER_AH;
		}
		return ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(
			ZYDIS_MACHINE_MODE_LONG_64, r));
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return ZydisRegisterGetId(r);
	default:
		return -1;
	}
}

int x86_vector(const ZydisDecodedOperand *o)
{
	if (!x86_is_register(o))
		return -1;
	switch (ZydisRegisterGetClass(o->reg.value)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return ZydisRegisterGetId(o->reg.value);
	default:
		return -1;
	}
}

int x86_mask(const ZydisDecodedOperand *o)
{
	if (!x86_is_register(o) ||
	    ZydisRegisterGetClass(o->reg.value) != ZYDIS_REGCLASS_MASK)
		return -1;
	return CPI_REG_K + ZydisRegisterGetId(o->reg.value);
}

bool x86_same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
	return x86_is_register(a) && x86_is_register(b) && a->reg.value == b->reg.value;
}

unsigned int x86_size(struct x86 *x, const ZydisDecodedOperand *o)
{
	switch (o->size) {
	case 8:
		return 0;
	case 16:
		return 1;
	case 32:
		return 2;
	case 64:
		return 3;
	default:
		x->failed = true;
		return 0;
	}
}

/* log2 of a scale. */
static unsigned int scale_of(const ZydisDecodedOperand *o)
{
	return o->mem.scale == 8   ? 3
	       : o->mem.scale == 4 ? 2
	       : o->mem.scale == 2 ? 1
				   : 0;
}

static bool is_gpr64(ZydisRegister r)
{
	return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64;
}

void x86_memory(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		int32_t offset)
{
	int64_t disp = offset;
	bool thread = o->mem.segment == ZYDIS_REGISTER_FS;

	if ((o->mem.type != ZYDIS_MEMOP_TYPE_MEM &&
	     o->mem.type != ZYDIS_MEMOP_TYPE_AGEN) ||
	    o->mem.segment == ZYDIS_REGISTER_GS || x->in->address_width != 64)
		goto fail;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		thread = false; /* lea's address is without the segment */
	if (o->mem.disp.has_displacement)
		disp += o->mem.disp.value;
	if (o->mem.base == ZYDIS_REGISTER_RIP) {
		uop_base(u, CPI_REG_PC);
		disp += x->in->length;
	} else if (is_gpr64(o->mem.base)) {
		uop_base(u, ZydisRegisterGetId(o->mem.base));
	} else if (o->mem.base != ZYDIS_REGISTER_NONE) {
		goto fail;
	} else if (thread) {
		uop_base(u, CPI_REG_THREAD);
		thread = false;
	}
	if (is_gpr64(o->mem.index)) {
		if (thread)
			goto fail;
		uop_index(u, ZydisRegisterGetId(o->mem.index), scale_of(o));
	} else if (o->mem.index != ZYDIS_REGISTER_NONE) {
		goto fail;
	} else if (thread) {
		uop_index(u, CPI_REG_THREAD, 0);
	}
	if (disp != (int32_t)disp)
		goto fail;
	u->disp = (int32_t)disp;
	return;
fail:
	x->failed = true;
}

void x86_left(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o)
{
	bool high;
	int reg = x86_gpr(o, &high);

	if (x86_is_memory(o)) {
		u->flags |= CPI_UOP_LEFT_MEM;
		x86_memory(x, u, o, 0);
		return;
	}
	if (reg < 0)
		x->failed = true;
	u->left = (uint8_t)reg;
	if (high)
		u->flags |= CPI_UOP_HIGH;
}

void x86_src(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o)
{
	bool high;
	int reg = x86_gpr(o, &high);
	int64_t value;

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		value = o->imm.is_signed ? o->imm.value.s : (int64_t)o->imm.value.u;
		if (value != (int32_t)value &&
		    (cpi_uop_size(u) == 3 || value != (uint32_t)value))
			x->failed = true;
		uop_src_imm(u, (int32_t)value);
		uop_src_size(u, cpi_uop_size(u));
		return;
	}
	uop_src_size(u, x86_size(x, o));
	if (x86_is_memory(o)) {
		u->flags |= CPI_UOP_SRC_MEM;
		x86_memory(x, u, o, 0);
		return;
	}
	if (reg < 0)
		x->failed = true;
	u->src = (uint8_t)reg;
	if (high)
		u->flags |= CPI_UOP_SRC_HIGH;
}

void x86_dst(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o)
{
	bool high;
	int reg = x86_gpr(o, &high);

	if (x86_is_memory(o)) {
		u->flags |= CPI_UOP_STORE;
		x86_memory(x, u, o, 0);
		return;
	}
	if (reg < 0)
		x->failed = true;
	u->dst = (uint8_t)reg;
	if (high)
		u->flags |= CPI_UOP_HIGH;
}

/* The register of a lane, or -1 if o is no vector register. */
static int lane_register(const ZydisDecodedOperand *o, unsigned int lane)
{
	int vector = x86_vector(o);

	if (vector < 0)
		return -1;
	return lane < 4 ? CPI_REG_LANE(vector, (int)lane) : CPI_REG_UNKNOWN;
}

void x86_lane_left(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		   unsigned int lane)
{
	int reg = lane_register(o, lane);

	if (reg < 0)
		x->failed = true;
	u->left = (uint8_t)reg;
}

void x86_lane_src(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		  unsigned int lane)
{
	int reg = lane_register(o, lane);

	if (x86_is_memory(o)) {
		u->flags |= CPI_UOP_SRC_MEM;
		x86_memory(x, u, o, (int32_t)(8 * lane));
		return;
	}
	if (reg < 0)
		x->failed = true;
	u->src = (uint8_t)reg;
}

void x86_lane_dst(struct x86 *x, struct cpi_uop *u, const ZydisDecodedOperand *o,
		  unsigned int lane)
{
	int reg = lane_register(o, lane);

	if (x86_is_memory(o)) {
		u->flags |= CPI_UOP_STORE;
		x86_memory(x, u, o, (int32_t)(8 * lane));
		return;
	}
	if (reg < 0)
		x->failed = true;
	u->dst = (uint8_t)(lane < 4 ? reg : CPI_REG_NONE);
}

bool x86_clears_upper(const struct x86 *x)
{
	return x->in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
	       x->in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
}
