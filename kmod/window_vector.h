/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_vector.h - micro-ops on vectors, 64 bits at a time
 *
 * Part of kmod/window.h. String functions of libraries decide their jumps by vector
 * compares, so these must be exact. A compare computes all elements of a word at once,
 * with each element's result in its top bit.
 */
#ifndef CPI_KMOD_WINDOW_VECTOR_H
#define CPI_KMOD_WINDOW_VECTOR_H

#include "kmod/window_alu.h"

/* The top bit of each element; size is log2 of its bytes. */
CPI_WINDOW_INLINE uint64_t cpi_top_bits(unsigned int size)
{
	switch (size & 3) {
	case 0:
		return 0x8080808080808080ULL;
	case 1:
		return 0x8000800080008000ULL;
	case 2:
		return 0x8000000080000000ULL;
	default:
		return 0x8000000000000000ULL;
	}
}

/* Sets all bits of each element whose top bit is set in top. */
CPI_WINDOW_INLINE uint64_t cpi_whole_elements(uint64_t top, unsigned int size)
{
	return (top >> ((8u << (size & 3)) - 1)) * cpi_size_bits(size);
}

CPI_WINDOW_INLINE uint64_t cpi_elements_zero(uint64_t value, uint64_t top)
{
	return ~(((value & ~top) + ~top) | value) & top;
}

CPI_WINDOW_INLINE uint64_t cpi_elements_subtract(uint64_t a, uint64_t b, uint64_t top)
{
	return ((a | top) - (b & ~top)) ^ ((a ^ ~b) & top);
}

/*
 * Compares elements as unsigned numbers; as signed ones if the caller has inverted all
 * top bits.
 */
CPI_WINDOW_INLINE uint64_t cpi_elements_less(uint64_t a, uint64_t b, uint64_t top)
{
	const uint64_t difference = cpi_elements_subtract(a, b, top);

	return ((~a & b) | (~(a ^ b) & difference)) & top;
}

/* The top bits of elements, side by side. */
CPI_WINDOW_INLINE uint64_t cpi_gather_bits(uint64_t top, unsigned int size)
{
	switch (size & 3) {
	case 0:
		return (top >> 7) * 0x0102040810204080ULL >> 56;
	case 1:
		return (top >> 15) * 0x0001000200040008ULL >> 48 & 15;
	case 2:
		return (top >> 31 & 1) | (top >> 62 & 2);
	default:
		return top >> 63;
	}
}

CPI_WINDOW_INLINE uint64_t cpi_elements_compare(uint64_t a, uint64_t b,
						unsigned int what, uint64_t top)
{
	uint64_t holds;

	if (what >= CPI_KCMP_TEST)
		return cpi_elements_zero(a & b, top) ^ (what & 1 ? 0 : top);
	if (!(what & CPI_KCMP_UNSIGNED)) {
		a ^= top;
		b ^= top;
	}
	switch (what & 3) {
	case CPI_KCMP_EQ:
		holds = cpi_elements_zero(a ^ b, top);
		break;
	case CPI_KCMP_LT:
		holds = cpi_elements_less(a, b, top);
		break;
	case CPI_KCMP_LE:
		holds = cpi_elements_less(b, a, top) ^ top;
		break;
	default:
		holds = 0;
		break;
	}
	return what & 4 ? holds ^ top : holds;
}

/* Adds bits to reg[dst], from bit imm & 63 on; at bit 0 it replaces the register. */
CPI_WINDOW_INLINE void cpi_window_add_bits(struct cpi_window_state *s,
					   const struct cpi_uop *u,
					   struct cpi_window_op *o, uint64_t bits,
					   int unknown)
{
	const unsigned int first = (uint32_t)u->imm & 63;

	o->size = 3;
	o->result = bits << first;
	o->unknown = unknown ? 1u << (first >> 3) : 0;
	if (first) {
		o->result |= s->reg[u->dst];
		o->unknown |= s->unknown[u->dst];
	}
}

CPI_WINDOW_INLINE void cpi_window_compare(struct cpi_window_state *s,
					  const struct cpi_uop *u,
					  struct cpi_window_op *o)
{
	const uint32_t imm = (uint32_t)u->imm;
	const unsigned int size = imm >> 8 & 3, mask = imm >> 24 & 63;
	uint64_t bits, keep = 0xff;
	uint32_t unknown = o->unknown_a | o->unknown_b;

