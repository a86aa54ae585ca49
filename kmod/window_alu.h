/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_alu.h - micro-ops on integers, shifts, bits and flags
 *
 * Part of kmod/window.h. Each value has a mask of its unknown bytes, and each flag has
 * a bit. Flags that the manuals call undefined are unknown, whatever a CPU does.
 */
#ifndef CPI_KMOD_WINDOW_ALU_H
#define CPI_KMOD_WINDOW_ALU_H

#include "kmod/window_memory.h"

/* A micro-op that is being executed. */
struct cpi_window_op {
	uint64_t address;
	uint64_t a; /* of the op's size, zero-extended */
	uint64_t b; /* of the source's size */
	uint64_t result;
	uint64_t carry; /* 0 or 1 */
	uint64_t overflow;
	uint32_t unknown_address;
	uint32_t unknown_a; /* bytes */
	uint32_t unknown_b;
	uint32_t unknown;   /* of the result */
	uint32_t written;   /* flags that the result sets */
	uint32_t undefined; /* flags that are unknown afterwards */
	uint32_t bytes;     /* bytes that a store writes */
	uint32_t size;      /* log2 */
};

#define CPI_FLAG_CO (CPI_FLAG_C | CPI_FLAG_O)

/* Sets the flags to a given value. */
CPI_WINDOW_INLINE void cpi_window_set_flags(struct cpi_window_state *s,
					    const struct cpi_uop *u, uint32_t flags,
					    uint32_t written, uint32_t unknown)
{
	if (!(u->flags & CPI_UOP_FLAGS))
		return;
	s->flags = (s->flags & ~written) | (flags & written);
	s->unknown_flags = (s->unknown_flags & ~written) | (unknown & CPI_FLAG_ALL);
}

/* Flags of an operation's result. */
CPI_WINDOW_INLINE void cpi_window_result_flags(struct cpi_window_state *s,
					       const struct cpi_uop *u,
					       const struct cpi_window_op *o)
{
	const uint64_t result = o->result << ((64 - (8u << o->size)) & 63);
	uint32_t fold = (uint32_t)(o->result ^ o->result >> 4) & 15;
	uint32_t flags = (uint32_t)(o->carry | o->overflow << 11);

	flags |= (0x9669u >> fold & 1) << 2;
	flags |= (uint32_t)(result >> 63) << 7;
	if (!result)
		flags |= CPI_FLAG_Z;
	cpi_window_set_flags(s, u, flags, o->written | o->undefined,
			     (o->unknown ? o->written : 0) | o->undefined);
}

CPI_WINDOW_INLINE uint32_t cpi_cond_flags(unsigned int cond)
{
	switch (cond >> 1) {
	case 0:
		return CPI_FLAG_O;
	case 1:
		return CPI_FLAG_C;
	case 2:
		return CPI_FLAG_Z;
	case 3:
	case 8:
		return CPI_FLAG_C | CPI_FLAG_Z;
	case 4:
		return CPI_FLAG_S;
	case 5:
		return CPI_FLAG_P;
	case 6:
		return CPI_FLAG_S | CPI_FLAG_O;
	default:
		return CPI_FLAG_S | CPI_FLAG_O | CPI_FLAG_Z;
	}
}

CPI_WINDOW_INLINE uint32_t cpi_cond_holds(uint32_t flags, unsigned int cond)
{
	const uint32_t less = flags >> 7 ^ flags >> 11;
	uint32_t holds;

	switch (cond >> 1) {
	case 0:
		holds = flags >> 11;
		break;
	case 1:
		holds = flags;
		break;
	case 2:
		holds = flags >> 6;
		break;
	case 3:
		holds = flags | flags >> 6;
		break;
	case 4:
		holds = flags >> 7;
		break;
	case 5:
		holds = flags >> 2;
		break;
	case 6:
		holds = less;
		break;
	case 8:
		holds = flags & ~(flags >> 6);
		break;
	default:
		holds = less | flags >> 6;
		break;
	}
	return (holds ^ cond) & 1;
}

/* Whether cond holds: 0 no, 1 yes, 2 unknown. */
CPI_WINDOW_INLINE uint32_t cpi_window_cond(const struct cpi_window_state *s,
					   unsigned int cond)
{
	if (s->unknown_flags & cpi_cond_flags(cond))
		return 2;
	return cpi_cond_holds(s->flags, cond);
}

CPI_WINDOW_INLINE int64_t cpi_sign_extend(uint64_t value, unsigned int size)
{
	const unsigned int unused = (64 - (8u << (size & 3))) & 63;

	return (int64_t)(value << unused) >> unused;
}

