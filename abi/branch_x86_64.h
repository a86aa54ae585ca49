/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * branch_x86_64.h - conditional jumps of x86-64, decoded and judged (see branch.h)
 */
#ifndef CPI_ABI_BRANCH_X86_64_H
#define CPI_ABI_BRANCH_X86_64_H

#include "abi/branch.h"

/* x86 flags that conditions read. */
#define CPI_X86_CF (1u << 0)
#define CPI_X86_PF (1u << 2)
#define CPI_X86_ZF (1u << 6)
#define CPI_X86_SF (1u << 7)
#define CPI_X86_OF (1u << 11)

/*
 * Whether it executes code of 32 bits, by what an interrupt saved in place of cs. FRED
 * saves other things above the 16 bits of the selector.
 */
static inline int cpi_x86_is_compat(uint64_t cs)
{
	return (cs & 0xffff) == 0x23;
}

/*
 * The bytes that are left, and the prefixes so far. In two words, which are shifted:
 * for BPF's verifier an index would be another state each.
 */
struct cpi_x86_code {
	uint64_t low, high; /* the next byte is the lowest one */
	unsigned int n;     /* how many bytes there are */
	uint8_t rex;
	uint8_t operand_16, address_32, other; /* prefixes that were found */
};

/* At most CPI_BRANCH_MAX_BYTES are taken. */
static inline struct cpi_x86_code cpi_x86_code_of(const uint8_t *code, unsigned int n)
{
	struct cpi_x86_code c = { .n = n < CPI_BRANCH_MAX_BYTES
					       ? n
					       : CPI_BRANCH_MAX_BYTES };
	unsigned int i;

	for (i = 0; i < c.n; i++) {
		if (i < 8)
			c.low |= (uint64_t)code[i] << 8 * i;
		else
			c.high |= (uint64_t)code[i] << 8 * (i - 8);
	}
	return c;
}

static inline int cpi_x86_left(const struct cpi_x86_code *c, unsigned int nr)
{
	return c->n >= nr;
}

/* The byte after nr others, at most 7. */
static inline uint8_t cpi_x86_byte(const struct cpi_x86_code *c, unsigned int nr)
{
	return c->low >> 8 * nr;
}

/* At most 7, and not more than are left. */
static inline void cpi_x86_skip(struct cpi_x86_code *c, unsigned int nr)
{
	c->low = c->low >> 8 * nr | c->high << 1 << (63 - 8 * nr);
	c->high >>= 8 * nr;
	c->n -= nr;
}

static inline void cpi_x86_skip_prefixes(struct cpi_x86_code *c)
{
	int i;

	for (i = 0; c->n && i < CPI_BRANCH_MAX_BYTES - 1; i++, cpi_x86_skip(c, 1)) {
		uint8_t byte = cpi_x86_byte(c, 0);

		if ((byte & 0xf0) == 0x40) {
			c->rex = byte;
			continue;
		}
		if (byte == 0x66)
			c->operand_16 = 1;
		else if (byte == 0x67)
			c->address_32 = 1;
		else if (byte == 0xf0 || byte == 0xf2 || byte == 0xf3)
			c->other = 1;
		else if (byte != 0x2e && byte != 0x3e && byte != 0x26 && byte != 0x36 &&
			 byte != 0x64 && byte != 0x65)
			return;
		c->rex = 0; /* is valid only directly before the opcode */
	}
}

/* Without REX, the upper four 8-bit registers are ah, ch, dh and bh. */
static inline uint8_t cpi_x86_register(const struct cpi_x86_code *c, uint8_t width,
				       unsigned int nr, unsigned int rex_bit,
				       uint8_t *shift)
{
	if (width == 8 && !c->rex && nr >= 4) {
		*shift = 8;
		return nr - 4;
	}
	return nr | (c->rex >> rex_bit & 1) << 3;
}

/*
 * The next size bytes as a sign-extended constant. The caller has checked that they
 * exist.
 */
