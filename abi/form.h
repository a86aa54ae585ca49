/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * form.h - forms: x86-64 instructions without their displacement and constant
 *
 * Big programs have millions of instructions, but only some ten thousand forms. A form
 * is what precedes the displacement in an instruction's bytes: prefixes, opcode, ModRM
 * and SIB. Windows that come to code that is not translated look up the form of each
 * instruction, and fill its displacement and its constant into the form's micro-ops.
 *
 * cpi_form_split() splits an instruction. It knows lengths only. A form is entered only
 * if the translator's decoder finds the same lengths, and if the micro-ops depend on
 * displacement and constant as enum cpi_form_fill says
 * (analysis/translate/translate_form.c).
 *
 * F1  The bytes of a form decide where the displacement and the constant are, and how
 *     long they are. So if the decoder agrees once, it agrees always.
 * F2  Some instructions with a constant of one byte do something else for each
 *     constant, such as shuffles. For these the form includes the constant.
 */
#ifndef CPI_ABI_FORM_H
#define CPI_ABI_FORM_H

#include "abi/uop.h"

#define CPI_FORM_INLINE static inline __attribute__((always_inline))

/* An entry of the table. */
struct cpi_form {
	uint64_t key[2]; /* 0: the entry is free */
	uint32_t cell;   /* the first of its micro-ops */
	uint8_t nr;      /* micro-ops; 0: there are none, the form is refused */
	uint8_t how;
	uint8_t used;  /* set by windows, cleared by the daemon */
	uint8_t payer; /* the daemon's */
};

_Static_assert(sizeof(struct cpi_form) == 24, "no padding");

/* struct cpi_form.how */
#define CPI_FORM_SCALE    0x07u /* log2 of what the displacement is multiplied with */
#define CPI_FORM_CONSTANT 0x08u /* look up the form with the constant (F2) */
#define CPI_FORM_DYING    0x10u /* only for windows that have ended */

#define CPI_FORM_WAYS  8   /* entries of a set */
#define CPI_FORM_UOPS  24u /* micro-ops of a form at most */
#define CPI_FORM_BYTES 16u /* of code that are looked at */

/*
 * Says what is added to a micro-op's disp (bits 0 and 1) and to its imm (bits 2 and 3).
 * In the micro-ops of a form, these four bits take the place of the instruction's
 * length (CPI_UOP_LENGTH_SHIFT).
 */
enum cpi_form_fill {
	CPI_FORM_FIXED,
	CPI_FORM_DISP, /* disp: the displacement */
	CPI_FORM_IMM,  /* disp: the constant, such as a jump's distance */
	/* imm */
	CPI_FORM_SIGNED = 1, /* the constant, sign-extended */
	CPI_FORM_ZERO,       /* zero-extended */
	CPI_FORM_HIGH,       /* its upper half */
};

/* An instruction: where its parts are, and what they are. */
struct cpi_form_parts {
	uint64_t key[2];
	uint64_t imm; /* zero-extended */
	int64_t signed_imm;
	int64_t disp;
	uint32_t length;
	uint8_t nr_head; /* bytes before the displacement */
	uint8_t nr_disp; /* its bytes */
	uint8_t nr_imm;
	uint8_t is_near; /* imm is a jump's distance */
	uint32_t forgotten;
	uint32_t unused;
};

/* ---- lengths ---- */

enum cpi_form_imm {
	CPI_FORM_IMM_NONE,
	CPI_FORM_IMM_1,
	CPI_FORM_IMM_2,
	CPI_FORM_IMM_Z, /* 2 or 4, as the operand */
	CPI_FORM_IMM_V, /* 2, 4 or 8 */
	CPI_FORM_IMM_NEAR_1,
	CPI_FORM_IMM_NEAR_4,
	CPI_FORM_IMM_TEST_1, /* of the first two opcodes in ModRM */
	CPI_FORM_IMM_TEST_Z,
};

#define CPI_FORM_KIND   0x0fu /* enum cpi_form_imm */
#define CPI_FORM_MODRM  0x10u
#define CPI_FORM_PREFIX 0x20u
#define CPI_FORM_REFUSE 0x40u /* no instruction, or a rare one */

#define M  CPI_FORM_MODRM
#define P  CPI_FORM_PREFIX
#define R  CPI_FORM_REFUSE
#define B  CPI_FORM_IMM_1
#define Z  CPI_FORM_IMM_Z
#define MB (M | B)
#define MZ (M | Z)
#define N1 CPI_FORM_IMM_NEAR_1
#define N4 CPI_FORM_IMM_NEAR_4