/* All bytes of a result depend on all of its operands. */
CPI_WINDOW_INLINE void cpi_window_mix(struct cpi_window_op *o)
{
	o->unknown = o->unknown ? cpi_size_bytes(o->size) : 0;
}

/* a + b + carry, or a - b - carry, and all flags. */
CPI_WINDOW_INLINE void cpi_window_add(struct cpi_window_op *o, uint64_t carry)
{
	const unsigned int unused = (64 - (8u << o->size)) & 63;
	uint64_t a, b, result;

	o->result = o->a + o->b + carry;
	a = o->a << unused;
	b = o->b << unused;
	result = o->result << unused;
	o->carry = carry ? result <= a : result < a;
	o->overflow = ((a ^ result) & (b ^ result)) >> 63;
	o->written = CPI_FLAG_ALL;
	cpi_window_mix(o);
}

CPI_WINDOW_INLINE void cpi_window_subtract(struct cpi_window_op *o, uint64_t carry)
{
	const unsigned int unused = (64 - (8u << o->size)) & 63;
	uint64_t a, b, result;

	o->result = o->a - o->b - carry;
	a = o->a << unused;
	b = o->b << unused;
	result = o->result << unused;
	o->carry = carry ? a <= b : a < b;
	o->overflow = ((a ^ b) & (a ^ result)) >> 63;
	o->written = CPI_FLAG_ALL;
	cpi_window_mix(o);
}

/* a - b - 1 + carry; the carry of that is "no borrow". */
CPI_WINDOW_INLINE void cpi_window_subtract_carry(struct cpi_window_op *o,
						 uint64_t carry)
{
	o->b = ~o->b & cpi_size_bits(o->size);
	cpi_window_add(o, carry);
}

/* The upper half of the product of 64-bit numbers. */
CPI_WINDOW_INLINE uint64_t cpi_multiply_high(uint64_t a, uint64_t b)
{
	const uint64_t low = 0xffffffffULL;
	uint64_t first = (a & low) * (b & low);
	uint64_t second = (a >> 32) * (b & low) + (first >> 32);
	uint64_t third = (a & low) * (b >> 32) + (second & low);

	return (a >> 32) * (b >> 32) + (second >> 32) + (third >> 32);
}

CPI_WINDOW_INLINE void cpi_window_multiply(struct cpi_window_op *o, unsigned int op)
{
	const unsigned int bits = 8u << o->size;
	const int sign = op != CPI_UOP_MULHU;
	uint64_t a = sign ? (uint64_t)cpi_sign_extend(o->a, o->size) : o->a;
	uint64_t b = sign ? (uint64_t)cpi_sign_extend(o->b, o->size) : o->b;
	uint64_t low = a * b, high;

	if (o->size == 3) {
		high = cpi_multiply_high(a, b);
		if (sign)
			high -= (a >> 63 ? b : 0) + (b >> 63 ? a : 0);
		o->carry = high != (sign ? (uint64_t)((int64_t)low >> 63) : 0);
	} else {
		high = low >> bits;
		o->carry = low != (sign ? (uint64_t)cpi_sign_extend(low, o->size)
					: low & cpi_size_bits(o->size));
	}
	o->result = op == CPI_UOP_MUL ? low : high;
	o->overflow = o->carry;
	o->written = CPI_FLAG_CO;
	o->undefined = CPI_FLAG_ALL & ~CPI_FLAG_CO;
	cpi_window_mix(o);
}

/* high:a / b. Returns an end, or 0. Quotients beyond the register's size trap. */
CPI_WINDOW_INLINE uint32_t cpi_window_divide(struct cpi_window_op *o, unsigned int op,
					     uint64_t high)
{
	const int sign = op == CPI_UOP_DIVS || op == CPI_UOP_REMS;
	const unsigned int size = o->size;
	uint64_t number = o->a, by = o->b, quotient, rest, limit;
	uint32_t negative = 0, negative_by = 0;

	o->undefined = CPI_FLAG_ALL;
	cpi_window_mix(o);
	if (o->unknown)
		return 0;
	if (size == 2)
		number |= high << 32;
	else if (size != 3)
		return CPI_WINDOW_UNSUPPORTED;
	if (sign) {
		by = (uint64_t)cpi_sign_extend(by, size);
		negative = (int64_t)number < 0;
		negative_by = (int64_t)by < 0;
	}
	if (size == 3 && high != (negative ? ~0ULL : 0)) {
		o->unknown = 0xff; /* a number of 128 bits */
		return 0;
	}
	number = negative ? -number : number;
	by = negative_by ? -by : by;
	if (!by)
		return CPI_WINDOW_TRAP;
	quotient = number / by;
	rest = number % by;
	limit = cpi_size_bits(size);
	if (sign)
		limit = (limit >> 1) + (negative != negative_by);
	if (quotient > limit)
		return CPI_WINDOW_TRAP;
	if (op == CPI_UOP_DIVU || op == CPI_UOP_DIVS)
		o->result = negative != negative_by ? -quotient : quotient;
	else
		o->result = negative ? -rest : rest;
	return 0;
}