static inline uint64_t cpi_x86_constant(struct cpi_x86_code *c, unsigned int size)
{
	uint32_t value = size ? c->low : 0;

	cpi_x86_skip(c, size);
	if (size == 1)
		return (uint64_t)(int8_t)value;
	return size == 2 ? (uint64_t)(int16_t)value : (uint64_t)(int32_t)value;
}

/*
 * The operation that bits 3 to 5 of an opcode or ModRM byte name; -1: one that is not
 * in enum cpi_pair_op.
 */
static inline int cpi_x86_operation(unsigned int nr)
{
	/* No array: the BTF of BPF programs has no place for one. */
	const uint32_t with_1 = (CPI_PAIR_ADD + 1) | (CPI_PAIR_OR + 1) << 4 |
				(CPI_PAIR_AND + 1) << 16 | (CPI_PAIR_SUB + 1) << 20 |
				(CPI_PAIR_XOR + 1) << 24 | (CPI_PAIR_SUB + 1) << 28;

	return (int)(with_1 >> 4 * (nr & 7) & 15) - 1;
}

/* Where an opcode's operands are. */
enum cpi_x86_form {
	CPI_X86_FORM_NONE,
	CPI_X86_FORM_REGISTERS,
	CPI_X86_FORM_ACCUMULATOR, /* and a constant */
	CPI_X86_FORM_CONSTANT,
	CPI_X86_FORM_BYTE,  /* a constant of one byte */
	CPI_X86_FORM_COUNT, /* inc and dec */
	CPI_X86_FORM_TEST,  /* f6 and f7 */
};

/* Sets *op as far as the opcode alone determines it. */
static inline enum cpi_x86_form cpi_x86_form_of(uint8_t opcode, int *op)
{
	*op = CPI_PAIR_AND;
	switch (opcode) {
	case 0x84 ... 0x85:
		return CPI_X86_FORM_REGISTERS;
	case 0xa8 ... 0xa9:
		return CPI_X86_FORM_ACCUMULATOR;
	case 0x80 ... 0x81:
		return CPI_X86_FORM_CONSTANT;
	case 0x83:
		return CPI_X86_FORM_BYTE;
	case 0xf6 ... 0xf7:
		return CPI_X86_FORM_TEST;
	case 0xfe ... 0xff:
		return CPI_X86_FORM_COUNT;
	}
	if (opcode >= 0x40 || (opcode & 7) >= 6)
		return CPI_X86_FORM_NONE;
	*op = cpi_x86_operation(opcode >> 3);
	if (*op < 0)
		return CPI_X86_FORM_NONE;
	return opcode & 4 ? CPI_X86_FORM_ACCUMULATOR : CPI_X86_FORM_REGISTERS;
}

/*
 * The operation of a form whose ModRM byte names it; -1: one that is not in enum
 * cpi_pair_op.
 */
static inline int cpi_x86_operation_in(enum cpi_x86_form form, unsigned int nr)
{
	if (form == CPI_X86_FORM_TEST)
		return nr < 2 ? CPI_PAIR_AND : -1;
	if (form == CPI_X86_FORM_COUNT)
		return nr == 0 ? CPI_PAIR_INC : nr == 1 ? CPI_PAIR_DEC : -1;
	return cpi_x86_operation(nr);
}

/*
 * Returns the condition of the Jcc at c; -1: another instruction is there; -2: too few
 * bytes.
 */
static inline int cpi_x86_decode_jcc(struct cpi_x86_code *c)
{
	uint8_t byte;

	if (!cpi_x86_left(c, 1))
		return -2;
	byte = cpi_x86_byte(c, 0);
	if (byte == 0x2e || byte == 0x3e || byte == 0xf2) {
		cpi_x86_skip(c, 1);
		if (!cpi_x86_left(c, 1))
			return -2;
		byte = cpi_x86_byte(c, 0);
	}
	if ((byte & 0xf0) == 0x70)
		return byte & 0xf;
	if (byte != 0x0f)
		return -1;
	if (!cpi_x86_left(c, 2))
		return -2;
	byte = cpi_x86_byte(c, 1);
	return (byte & 0xf0) == 0x80 ? byte & 0xf : -1;
}