/* clang-format off */
/* Opcodes of one byte. */
static const uint8_t cpi_form_one[256] = {
	M, M, M, M, B, Z, R, R, M, M, M, M, B, Z, R, R, /* 00 */
	M, M, M, M, B, Z, R, R, M, M, M, M, B, Z, R, R, /* 10 */
	M, M, M, M, B, Z, P, R, M, M, M, M, B, Z, P, R, /* 20 */
	M, M, M, M, B, Z, P, R, M, M, M, M, B, Z, P, R, /* 30 */
	R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, /* 40 */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 50 */
	R, R, R, M, P, P, P, R, Z, MZ, B, MB, 0, 0, 0, 0, /* 60 */
	N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, N1, /* 70 */
	MB, MZ, R, MB, M, M, M, M, M, M, M, M, M, M, M, M, /* 80 */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, R, 0, 0, 0, 0, 0, /* 90 */
	R, R, R, R, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0, /* a0 */
	B, B, B, B, B, B, B, B, 4, 4, 4, 4, 4, 4, 4, 4, /* b0 */
	MB, MB, 2, 0, R, R, MB, MZ, R, 0, 2, 0, 0, B, R, 0, /* c0 */
	M, M, M, M, R, R, R, 0, M, M, M, M, M, M, M, M, /* d0 */
	N1, N1, N1, N1, B, B, B, B, N4, N4, R, N1, 0, 0, 0, 0, /* e0 */
	P, 0, P, P, 0, 0, M | 7, M | 8, 0, 0, 0, 0, 0, 0, M, M, /* f0 */
};

/* Those behind 0f, also of VEX and EVEX. */
static const uint8_t cpi_form_two[256] = {
	M, M, M, M, R, 0, 0, 0, 0, 0, R, 0, R, M, 0, R, /* 00 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 10 */
	M, M, M, M, R, R, R, R, M, M, M, M, M, M, M, M, /* 20 */
	0, 0, 0, 0, 0, 0, R, 0, R, R, R, R, R, R, R, R, /* 30 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 40 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 50 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 60 */
	MB, MB, MB, MB, M, M, M, 0, M, M, M, M, M, M, M, M, /* 70 */
	N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, N4, /* 80 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 90 */
	0, 0, 0, M, MB, M, M, M, 0, 0, 0, M, MB, M, M, M, /* a0 */
	M, M, M, M, M, M, M, M, M, M, MB, M, M, M, M, M, /* b0 */
	M, M, MB, M, MB, MB, MB, M, 0, 0, 0, 0, 0, 0, 0, 0, /* c0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* d0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* e0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* f0 */
};
/* clang-format on */

#undef M
#undef P
#undef R
#undef B
#undef Z
#undef MB
#undef MZ
#undef N1
#undef N4

/* What is left of the code; the next byte is the lowest. */
struct cpi_form_code {
	uint64_t low, high;
	uint32_t at; /* bytes that are done */
};

/* Goes on by up to 7 bytes. */
CPI_FORM_INLINE void cpi_form_skip(struct cpi_form_code *c, uint32_t bytes)
{
	const uint32_t bits = 8 * (bytes & 7);

	c->low = c->low >> bits | c->high << 1 << (63 - bits);
	c->high >>= bits;
	c->at += bytes;
}

/* Skips up to four prefixes, but not REX. Returns whether one of them is 66. */
CPI_FORM_INLINE uint32_t cpi_form_prefixes(struct cpi_form_code *c)
{
	uint32_t i, is_16 = 0;

#if defined(__clang__)
#pragma unroll
#endif
	for (i = 0; i < 4; i++) {
		const uint32_t is = cpi_form_one[c->low & 0xff] / CPI_FORM_PREFIX & 1;

		is_16 |= is & (uint32_t)((c->low & 0xff) == 0x66);
		cpi_form_skip(c, is);
	}
	return is_16;
}

/* The class of an opcode of VEX's and EVEX's map. */
CPI_FORM_INLINE uint32_t cpi_form_mapped(const struct cpi_form_code *c, uint32_t map)
{
	if (map == 1)
		return cpi_form_two[c->low & 0xff];
	if (map == 3)
		return CPI_FORM_MODRM | CPI_FORM_IMM_1;
	return map == 2 || map == 5 || map == 6 ? CPI_FORM_MODRM : CPI_FORM_REFUSE;
}