/* a / b, which never traps. */
CPI_WINDOW_INLINE void cpi_window_quotient(struct cpi_window_op *o, unsigned int op)
{
	uint64_t a = o->a, b = o->b;
	uint32_t negative = 0;

	cpi_window_mix(o);
	if (!b)
		return;
	if (op == CPI_UOP_QUOTS) {
		a = (uint64_t)cpi_sign_extend(a, o->size);
		b = (uint64_t)cpi_sign_extend(b, o->size);
		negative = (uint32_t)((a ^ b) >> 63);
		a = a >> 63 ? -a : a;
		b = b >> 63 ? -b : b;
	}
	o->result = negative ? -(a / b) : a / b;
}

CPI_WINDOW_INLINE void cpi_window_rotate(struct cpi_window_op *o, unsigned int op,
					 unsigned int count)
{
	const unsigned int bits = 8u << o->size;
	const unsigned int left =
		(op == CPI_UOP_ROL ? count : bits - count) & (bits - 1);

	o->result = o->a;
	if (left)
		o->result = o->a << left | o->a >> ((bits - left) & 63);
	o->carry = (op == CPI_UOP_ROL ? o->result : o->result >> (bits - 1)) & 1;
	o->written = CPI_FLAG_C;
	o->undefined = CPI_FLAG_O;
}

CPI_WINDOW_INLINE void cpi_window_shift(struct cpi_window_op *o, unsigned int op)
{
	const unsigned int bits = 8u << o->size;
	const unsigned int count = o->b & (o->size == 3 ? 63 : 31);
	int64_t number;

	cpi_window_mix(o);
	if (!count) { /* does not change the flags, if count is known */
		o->result = o->a;
		o->undefined = o->unknown_b ? CPI_FLAG_ALL : 0;
		return;
	}
	o->written = CPI_FLAG_ALL;
	o->undefined = count == 1 ? 0 : CPI_FLAG_O;
	switch (op) {
	case CPI_UOP_SHL:
		o->result = o->a << count;
		o->carry = count <= bits ? o->a >> (bits - count) & 1 : 0;
		o->overflow = (o->result >> (bits - 1) & 1) ^ o->carry;
		break;
	case CPI_UOP_SHR:
		o->result = o->a >> count;
		o->carry = o->a >> (count - 1) & 1;
		o->overflow = o->a >> (bits - 1);
		break;
	case CPI_UOP_SAR:
		number = cpi_sign_extend(o->a, o->size);
		o->result = (uint64_t)(number >> count);
		o->carry = (uint64_t)(number >> (count - 1)) & 1;
		break;
	default:
		cpi_window_rotate(o, op, count);
		break;
	}
	if (count >= bits && op != CPI_UOP_SAR)
		o->undefined |= CPI_FLAG_C;
	if (o->unknown_b)
		o->undefined = CPI_FLAG_ALL;
}

/* shld and shrd of 4 and 8 bytes. Those of other sizes are not translated. */
CPI_WINDOW_INLINE void cpi_window_shift_double(struct cpi_window_op *o, unsigned int op,
					       uint64_t by)
{
	const unsigned int bits = 8u << o->size;
	const unsigned int count = by & (o->size == 3 ? 63 : 31);

	cpi_window_mix(o);
	o->result = o->a;
	o->undefined = o->unknown ? CPI_FLAG_ALL : 0;
	if (!count)
		return;
	if (op == CPI_UOP_SHLD) {
		o->result = o->a << count | o->b >> ((bits - count) & 63);
		o->carry = o->a >> ((bits - count) & 63) & 1;
	} else {
		o->result = o->a >> count | o->b << ((bits - count) & 63);
		o->carry = o->a >> (count - 1) & 1;
	}
	o->written = CPI_FLAG_ALL;
	o->undefined |= CPI_FLAG_O;
}

CPI_WINDOW_INLINE void cpi_window_bit(struct cpi_window_op *o, unsigned int op)
{
	const uint64_t bit = 1ULL << (o->b & ((8u << o->size) - 1));

	o->carry = (o->a & bit) != 0;
	switch (op) {
	case CPI_UOP_BTS:
		o->result = o->a | bit;
		break;
	case CPI_UOP_BTR:
		o->result = o->a & ~bit;
		break;
	case CPI_UOP_BTC:
		o->result = o->a ^ bit;
		break;
	default:
		o->result = o->a;
		break;
	}
	o->written = CPI_FLAG_C;
	o->undefined = CPI_FLAG_O | CPI_FLAG_S | CPI_FLAG_P;
	cpi_window_mix(o);
}