	bits = cpi_gather_bits(cpi_elements_compare(o->a, o->b, imm >> 16 & 31,
						    cpi_top_bits(size)),
			       size);
	if (size && unknown)
		unknown = 0xff;
	if (mask) {
		keep = s->reg[mask] >> (imm & 63);
		unknown = s->unknown[mask] ? 0xff : unknown & (uint32_t)keep;
	}
	cpi_window_add_bits(s, u, o, bits & keep, unknown != 0);
}

CPI_WINDOW_INLINE void cpi_window_duplicate(const struct cpi_uop *u,
					    struct cpi_window_op *o)
{
	const unsigned int size = cpi_uop_source_size(u);

	o->result = (cpi_top_bits(size) >> ((8u << size) - 1)) * o->b;
	o->unknown = o->unknown_b;
	cpi_window_mix(o);
}

/*
 * Moves the elements of half apart, so that every second element of the result is free.
 */
CPI_WINDOW_INLINE uint64_t cpi_spread_elements(uint64_t half, unsigned int size)
{
	if (size < 2)
		half = (half | half << 16) & 0x0000ffff0000ffffULL;
	if (size < 1)
		half = (half | half << 8) & 0x00ff00ff00ff00ffULL;
	return half;
}

CPI_WINDOW_INLINE void cpi_window_unpack(const struct cpi_uop *u,
					 struct cpi_window_op *o)
{
	const unsigned int size = u->imm & 3, shift = u->imm & 4 ? 32 : 0;
	const unsigned int beside = 8u << size & 63; /* no shift is by 64 */
	const uint64_t low = 0xffffffffULL;

	o->result = cpi_spread_elements(o->a >> shift & low, size) |
		    cpi_spread_elements(o->b >> shift & low, size) << beside;
	cpi_window_mix(o);
}

/* The lower halves of elements, side by side; size is that of the halves. */
CPI_WINDOW_INLINE uint64_t cpi_join_halves(uint64_t value, unsigned int size)
{
	if (size < 1) {
		value &= 0x00ff00ff00ff00ffULL;
		value |= value >> 8;
	}
	if (size < 2) {
		value &= 0x0000ffff0000ffffULL;
		value |= value >> 16;
	}
	return value & 0xffffffffULL;
}

CPI_WINDOW_INLINE void cpi_window_narrow(const struct cpi_uop *u,
					 struct cpi_window_op *o)
{
	const unsigned int size = u->imm & 3, shift = u->imm >> 8 & 63;

	o->result = cpi_join_halves(o->a >> shift, size) |
		    cpi_join_halves(o->b >> shift, size) << 32;
	cpi_window_mix(o);
}

CPI_WINDOW_INLINE void cpi_window_shuffle(const struct cpi_window_state *s,
					  const struct cpi_uop *u,
					  struct cpi_window_op *o)
{
	const unsigned int src = u->src & 0xfe, low = u->imm & 3,
			   high = u->imm >> 2 & 3;
	unsigned int low_reg = src + (low >> 1), high_reg = src + (high >> 1);

	CPI_WINDOW_HIDE(low_reg);
	CPI_WINDOW_HIDE(high_reg);
	low_reg &= 0xff;
	high_reg &= 0xff;
	o->result = (s->reg[low_reg] >> 32 * (low & 1) & 0xffffffffULL) |
		    s->reg[high_reg] >> 32 * (high & 1) << 32;
	o->unknown = s->unknown[low_reg] | s->unknown[high_reg];
	cpi_window_mix(o);
}

CPI_WINDOW_INLINE void cpi_window_ternary(const struct cpi_window_state *s,
					  const struct cpi_uop *u,
					  struct cpi_window_op *o)
{
	const uint64_t c = s->reg[u->dst];
	unsigned int i;

	CPI_WINDOW_UNROLL
	for (i = 0; i < 8; i++)
		if (u->imm >> i & 1)
			o->result |= (i & 4 ? c : ~c) & (i & 2 ? o->a : ~o->a) &
				     (i & 1 ? o->b : ~o->b);
	o->unknown |= s->unknown[u->dst];
}

/* Takes each byte from b (memory) if its bit in the mask is set, else from a. */
CPI_WINDOW_INLINE void cpi_window_select(const struct cpi_window_state *s,
					 const struct cpi_uop *u,
					 struct cpi_window_op *o)
{
	const uint32_t chosen = s->reg[u->src] >> (u->imm & 63) & 0xff;
	const uint64_t bits = cpi_byte_bits(chosen);