/* Skips the opcode, with the bytes before it. Returns its class. */
CPI_FORM_INLINE uint32_t cpi_form_opcode(struct cpi_form_code *c)
{
	const uint32_t first = c->low & 0xff, second = c->low >> 8 & 0xff;
	uint32_t map = 0, skip = 0, class = cpi_form_one[first];

	if (first == 0x0f) {
		map = second == 0x38 ? 2 : second == 0x3a ? 3 : 1;
		skip = map == 1 ? 1 : 2;
	} else if (first == 0xc5) {
		map = 1;
		skip = 2;
	} else if (first == 0xc4) {
		map = second & 31;
		skip = 3;
	} else if (first == 0x62) {
		map = second & 7;
		skip = 4;
	}
	cpi_form_skip(c, skip);
	if (skip)
		class = cpi_form_mapped(c, map);
	cpi_form_skip(c, 1);
	return class;
}

/* ModRM and SIB, which are next. Returns the displacement's bytes. */
CPI_FORM_INLINE uint32_t cpi_form_modrm(struct cpi_form_code *c)
{
	const uint32_t modrm = c->low & 0xff, mod = modrm >> 6, rm = modrm & 7;
	const uint32_t has_sib = (uint32_t)(mod != 3) & (uint32_t)(rm == 4);
	const uint32_t base = has_sib ? c->low >> 8 & 7 : rm;

	cpi_form_skip(c, 1 + has_sib);
	if (mod == 1)
		return 1;
	return mod == 2 || (!mod && base == 5) ? 4 : 0;
}

/* Bytes of the constant. */
CPI_FORM_INLINE uint32_t cpi_form_imm_bytes(uint32_t kind, uint32_t modrm,
					    uint32_t is_16, uint32_t is_64)
{
	const uint32_t operand = is_16 && !is_64 ? 2 : 4;
	const uint32_t is_test = !(modrm >> 4 & 3);

	switch (kind) {
	case CPI_FORM_IMM_NONE:
		return 0;
	case CPI_FORM_IMM_2:
		return 2;
	case CPI_FORM_IMM_Z:
		return operand;
	case CPI_FORM_IMM_V:
		return is_64 ? 8 : operand;
	case CPI_FORM_IMM_NEAR_4:
		return 4;
	case CPI_FORM_IMM_TEST_1:
		return is_test;
	case CPI_FORM_IMM_TEST_Z:
		return is_test ? operand : 0;
	default:
		return 1;
	}
}