/*
 * Decodes the instruction at c, after its prefixes, if it can be the first one of a
 * pair, and moves c after it. Returns 0; -1: it cannot; -2: too few bytes.
 */
static inline int cpi_x86_decode_first(struct cpi_x86_code *c, struct cpi_branch *b)
{
	uint8_t opcode = cpi_x86_byte(c, 0), modrm = 0xc0;
	unsigned int constant = 0;
	enum cpi_x86_form form;
	int op;

	cpi_x86_skip(c, 1);
	form = cpi_x86_form_of(opcode, &op);
	if (form == CPI_X86_FORM_NONE || c->other)
		return -1;
	b->width = !(opcode & 1) ? 8 : c->rex & 8 ? 64 : c->operand_16 ? 16 : 32;
	if (form != CPI_X86_FORM_ACCUMULATOR) {
		if (!cpi_x86_left(c, 1))
			return -2;
		modrm = cpi_x86_byte(c, 0);
		cpi_x86_skip(c, 1);
		b->left = cpi_x86_register(c, b->width, modrm & 7, 0, &b->left_shift);
	}
	if (modrm < 0xc0) /* in memory */
		return -1;
	if (form == CPI_X86_FORM_REGISTERS) {
		b->right = cpi_x86_register(c, b->width, modrm >> 3 & 7, 2,
					    &b->right_shift);
		if (opcode < 0x40 && opcode & 2) { /* the other direction */
			uint8_t left = b->left, shift = b->left_shift;

			b->left = b->right;
			b->left_shift = b->right_shift;
			b->right = left;
			b->right_shift = shift;
		}
	} else {
		b->right = CPI_BRANCH_CONSTANT;
		if (form != CPI_X86_FORM_ACCUMULATOR)
			op = cpi_x86_operation_in(form, modrm >> 3 & 7);
		if (op < 0)
			return -1;
		if (form == CPI_X86_FORM_BYTE)
			constant = 1;
		else if (form != CPI_X86_FORM_COUNT)
			constant = b->width == 64 ? 4 : b->width / 8;
	}
	if (!cpi_x86_left(c, constant))
		return -2;
	b->op = op;
	b->value = cpi_x86_constant(c, constant);
	return 0;
}

/* A bit for each four opcodes from this one on. */
#define CPI_X86_OPCODES(first) (1ULL << ((first) >> 2))

/* Opcodes of a pair's first instruction if their ModRM byte names registers. */
#define CPI_X86_WITH_MODRM                                                       \
	(CPI_X86_OPCODES(0x00) | CPI_X86_OPCODES(0x08) | CPI_X86_OPCODES(0x20) | \
	 CPI_X86_OPCODES(0x28) | CPI_X86_OPCODES(0x30) | CPI_X86_OPCODES(0x38) | \
	 CPI_X86_OPCODES(0x80) | CPI_X86_OPCODES(0x84) | CPI_X86_OPCODES(0xf4) | \
	 CPI_X86_OPCODES(0xfc))
/* Other opcodes of a pair's first instruction, jumps, and prefixes. */
#define CPI_X86_WITHOUT_MODRM                                                    \
	(CPI_X86_OPCODES(0x04) | CPI_X86_OPCODES(0x0c) | CPI_X86_OPCODES(0x24) | \
	 CPI_X86_OPCODES(0x2c) | CPI_X86_OPCODES(0x34) | CPI_X86_OPCODES(0x3c) | \
	 CPI_X86_OPCODES(0x64) | CPI_X86_OPCODES(0x70) | CPI_X86_OPCODES(0x74) | \
	 CPI_X86_OPCODES(0x78) | CPI_X86_OPCODES(0x7c) | CPI_X86_OPCODES(0xa8) | \
	 CPI_X86_OPCODES(0xe0) | CPI_X86_OPCODES(0xf0))

enum cpi_x86_glance {
	CPI_X86_NO_BRANCH = -1,
	/* 0 to 15: a Jcc of that condition, without prefixes */
	CPI_X86_DECODE = 16, /* only cpi_branch_decode_x86_64() can decide */
};

