/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_x86_64_vector.c - vectors, a 64-bit lane at a time
 *
 * Four lanes are tracked, so the upper half of a 512-bit vector is unknown. Lanes that
 * change places go through temporary registers, because the result's register may also
 * be an operand.
 */
#include "config.h"

#include "analysis/translate/translate_x86_64.h"

#define LANES 4

static unsigned int lanes_of(const ZydisDecodedOperand *o)
{
	const unsigned int nr = o->size / 64;

	return nr < LANES ? nr : LANES;
}

/* The first source, which is the result's register in two-operand forms. */
static const ZydisDecodedOperand *first_source(const struct x86 *x,
					       unsigned int sources)
{
	return x->nr > sources ? x->op[1] : x->op[0];
}

/* After a lane's micro-op is made: what writing the lowest one clears above. */
static void clear_above(const struct x86 *x, struct cpi_uop *u, unsigned int lane)
{
	if (lane == 0 && x86_vector(x->op[0]) >= 0 && x->op[0]->size <= 128 &&
	    x86_clears_upper(x))
		u->flags |= CPI_UOP_ZERO_UPPER;
}

/* dst's lane = a register's value */
static void put_lane(struct x86 *x, unsigned int lane, unsigned int reg)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, 3);

	u->src = (uint8_t)reg;
	x86_lane_dst(x, u, x->op[0], lane);
	clear_above(x, u, lane);
}

/* A temporary register = a lane of o. */
static void get_lane(struct x86 *x, unsigned int temp, const ZydisDecodedOperand *o,
		     unsigned int lane)
{
	struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, 3);

	u->dst = (uint8_t)(CPI_REG_TEMP + temp);
	x86_lane_src(x, u, o, lane);
}

/* Bytes that a mask chooses: loads and stores. */
static void move_masked(struct x86 *x, unsigned int lanes)
{
	const bool stores = x86_is_memory(x->op[0]);
	struct cpi_uop *u;

	for (unsigned int lane = 0; lane < lanes; lane++) {
		u = x86_add(x, stores ? CPI_UOP_VSTORE : CPI_UOP_VSELECT, 3);
		x86_lane_dst(x, u, x->op[0], lane);
		if (stores)
			x86_lane_left(x, u, x->op[1], lane);
		else if (!x->zeroing)
			x86_lane_left(x, u, x->op[0], lane);
		if (!stores)
			x86_lane_src(x, u, x->op[1], lane);
		u->src = (uint8_t)x->mask;
		u->imm = (int32_t)(8 * lane);
		clear_above(x, u, lane);
	}
}

/* Moves of whole vectors; arg: 0 if a mask would be one of bytes. */
void x86_vmov(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int lanes = x->op[0]->size / 64;
	const bool memory = x86_is_memory(x->op[0]) || x86_is_memory(x->op[1]);

	if (x->mask && arg == 0 && memory && lanes <= LANES) {
		move_masked(x, lanes);
		return;
	}
	if (x->mask) {
		x86_unknown(x, op, arg);
		return;
	}
	for (unsigned int lane = 0; lane < lanes; lane++) {
		struct cpi_uop *u;

		if (lane >= LANES && !x86_is_memory(x->op[0]))
			break;
		u = x86_add(x, CPI_UOP_MOV, 3);
		x86_lane_dst(x, u, x->op[0], lane);
		x86_lane_src(x, u, x->op[1], lane);
		clear_above(x, u, lane);
	}
}

/* movd, movq, movss, movsd: op is 1 where the rest of a register becomes 0 even if
 * the source is one; arg: log2 of the size.
 */
void x86_vmov_scalar(struct x86 *x, unsigned int op, unsigned int arg)
{
	const bool from_vector = x86_vector(x->op[1]) >= 0;
	const bool to_vector = x86_vector(x->op[0]) >= 0;
	struct cpi_uop *u;

	if (x->nr > 2 || (from_vector && to_vector && arg < 3)) {
		x86_unknown(x, op, arg);
		return;
	}
	u = x86_add(x, CPI_UOP_MOV, to_vector ? 3 : arg);
	if (from_vector)
		x86_lane_src(x, u, x->op[1], 0);
	else
		x86_src(x, u, x->op[1]);
	uop_src_size(u, arg);
	if (!to_vector) {
		x86_dst(x, u, x->op[0]);
		return;
	}
	x86_lane_dst(x, u, x->op[0], 0);
	clear_above(x, u, 0);
	if (op || !from_vector)
		u->flags |= CPI_UOP_ZERO_NEXT;
}

/* movlps, movhps, movlhps, movhlps; arg: the lane, the other one of a source. */
void x86_vmov_half(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u;

	if (x->nr > 2) {
		x86_unknown(x, op, arg);
		return;
	}
	u = x86_add(x, CPI_UOP_MOV, 3);
	if (x86_is_memory(x->op[0]))
		x86_dst(x, u, x->op[0]);
	else
		x86_lane_dst(x, u, x->op[0], arg);
	if (x86_is_memory(x->op[1]))
		x86_src(x, u, x->op[1]);
	else
		x86_lane_src(x, u, x->op[1], x86_is_memory(x->op[0]) ? arg : arg ^ 1);
}

