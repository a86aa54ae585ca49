/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_uop.c - micro-ops, as all machines' translations make them
 */
#include "config.h"

#include "analysis/translate/translate_machine.h"

struct cpi_uop *translated_add(struct translated *out, unsigned int op,
			       unsigned int size, bool *failed)
{
	struct cpi_uop *u;

	if (out->nr >= TRANSLATED_MOST) {
		*failed = true;
		out->nr--;
	}
	u = &out->uop[out->nr];
	*u = (struct cpi_uop){
		.op = (uint8_t)op,
		.dst = CPI_REG_NONE,
		.left = CPI_REG_ZERO,
		.src = CPI_REG_ZERO,
		.address =
			(uint16_t)(CPI_REG_ZERO | CPI_REG_ZERO << 6 | (size & 3) << 14),
		.flags = out->nr ? CPI_UOP_MORE : 0,
	};
	uop_src_size(u, size);
	out->nr++;
	return u;
}

void uop_src_size(struct cpi_uop *u, unsigned int size)
{
	u->flags &= (uint16_t) ~(3u << CPI_UOP_SOURCE_SHIFT);
	u->flags |= (uint16_t)((size & 3) << CPI_UOP_SOURCE_SHIFT);
}

void uop_src_imm(struct cpi_uop *u, int32_t value)
{
	u->flags |= CPI_UOP_SRC_IMM;
	u->imm = value;
}

void uop_base(struct cpi_uop *u, unsigned int reg)
{
	u->address = (uint16_t)((u->address & ~63u) | reg);
}

void uop_index(struct cpi_uop *u, unsigned int reg, unsigned int scale)
{
	u->address &= (uint16_t) ~(63u << 6 | 3u << 12);
	u->address |= (uint16_t)(reg << 6 | scale << 12);
}