/* Whether a Jcc may begin with this byte. */
static inline int cpi_x86_begins_jcc(uint8_t byte)
{
	return (byte & 0xf0) == 0x70 || byte == 0x0f || byte == 0x2e || byte == 0x3e ||
	       byte == 0xf2;
}

/*
 * Decides the common cases by the first five bytes of code, the first one lowest, with
 * few instructions: the code of an interrupt handler is rarely in the cache.
 */
static inline int cpi_x86_glance(uint64_t code)
{
	const int rex = (code & 0xf0) == 0x40;
	const uint64_t after = rex ? code >> 8 : code;
	const uint8_t opcode = after, modrm = after >> 8;
	const uint64_t bit = CPI_X86_OPCODES(opcode);
	uint8_t next;

	if (!rex && (opcode & 0xf0) == 0x70)
		return opcode & 0xf;
	if (!rex && opcode == 0x0f && (modrm & 0xf0) == 0x80)
		return modrm & 0xf;
	if (opcode == 0x0f)
		return (modrm & 0xf0) == 0x80 ? CPI_X86_DECODE : CPI_X86_NO_BRANCH;
	if (!(bit & (CPI_X86_WITH_MODRM | CPI_X86_WITHOUT_MODRM)))
		return rex && (opcode & 0xf0) == 0x40 ? CPI_X86_DECODE
						      : CPI_X86_NO_BRANCH;
	if (!(bit & CPI_X86_WITH_MODRM))
		return CPI_X86_DECODE;
	if (modrm < 0xc0)
		return CPI_X86_NO_BRANCH;
	if (opcode == 0x83)
		next = after >> 24;
	else if (opcode < 0x40 || opcode == 0x84 || opcode == 0x85)
		next = after >> 16;
	else
		return CPI_X86_DECODE;
	return cpi_x86_begins_jcc(next) ? CPI_X86_DECODE : CPI_X86_NO_BRANCH;
}

/*
 * Decodes the first instruction in code[0..n) as x86-64 (64-bit mode), and also the
 * second if the two can be a pair. Legacy prefixes (branch hints, BND, operand and
 * address size) and REX are skipped.
 */
static inline struct cpi_branch cpi_branch_decode_x86_64(const uint8_t *code,
							 unsigned int n)
{
	struct cpi_x86_code c = cpi_x86_code_of(code, n);
	struct cpi_branch none = { .kind = CPI_BRANCH_NOT }, b = none;
	struct cpi_branch unknown = { .kind = CPI_BRANCH_UNKNOWN };
	int cc, err;

	cpi_x86_skip_prefixes(&c);
	cc = cpi_x86_decode_jcc(&c);
	if (cc == -2)
		return unknown;
	if (cc >= 0) {
		b.kind = CPI_BRANCH_X86_CC;
		b.arg = cc;
		return b;
	}
	if (cpi_x86_byte(&c, 0) >= 0xe0 && cpi_x86_byte(&c, 0) <= 0xe3) {
		static const uint8_t kind[4] = { CPI_BRANCH_X86_LOOPNE,
						 CPI_BRANCH_X86_LOOPE,
						 CPI_BRANCH_X86_LOOP,
						 CPI_BRANCH_X86_CX };

		b.kind = kind[cpi_x86_byte(&c, 0) & 3];
		b.width = c.address_32 ? 32 : 64;
		b.left = 1; /* rcx */
		return b;
	}
	err = cpi_x86_decode_first(&c, &b);
	if (err)
		return err == -1 ? none : unknown;
	cc = cpi_x86_decode_jcc(&c);
	if (cc < 0)
		return cc == -1 ? none : unknown;
	b.kind = CPI_BRANCH_X86_PAIR;
	b.arg = cc;
	return b;
}