/* What a register gives with itself does not depend on its value. */
static bool cancels(unsigned int op)
{
	return op == CPI_UOP_XOR || op == CPI_UOP_ANDN || op == CPI_UOP_VCMPEQ ||
	       op == CPI_UOP_VCMPGT || op == CPI_UOP_VSUB;
}

/* Lane by lane; arg: log2 of the element's size */
void x86_vbinary(struct x86 *x, unsigned int op, unsigned int arg)
{
	const ZydisDecodedOperand *a = first_source(x, 2), *b = x->op[x->nr - 1];

	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane++) {
		struct cpi_uop *u = x86_add(x, op, 3);

		u->imm = (int32_t)arg;
		x86_lane_dst(x, u, x->op[0], lane);
		if (!(cancels(op) && x86_same_register(a, b))) {
			x86_lane_left(x, u, a, lane);
			x86_lane_src(x, u, b, lane);
		}
		clear_above(x, u, lane);
	}
}

/* pmovmskb and its like; arg: log2 of the element's size */
void x86_vmask(struct x86 *x, unsigned int op, unsigned int arg)
{
	for (unsigned int lane = 0; lane < lanes_of(x->op[1]); lane++) {
		struct cpi_uop *u = x86_add(x, op, 3);

		u->imm = (int32_t)CPI_MASK_IMM(lane * 8 >> arg, arg, 0, 0);
		x86_lane_src(x, u, x->op[1], lane);
		x86_dst(x, u, x->op[0]);
	}
}

/* arg: log2 of the element's size */
void x86_vdup(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, 3);

	u->dst = CPI_REG_TEMP;
	if (x86_vector(x->op[1]) >= 0)
		x86_lane_src(x, u, x->op[1], 0);
	else
		x86_src(x, u, x->op[1]);
	uop_src_size(u, arg);
	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane++)
		put_lane(x, lane, CPI_REG_TEMP);
}

/* op: 1 of the upper half of each 128 bits; arg: log2 of the element's size */
void x86_vunpack(struct x86 *x, unsigned int op, unsigned int arg)
{
	const ZydisDecodedOperand *a = first_source(x, 2), *b = x->op[x->nr - 1];

	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane += 2) {
		for (unsigned int half = 0; half < 2; half++) {
			struct cpi_uop *u = x86_add(x, CPI_UOP_VUNPACK, 3);

			u->dst = (uint8_t)(CPI_REG_TEMP + half);
			u->imm = (int32_t)(arg | half << 2);
			x86_lane_left(x, u, a, lane + op);
			x86_lane_src(x, u, b, lane + op);
		}
		put_lane(x, lane, CPI_REG_TEMP);
		put_lane(x, lane + 1, CPI_REG_TEMP + 1);
	}
}

/* punpcklqdq, punpckhqdq */
void x86_vunpack_quad(struct x86 *x, unsigned int op, unsigned int arg)
{
	const ZydisDecodedOperand *a = first_source(x, 2), *b = x->op[x->nr - 1];

	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane += 2) {
		get_lane(x, 0, a, lane + op);
		get_lane(x, 1, b, lane + op);
		put_lane(x, lane, CPI_REG_TEMP);
		put_lane(x, lane + 1, CPI_REG_TEMP + 1);
	}
}

/* pshufd */
void x86_vshuf(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int how = x->op[2]->imm.value.u & 0xff;

	if (x86_is_memory(x->op[1])) {
		x86_unknown(x, op, arg);
		return;
	}
	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane += 2) {
		for (unsigned int half = 0; half < 2; half++) {
			struct cpi_uop *u = x86_add(x, op, 3);

			u->dst = (uint8_t)(CPI_REG_TEMP + half);
			u->imm = (int32_t)(how >> 4 * half & 15);
			x86_lane_src(x, u, x->op[1], lane);
		}
		put_lane(x, lane, CPI_REG_TEMP);
		put_lane(x, lane + 1, CPI_REG_TEMP + 1);
	}
}

/* Two lanes from lane on = 16 of the 32 bytes of four registers, from byte on. */
static void align(struct x86 *x, unsigned int lane, const uint8_t reg[4],
		  unsigned int byte)
{
	const unsigned int shift = byte % 8 * 8;

	for (unsigned int half = 0; half < 2; half++) {
		const unsigned int i = byte / 8 + half;
		struct cpi_uop *u = x86_add(x, shift ? CPI_UOP_SHRD : CPI_UOP_MOV, 3);
		unsigned int low = i < 4 ? reg[i] : CPI_REG_ZERO;

		u->dst = (uint8_t)(CPI_REG_TEMP + half);
		if (shift) {
			u->left = (uint8_t)low;
			u->src = i + 1 < 4 ? reg[i + 1] : CPI_REG_ZERO;
			u->imm = (int32_t)shift;
		} else {
			u->src = (uint8_t)low;
		}
	}
	put_lane(x, lane, CPI_REG_TEMP);
	put_lane(x, lane + 1, CPI_REG_TEMP + 1);
}