	o->result = (o->b & bits) | (o->a & ~bits);
	o->unknown = (o->unknown_b & chosen) | (o->unknown_a & ~chosen);
	if (s->unknown[u->src])
		o->unknown = 0xff;
}

/* Converts flags of ucomisd to those of fcmp. */
CPI_WINDOW_INLINE uint32_t cpi_flags_of_fcmp(uint32_t flags)
{
	if (flags & CPI_FLAG_P)
		return CPI_FLAG_C | CPI_FLAG_O;
	if (flags & CPI_FLAG_Z)
		return CPI_FLAG_Z | CPI_FLAG_C;
	return flags & CPI_FLAG_C ? CPI_FLAG_S : CPI_FLAG_C;
}

/* Compares numbers as ucomiss and ucomisd do, or fcmp, by their bits. */
CPI_WINDOW_INLINE void cpi_window_compare_floats(struct cpi_window_state *s,
						 const struct cpi_uop *u,
						 struct cpi_window_op *o)
{
	const unsigned int shift = o->size == 3 ? 0 : 32;
	const uint64_t infinity =
		o->size == 3 ? 0x7ff0000000000000ULL : 0x7f80000000000000ULL;
	const uint64_t sign = 1ULL << 63;
	uint64_t a = o->a << shift, b = o->b << shift;
	uint32_t flags = 0;
	int64_t x, y;

	if ((a & ~sign) > infinity || (b & ~sign) > infinity) {
		flags = CPI_FLAG_Z | CPI_FLAG_P | CPI_FLAG_C;
	} else {
		x = a & sign ? -(int64_t)(a & ~sign) : (int64_t)a;
		y = b & sign ? -(int64_t)(b & ~sign) : (int64_t)b;
		if (x == y)
			flags = CPI_FLAG_Z;
		else if (x < y)
			flags = CPI_FLAG_C;
	}
	if (u->imm)
		flags = cpi_flags_of_fcmp(flags);
	cpi_window_set_flags(s, u, flags, CPI_FLAG_ALL, o->unknown ? CPI_FLAG_ALL : 0);
}

/* Flags of kortest. */
CPI_WINDOW_INLINE void cpi_window_test_masks(struct cpi_window_state *s,
					     const struct cpi_uop *u,
					     struct cpi_window_op *o)
{
	const uint64_t any = o->a | o->b;
	uint32_t flags = any ? 0 : CPI_FLAG_Z;

	if (any == cpi_size_bits(o->size))
		flags |= CPI_FLAG_C;
	cpi_window_set_flags(s, u, flags, CPI_FLAG_ALL,
			     o->unknown ? CPI_FLAG_Z | CPI_FLAG_C : 0);
}

/*
 * Marks the upper halves of vectors as unknown (after vzeroupper they are 0, but this
 * is never needed).
 */
CPI_WINDOW_INLINE void cpi_window_forget_upper(struct cpi_window_state *s)
{
	unsigned int i;

	CPI_WINDOW_UNROLL
	for (i = 0; i < 16; i++) {
		s->unknown[CPI_REG_LANE(i, 2)] = 0xff;
		s->unknown[CPI_REG_LANE(i, 3)] = 0xff;
	}
}

CPI_WINDOW_INLINE void cpi_window_vector(struct cpi_window_state *s,
					 const struct cpi_uop *u,
					 struct cpi_window_op *o)
{
	const unsigned int size = u->imm & 3;
	const uint64_t top = cpi_top_bits(size);
	uint64_t holds;

	switch (u->op) {
	case CPI_UOP_VCMPEQ:
		holds = cpi_elements_zero(o->a ^ o->b, top);
		o->result = cpi_whole_elements(holds, size);
		break;
	case CPI_UOP_VCMPGT:
		holds = cpi_elements_less(o->b ^ top, o->a ^ top, top);
		o->result = cpi_whole_elements(holds, size);
		break;
	case CPI_UOP_VMINU:
	case CPI_UOP_VMAXU:
		holds = cpi_whole_elements(cpi_elements_less(o->a, o->b, top), size);
		holds ^= u->op == CPI_UOP_VMAXU ? ~0ULL : 0;
		o->result = (o->a & holds) | (o->b & ~holds);
		break;
	case CPI_UOP_VADD:
		o->result = ((o->a & ~top) + (o->b & ~top)) ^ ((o->a ^ o->b) & top);
		break;
	default:
		o->result = cpi_elements_subtract(o->a, o->b, top);
		break;
	}
	if (size)
		cpi_window_mix(o);
}

#endif