/* The place of the highest bit; value is not 0. */
CPI_WINDOW_INLINE unsigned int cpi_highest_bit(uint64_t value)
{
	unsigned int place = 0;

	if (value >> 32) {
		place += 32;
		value >>= 32;
	}
	if (value >> 16) {
		place += 16;
		value >>= 16;
	}
	if (value >> 8) {
		place += 8;
		value >>= 8;
	}
	if (value >> 4) {
		place += 4;
		value >>= 4;
	}
	if (value >> 2) {
		place += 2;
		value >>= 2;
	}
	return place + (unsigned int)(value >> 1);
}

CPI_WINDOW_INLINE unsigned int cpi_count_bits(uint64_t value)
{
	value -= value >> 1 & 0x5555555555555555ULL;
	value = (value & 0x3333333333333333ULL) + (value >> 2 & 0x3333333333333333ULL);
	value = (value + (value >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (unsigned int)(value * 0x0101010101010101ULL >> 56);
}

/* Instructions that count bits of b. Each sets flags in its own way. */
CPI_WINDOW_INLINE void cpi_window_scan(struct cpi_window_state *s,
				       const struct cpi_uop *u, struct cpi_window_op *o)
{
	const unsigned int bits = 8u << o->size;
	const unsigned int op = u->op;
	uint32_t flags = 0, undefined = CPI_FLAG_O | CPI_FLAG_S | CPI_FLAG_P;
	uint64_t value = o->b;

	o->unknown = o->unknown_b;
	if (op == CPI_UOP_BSF || op == CPI_UOP_TZCNT)
		value &= -value;
	if (op == CPI_UOP_POPCNT) {
		o->result = cpi_count_bits(value);
		flags = value ? 0 : CPI_FLAG_Z;
		undefined = 0;
	} else if (op == CPI_UOP_BSF || op == CPI_UOP_BSR) {
		undefined |= CPI_FLAG_C;
		flags = value ? 0 : CPI_FLAG_Z;
		if (value)
			o->result = cpi_highest_bit(value);
		else
			o->unknown = 0xff;
	} else {
		o->result = value ? cpi_highest_bit(value) : bits;
		if (op == CPI_UOP_LZCNT)
			o->result = value ? bits - 1 - o->result : bits;
		flags = (value ? 0 : CPI_FLAG_C) | (o->result ? 0 : CPI_FLAG_Z);
	}
	cpi_window_mix(o);
	cpi_window_set_flags(s, u, flags, CPI_FLAG_ALL,
			     o->unknown_b ? CPI_FLAG_ALL : undefined);
}

CPI_WINDOW_INLINE uint64_t cpi_swap_bytes(uint64_t value, unsigned int size)
{
	value = (value & 0x00ff00ff00ff00ffULL) << 8 |
		(value >> 8 & 0x00ff00ff00ff00ffULL);
	value = (value & 0x0000ffff0000ffffULL) << 16 |
		(value >> 16 & 0x0000ffff0000ffffULL);
	value = value << 32 | value >> 32;
	return value >> ((64 - (8u << (size & 3))) & 63);
}

CPI_WINDOW_INLINE uint64_t cpi_reverse_bits(uint64_t value, unsigned int size)
{
	value = (value & 0x5555555555555555ULL) << 1 |
		(value >> 1 & 0x5555555555555555ULL);
	value = (value & 0x3333333333333333ULL) << 2 |
		(value >> 2 & 0x3333333333333333ULL);
	value = (value & 0x0f0f0f0f0f0f0f0fULL) << 4 |
		(value >> 4 & 0x0f0f0f0f0f0f0f0fULL);
	return cpi_swap_bytes(value, size);
}

/* bzhi, blsr, blsi and blsmsk. */
CPI_WINDOW_INLINE void cpi_window_low_bits(struct cpi_window_op *o, unsigned int op)
{
	const unsigned int bits = 8u << o->size;

	o->carry = o->b == 0;
	switch (op) {
	case CPI_UOP_BZHI:
		o->carry = (o->b & 0xff) >= bits;
		o->result = o->carry ? o->a : o->a & ((1ULL << (o->b & 63)) - 1);
		break;
	case CPI_UOP_BLSR:
		o->result = o->b & (o->b - 1);
		break;
	case CPI_UOP_BLSI:
		o->result = o->b & -o->b;
		o->carry = o->b != 0;
		break;
	default:
		o->result = o->b ^ (o->b - 1);
		break;
	}
	o->written = CPI_FLAG_ALL;
	o->undefined = CPI_FLAG_P;
	cpi_window_mix(o);
}

#endif