/* Whether condition code cc (the low nibble of Jcc) holds under flags. */
static inline int cpi_x86_condition(unsigned int cc, uint64_t flags)
{
	int of_ne_sf = !(flags & CPI_X86_OF) != !(flags & CPI_X86_SF);
	int holds = 0;

	switch (cc >> 1 & 7) {
	case 0:
		holds = !!(flags & CPI_X86_OF);
		break;
	case 1:
		holds = !!(flags & CPI_X86_CF);
		break;
	case 2:
		holds = !!(flags & CPI_X86_ZF);
		break;
	case 3:
		holds = !!(flags & (CPI_X86_CF | CPI_X86_ZF));
		break;
	case 4:
		holds = !!(flags & CPI_X86_SF);
		break;
	case 5:
		holds = !!(flags & CPI_X86_PF);
		break;
	case 6:
		holds = of_ne_sf;
		break;
	case 7:
		holds = of_ne_sf || (flags & CPI_X86_ZF);
		break;
	}
	return holds != (int)(cc & 1);
}

/* RFLAGS as the first instruction of pair b leaves them. */
static inline uint64_t cpi_x86_pair_flags(struct cpi_branch b, uint64_t flags,
					  uint64_t left, uint64_t right)
{
	uint64_t mask = ~0ULL >> (64 - b.width), sign = 1ULL << (b.width - 1);
	uint64_t r = 0, cf = 0, of = 0;
	unsigned int low;

	left = left >> b.left_shift & mask;
	right = b.right == CPI_BRANCH_CONSTANT ? b.value : right >> b.right_shift;
	right &= mask;
	switch (b.op) {
	case CPI_PAIR_ADD:
		r = (left + right) & mask;
		cf = r < left;
		of = (left ^ r) & (right ^ r) & sign;
		break;
	case CPI_PAIR_SUB:
		r = (left - right) & mask;
		cf = left < right;
		of = (left ^ right) & (left ^ r) & sign;
		break;
	case CPI_PAIR_INC:
		r = (left + 1) & mask;
		cf = flags & CPI_X86_CF;
		of = r == sign;
		break;
	case CPI_PAIR_DEC:
		r = (left - 1) & mask;
		cf = flags & CPI_X86_CF;
		of = left == sign;
		break;
	case CPI_PAIR_OR:
		r = left | right;
		break;
	case CPI_PAIR_AND:
		r = left & right;
		break;
	case CPI_PAIR_XOR:
		r = left ^ right;
		break;
	}
	low = (r ^ r >> 4) & 0xf;
	return (cf ? CPI_X86_CF : 0) | (of ? CPI_X86_OF : 0) | (r ? 0 : CPI_X86_ZF) |
	       (r & sign ? CPI_X86_SF : 0) | (0x6996 >> low & 1 ? 0 : CPI_X86_PF);
}

/*
 * The outcome of b. flags is the interrupted RFLAGS; left and right are the values of
 * registers b.left and b.right, and are ignored if b does not use them.
 */
static inline enum cpi_outcome cpi_branch_outcome_x86_64(struct cpi_branch b,
							 uint64_t flags, uint64_t left,
							 uint64_t right)
{
	uint64_t count = b.width == 32 ? (uint32_t)left : left;
	int zf = !!(flags & CPI_X86_ZF);
	int taken;

	switch (b.kind) {
	case CPI_BRANCH_NOT:
		return CPI_OUTCOME_NONE;
	case CPI_BRANCH_X86_CC:
		taken = cpi_x86_condition(b.arg, flags);
		break;
	case CPI_BRANCH_X86_PAIR:
		taken = cpi_x86_condition(b.arg,
					  cpi_x86_pair_flags(b, flags, left, right));
		break;
	case CPI_BRANCH_X86_CX:
		taken = count == 0;
		break;
	case CPI_BRANCH_X86_LOOP: /* decrements first */
		taken = count != 1;
		break;
	case CPI_BRANCH_X86_LOOPE:
		taken = count != 1 && zf;
		break;
	case CPI_BRANCH_X86_LOOPNE:
		taken = count != 1 && !zf;
		break;
	default:
		return CPI_OUTCOME_UNREADABLE;
	}
	return taken ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN;
}

#endif