/* palignr */
void x86_valign(struct x86 *x, unsigned int op, unsigned int arg)
{
	const ZydisDecodedOperand *a = first_source(x, 3), *b = x->op[x->nr - 2];
	const int high = x86_vector(a), low = x86_vector(b);

	if (low < 0 || high < 0) {
		x86_unknown(x, op, arg);
		return;
	}
	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane += 2) {
		const uint8_t from = (uint8_t)CPI_REG_LANE(low, lane);
		const uint8_t then = (uint8_t)CPI_REG_LANE(high, lane);
		const uint8_t reg[4] = { from, from + 1, then, then + 1 };

		align(x, lane, reg, x->op[x->nr - 1]->imm.value.u & 0xff);
	}
}

/* psrldq, pslldq; arg: 1 of the latter */
void x86_vshift_bytes(struct x86 *x, unsigned int op, unsigned int arg)
{
	const int vector = x86_vector(first_source(x, 2));
	unsigned int by = x->op[x->nr - 1]->imm.value.u & 0xff;

	if (vector < 0) {
		x86_unknown(x, op, arg);
		return;
	}
	if (by > 16)
		by = 16;
	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane += 2) {
		const uint8_t from = (uint8_t)CPI_REG_LANE(vector, lane);
		const uint8_t right[4] = { from, from + 1, CPI_REG_ZERO, CPI_REG_ZERO };
		const uint8_t left[4] = { CPI_REG_ZERO, CPI_REG_ZERO, from, from + 1 };

		align(x, lane, arg ? left : right, arg ? 16 - by : by);
	}
}

/* psrlq and psllq by a constant */
void x86_vshift(struct x86 *x, unsigned int op, unsigned int arg)
{
	const ZydisDecodedOperand *by = x->op[x->nr - 1], *from = first_source(x, 2);

	if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || x86_vector(from) < 0) {
		x86_unknown(x, op, arg);
		return;
	}
	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane++) {
		struct cpi_uop *u = x86_add(x, op, 3);

		x86_lane_dst(x, u, x->op[0], lane);
		if ((by->imm.value.u & 0xff) < 64) {
			x86_lane_left(x, u, from, lane);
			uop_src_imm(u, (int32_t)(by->imm.value.u & 0xff));
		}
		clear_above(x, u, lane);
	}
}

/* arg: log2 of the size */
void x86_comis(struct x86 *x, unsigned int op, unsigned int arg)
{
	struct cpi_uop *u = x86_add(x, op, arg);

	u->flags |= CPI_UOP_FLAGS;
	x86_lane_left(x, u, x->op[0], 0);
	x86_lane_src(x, u, x->op[1], 0);
}

void x86_vzeroupper(struct x86 *x, unsigned int op, unsigned int arg)
{
	x86_add(x, op, 3);
}

void x86_vternary(struct x86 *x, unsigned int op, unsigned int arg)
{
	for (unsigned int lane = 0; lane < lanes_of(x->op[0]); lane++) {
		struct cpi_uop *u = x86_add(x, op, 3);

		u->imm = (int32_t)(x->op[3]->imm.value.u & 0xff);
		x86_lane_dst(x, u, x->op[0], lane);
		x86_lane_left(x, u, x->op[1], lane);
		x86_lane_src(x, u, x->op[2], lane);
		clear_above(x, u, lane);
	}
}

/* vextracti128 and its like. The lowest lane comes last: it clears the upper ones. */
void x86_vextract(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int lanes = lanes_of(x->op[0]);
	const unsigned int from = (x->op[2]->imm.value.u & 3) * lanes;

	for (unsigned int lane = lanes; lane-- > 0;) {
		struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, 3);

		x86_lane_dst(x, u, x->op[0], lane);
		x86_lane_src(x, u, x->op[1], from + lane);
		clear_above(x, u, lane);
	}
}

/* vinserti128 and its like, of 256 bits */
void x86_vinsert(struct x86 *x, unsigned int op, unsigned int arg)
{
	const unsigned int at = (x->op[3]->imm.value.u & 1) * 2;

	if (x->op[0]->size != 256) {
		x86_unknown(x, op, arg);
		return;
	}
	get_lane(x, 0, x->op[2], 0);
	get_lane(x, 1, x->op[2], 1);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		struct cpi_uop *u = x86_add(x, CPI_UOP_MOV, 3);

		x86_lane_dst(x, u, x->op[0], lane);
		if (lane / 2 == at / 2)
			u->src = (uint8_t)(CPI_REG_TEMP + lane % 2);
		else
			x86_lane_src(x, u, x->op[1], lane);
	}
}