/* The next bytes, up to 8, sign-extended. */
CPI_FORM_INLINE int64_t cpi_form_number(const struct cpi_form_code *c, uint32_t bytes)
{
	if (!bytes)
		return 0;
	return (int64_t)(c->low << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

CPI_FORM_INLINE void cpi_form_make_key(struct cpi_form_parts *out, uint64_t low,
				       uint64_t high)
{
	const uint32_t nr = out->nr_head;

	out->key[0] = nr >= 8 ? low : low & ((1ULL << 8 * (nr & 7)) - 1);
	out->key[1] = nr <= 8 ? 0 : high & ((1ULL << 8 * (nr & 7)) - 1);
	out->key[1] |= (uint64_t)(0x80 | nr) << 56;
}

/* Micro-ops add less than this to a displacement or a jump's distance. */
#define CPI_FORM_MARGIN 1024

CPI_FORM_INLINE uint32_t cpi_form_is_near_edge(int64_t number)
{
	return number > 0x7fffffffLL - CPI_FORM_MARGIN ||
	       number < -0x80000000LL + CPI_FORM_MARGIN;
}

/*
 * Stores and reloads a number, so that BPF's verifier forgets what it knows of it.
 * Otherwise the verifier would go through the following code once for each way that
 * leads there.
 */
CPI_FORM_INLINE uint32_t cpi_form_forget(struct cpi_form_parts *out, uint32_t number)
{
#ifdef __bpf__
	*(volatile uint32_t *)&out->forgotten = number;
	number = *(volatile uint32_t *)&out->forgotten;
#else
	(void)out;
#endif
	return number;
}

/*
 * Splits the instruction at the beginning of 16 bytes of code. Returns its length, or 0
 * if it is not an instruction or has no form. The bytes after the instruction do not
 * matter.
 */
CPI_FORM_INLINE uint32_t cpi_form_split(struct cpi_form_parts *out, uint64_t low,
					uint64_t high)
{
	struct cpi_form_code c = { low, high, 0 };
	const uint32_t is_16 = cpi_form_forget(out, cpi_form_prefixes(&c));
	const uint32_t is_rex = (c.low & 0xf0) == 0x40;
	const uint32_t is_64 = is_rex & (uint32_t)(c.low >> 3 & 1);
	uint32_t class, kind, modrm, nr_disp = 0, nr_imm, is_near;

	cpi_form_skip(&c, is_rex);
	class = cpi_form_forget(out, cpi_form_opcode(&c));
	c.at = cpi_form_forget(out, c.at);
	kind = class & CPI_FORM_KIND;
	modrm = c.low & 0xff;
	if (class & CPI_FORM_MODRM)
		nr_disp = cpi_form_modrm(&c);
	nr_disp = cpi_form_forget(out, nr_disp);
	c.at = cpi_form_forget(out, c.at);
	nr_imm = cpi_form_forget(out, cpi_form_imm_bytes(kind, modrm, is_16, is_64));
	is_near = kind == CPI_FORM_IMM_NEAR_1 || kind == CPI_FORM_IMM_NEAR_4;
	if (class & (CPI_FORM_REFUSE | CPI_FORM_PREFIX) || (is_near && is_16) ||
	    c.at + nr_disp + nr_imm > CPI_CODE_MORE)
		return 0;
	out->nr_head = (uint8_t)c.at;
	out->nr_disp = (uint8_t)nr_disp;
	out->nr_imm = (uint8_t)nr_imm;
	out->is_near = (uint8_t)is_near;
	out->length = c.at + nr_disp + nr_imm;
	cpi_form_make_key(out, low, high);
	out->disp = cpi_form_number(&c, nr_disp);
	cpi_form_skip(&c, nr_disp);
	out->signed_imm = cpi_form_number(&c, nr_imm);
	out->imm = (uint64_t)out->signed_imm;
	if (nr_imm && nr_imm < 8)
		out->imm &= (1ULL << 8 * nr_imm) - 1;
	if (cpi_form_is_near_edge(out->disp) ||
	    (is_near && cpi_form_is_near_edge(out->signed_imm)))
		return 0;
	return out->length;
}

/* ---- the table ---- */

/* The first entry of the key's set, of nr entries: a power of two. */
CPI_FORM_INLINE uint32_t cpi_form_set(const uint64_t key[2], uint32_t nr)
{
	const uint64_t mixed =
		(key[0] ^ key[1] * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(mixed >> 32) & (nr - 1) & ~(CPI_FORM_WAYS - 1u);
}

/* Adds a constant of one byte to the key (F2). */
CPI_FORM_INLINE void cpi_form_add_constant(struct cpi_form_parts *parts)
{
	parts->key[1] |= 0x40ULL << 56 | (parts->imm & 0xff) << 48;
}

/* ---- micro-ops ---- */

/* A micro-op of a form, filled with the parts of an instruction: without branches. */
CPI_FORM_INLINE void cpi_form_fill(const struct cpi_uop *from, uint32_t how,
				   const struct cpi_form_parts *parts,
				   struct cpi_uop *out)
{
	const uint64_t fill = from->flags >> CPI_UOP_LENGTH_SHIFT;
	const uint64_t is_disp = -(fill & 1), is_imm = -(fill >> 1 & 1);
	const uint64_t is_zero = -(fill >> 3 & 1), is_odd = -(fill >> 2 & 1);
	const uint64_t number = (uint64_t)parts->signed_imm;
	const uint64_t disp =
		((uint64_t)parts->disp << (how & CPI_FORM_SCALE) & is_disp) |
		(number & is_imm);
	const uint64_t imm = (number & is_odd & ~is_zero) |
			     (parts->imm >> (is_odd & is_zero & 32) & is_zero);

	*out = *from;
	out->disp = (int32_t)((uint32_t)from->disp + (uint32_t)disp);
	out->imm = (int32_t)((uint32_t)from->imm + (uint32_t)imm);
	out->flags = (uint16_t)((from->flags & ((1u << CPI_UOP_LENGTH_SHIFT) - 1)) |
				(parts->length - 1) << CPI_UOP_LENGTH_SHIFT);
}

#endif
