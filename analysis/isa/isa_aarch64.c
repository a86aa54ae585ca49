/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AArch64. An instruction is one word. Memory operands and effects are read from its
 * fields (Arm ARM, section C4.1), everything else from LLVM's names.
 */
#include "config.h"

#include <string.h>

#include "analysis/isa/isa_machine.h"

#define ZERO 31 /* as a register's number: zero, or sp in addresses */

/* Linux names no model: "CPU part" is what cpid keeps. */
static const struct isa_cpu_pattern cpus[] = {
	{ "0xd03", "cortex-a53" },
	{ "0xd05", "cortex-a55" },
	{ "0xd07", "cortex-a57" },
	{ "0xd08", "cortex-a72" },
	{ "0xd09", "cortex-a73" },
	{ "0xd0a", "cortex-a75" },
	{ "0xd0b", "cortex-a76" },
	{ "0xd0c", "neoverse-n1" },
	{ "0xd40", "neoverse-v1" },
	{ "0xd41", "cortex-a78" },
	{ "0xd44", "cortex-x1" },
	{ "0xd47", "cortex-a710" },
	{ "0xd48", "cortex-x2" },
	{ "0xd49", "neoverse-n2" },
	{ "0xd4f", "neoverse-v2" },
	{ "0xd84", "neoverse-v3" },
	{ "0xd8e", "neoverse-n3" },
	{ "0xac3", "ampere1" },
	{ NULL, NULL },
};

static const struct {
	const char *prefix;
	uint32_t kind;
} kinds[] = {
	{ "UDIV", INSN_DIVIDE },    { "SDIV", INSN_DIVIDE },
	{ "FDIV", INSN_DIVIDE },    { "FSQRT", INSN_DIVIDE },
	{ "LDADD", INSN_ATOMIC },   { "LDCLR", INSN_ATOMIC },
	{ "LDEOR", INSN_ATOMIC },   { "LDSET", INSN_ATOMIC },
	{ "LDSMAX", INSN_ATOMIC },  { "LDSMIN", INSN_ATOMIC },
	{ "LDUMAX", INSN_ATOMIC },  { "LDUMIN", INSN_ATOMIC },
	{ "SWP", INSN_ATOMIC },     { "CAS", INSN_ATOMIC },
	{ "LDXR", INSN_ATOMIC },    { "LDAXR", INSN_ATOMIC },
	{ "LDXP", INSN_ATOMIC },    { "LDAXP", INSN_ATOMIC },
	{ "STXR", INSN_ATOMIC },    { "STLXR", INSN_ATOMIC },
	{ "STXP", INSN_ATOMIC },    { "STLXP", INSN_ATOMIC },
	{ "DMB", INSN_FENCE },      { "DSB", INSN_FENCE },
	{ "ISB", INSN_FENCE },      { "PRFM", INSN_PREFETCH },
	{ "PRFUM", INSN_PREFETCH }, { "BRK", INSN_TRAP },
	{ "UDF", INSN_TRAP },       { "HLT", INSN_TRAP },
	{ "SVC", INSN_SYSCALL },    { "ERET", INSN_RETURN },
	{ "MOVZ", INSN_MOVE },      { "MOVN", INSN_MOVE },
};

static uint32_t word_of(const struct insn *insn)
{
	const uint8_t *p = insn->code;

	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t field(uint32_t word, int low, int width)
{
	return word >> low & ((1u << width) - 1);
}

static int64_t signed_field(uint32_t word, int low, int width)
{
	return (int64_t)((uint64_t)field(word, low, width) << (64 - width)) >>
	       (64 - width);
}

static void learn_aarch64(struct isa *isa, const struct insn *insn, const char *name,
			  struct isa_opcode *out)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			out->kind |= kinds[i].kind;
}

/* log2 of the bytes that a load or store of one register moves. */
static int size_shift(uint32_t word)
{
	const int size = (int)field(word, 30, 2);

	return field(word, 26, 1) ? (int)field(word, 23, 1) << 2 | size : size;
}

static uint8_t base_of(uint32_t word)
{
	return (uint8_t)(ISA_GENERAL + field(word, 5, 5));
}

static struct insn_memory memory_of_pair(uint32_t word)
{
	const bool vector = field(word, 26, 1);
	const int opc = (int)field(word, 30, 2);
	const int size = vector ? 4 << opc : opc == 2 ? 8 : 4;
	const bool after = field(word, 23, 2) == 1;

	return (struct insn_memory){
		.base = base_of(word),
		.size = (uint8_t)(2 * size),
		.displacement = after ? 0 : signed_field(word, 15, 7) * size
	};
}

static struct insn_memory memory_of_literal(uint32_t word, uint64_t address)
{
	const int opc = (int)field(word, 30, 2);

	return (struct insn_memory){
		.base = ISA_PC,
		.size = field(word, 26, 1) ? 4 << opc
			: opc == 1         ? 8
					   : 4,
		.displacement =
			(int64_t)(address + (uint64_t)signed_field(word, 5, 19) * 4),
	};
}

static struct insn_memory memory_of_single(uint32_t word)
{
	const int shift = size_shift(word);
	struct insn_memory m = { .base = base_of(word), .size = (uint8_t)(1 << shift) };

	if (field(word, 24, 1)) {
		m.displacement = (int64_t)field(word, 10, 12) << shift;
	} else if (!field(word, 21, 1)) {
		if (field(word, 10, 2) != 1) /* not behind the access */
			m.displacement = signed_field(word, 12, 9);
	} else if (field(word, 10, 2) == 2 && field(word, 16, 5) != ZERO) {
		m.index = (uint8_t)(ISA_GENERAL + field(word, 16, 5));
		m.scale = (uint8_t)(field(word, 12, 1) ? 1 << shift : 1);
	}
	return m;
}

static struct insn_memory memory_of(uint32_t word, uint64_t address)
{
	switch (field(word, 27, 3)) {
	case 5: /* x101: pairs */
		return memory_of_pair(word);
	case 3: /* x011: literals */
		if (!field(word, 24, 1))
			return memory_of_literal(word, address);
		break;
	case 7: /* x111: one register */
		return memory_of_single(word);
	}
	/* Exclusive and ordered accesses, and structures of vectors. */
	return (struct insn_memory){
		.base = base_of(word),
		.size = (uint8_t)(field(word, 24, 6) == 8 ? 1 << field(word, 30, 2)
							  : 0),
	};
}

/* orr x1, xzr, x2 is mov; of vectors, orr v1, v2, v2. */
static bool is_move(uint32_t word)
{
	return (word & 0x7fe0ffe0) == 0x2a0003e0 ||
	       ((word & 0xbfe0fc00) == 0x0ea01c00 &&
		field(word, 5, 5) == field(word, 16, 5));
}

/* cas and casp, among the exclusive accesses. */
static bool is_swap(uint32_t word)
{
	return field(word, 23, 1) ? field(word, 21, 1)
				  : field(word, 21, 1) && !field(word, 31, 1);
}

static void refine_aarch64(const struct isa_opcode *o, struct insn *insn)
{
	const uint32_t word = word_of(insn);

	/* Loads and stores have x1x0 in bits 25 to 28; LLVM says so of barriers, too.
	 */
	if ((word & 0x0a000000) != 0x08000000)
		insn->kind &= ~(uint32_t)(INSN_LOAD | INSN_STORE);
	else if (insn->kind & (INSN_LOAD | INSN_STORE | INSN_PREFETCH))
		insn->memory = memory_of(word, insn->address);
	if (insn->kind & INSN_PREFETCH)
		insn->kind &= ~(uint32_t)(INSN_LOAD | INSN_STORE);
	if ((word & 0x3f000000) == 0x08000000 && insn->kind & INSN_ATOMIC &&
	    !is_swap(word))
		insn->kind &= ~(uint32_t)(field(word, 22, 1) ? INSN_STORE : INSN_LOAD);
	if (insn->kind & INSN_RETURN)
		insn->kind &= ~(uint32_t)(INSN_JUMP | INSN_INDIRECT);
	if (word == 0xd503201f)
		insn->kind |= INSN_NOP;
	if (is_move(word))
		insn->kind |= INSN_MOVE;
}

/* The zero register is none. */
static uint8_t general(uint32_t number)
{
	return (uint8_t)(number == ZERO ? ISA_NONE : ISA_GENERAL + number);
}

static struct isa_effect effect_of_address(uint32_t word, uint64_t address)
{
	const int64_t distance = signed_field(word, 5, 19) * 4 + field(word, 29, 2);
	const bool page = field(word, 31, 1);
	const uint64_t from = page ? address & ~0xfffULL : address;

	return (struct isa_effect){
		.op = ISA_OP_SET,
		.to = general(field(word, 0, 5)),
		.value = (int64_t)(from + (uint64_t)(distance * (page ? 4096 : 1)))
	};
}

static struct isa_effect effect_of_add_value(uint32_t word)
{
	const int64_t value = (int64_t)field(word, 10, 12)
			      << (field(word, 22, 1) ? 12 : 0);
	const bool subtract = field(word, 30, 1), flags = field(word, 29, 1);
	struct isa_effect e = { .size = field(word, 31, 1) ? 8 : 4 };

	e.a = (uint8_t)(ISA_GENERAL + field(word, 5, 5));
	if (flags && subtract) {
		e.op = ISA_OP_COMPARE;
		e.to = general(field(word, 0, 5));
		e.value = value;
	} else if (!flags) {
		e.op = ISA_OP_ADD;
		e.to = (uint8_t)(ISA_GENERAL + field(word, 0, 5));
		e.value = subtract ? -value : value;
	}
	return e;
}

static struct isa_effect effect_of_add_register(uint32_t word)
{
	const bool extended = field(word, 21, 1);
	struct isa_effect e = { .op = ISA_OP_ADD, .size = 8 };

	e.to = (uint8_t)(ISA_GENERAL + field(word, 0, 5));
	e.b = general(field(word, 16, 5));
	if (extended) {
		e.a = (uint8_t)(ISA_GENERAL + field(word, 5, 5));
		e.size = (uint8_t)(1 << field(word, 13, 2));
		e.is_signed = field(word, 15, 1);
		e.shift = (uint8_t)field(word, 10, 3);
	} else {
		e.a = general(field(word, 5, 5));
		e.shift = (uint8_t)field(word, 10, 6);
	}
	return e;
}

/* sxtb … uxth, and lsl by a constant. */
static struct isa_effect effect_of_bitfield(uint32_t word)
{
	const bool is_signed = !field(word, 29, 2), wide = field(word, 31, 1);
	const uint32_t rotate = field(word, 16, 6), last = field(word, 10, 6);
	struct isa_effect e = { .to = general(field(word, 0, 5)),
				.a = general(field(word, 5, 5)) };

	if (field(word, 29, 2) == 1 || field(word, 29, 2) == 3)
		return e;
	if (!rotate && (last == 7 || last == 15 || last == 31)) {
		e.op = ISA_OP_COPY;
		e.size = (uint8_t)((last + 1) / 8);
		e.is_signed = is_signed;
	} else if (!is_signed && rotate && last + 1 == rotate) {
		e.op = ISA_OP_SHIFT;
		e.shift = (uint8_t)((wide ? 64 : 32) - rotate);
	}
	return e;
}

static struct isa_effect effect_of_access(const struct insn *insn, uint32_t word)
{
	const uint32_t opc = field(word, 22, 2);
	struct isa_effect e = { .to = general(field(word, 0, 5)),
				.size = insn->memory.size };

	/* A write-back would change the base, too. A prefetch writes no register. */
	if (field(word, 26, 1) || insn->kind & INSN_PREFETCH ||
	    (!field(word, 24, 1) && !field(word, 21, 1) && field(word, 10, 1)))
		return e;
	if (!opc)
		return (struct isa_effect){ .op = ISA_OP_STORE,
					    .a = e.to,
					    .size = e.size };
	e.op = ISA_OP_LOAD;
	e.is_signed = opc != 1;
	return e;
}

/* and with a mask of low ones. */
static struct isa_effect effect_of_mask(uint32_t word)
{
	const uint32_t last = field(word, 10, 6);

	return (struct isa_effect){ .op = ISA_OP_AND,
				    .to = general(field(word, 0, 5)),
				    .a = general(field(word, 5, 5)),
				    .value =
					    last < 62 ? (2LL << last) - 1 : INT64_MAX };
}

static struct isa_effect effect_aarch64(struct isa *isa, const struct insn *insn)
{
	const uint32_t word = word_of(insn);
	const uint8_t to = general(field(word, 0, 5));

	if ((word & 0x1f000000) == 0x10000000)
		return effect_of_address(word, insn->address);
	if ((word & 0x1f800000) == 0x11000000)
		return effect_of_add_value(word);
	if ((word & 0x7fe00000) == 0x0b200000 || (word & 0x7fe00000) == 0x0b000000)
		return effect_of_add_register(word);
	if ((word & 0x1f800000) == 0x13000000)
		return effect_of_bitfield(word);
	if ((word & 0x7fe0ffe0) == 0x2a0003e0)
		return (struct isa_effect){ .op = ISA_OP_COPY,
					    .to = to,
					    .a = general(field(word, 16, 5)),
					    .size = field(word, 31, 1) ? 8 : 4 };
	if ((word & 0x7f800000) == 0x52800000)
		return (struct isa_effect){
			.op = ISA_OP_SET,
			.to = to,
			.value = (int64_t)((uint64_t)field(word, 5, 16)
					   << 16 * field(word, 21, 2))
		};
	/* The masks of 4 bytes that are not repeated, and all of 8 bytes. */
	if ((word & 0xffff8000) == 0x12000000 || (word & 0xffff0000) == 0x92400000)
		return effect_of_mask(word);
	if ((word & 0x3a000000) == 0x38000000)
		return effect_of_access(insn, word);
	return (struct isa_effect){ .op = ISA_OP_OTHER };
}

static enum isa_condition condition_aarch64(const struct insn *insn)
{
	const uint32_t word = word_of(insn);

	if ((word & 0xff000000) != 0x54000000)
		return ISA_IF_OTHER;
	switch (field(word, 0, 4)) {
	case 0:
		return ISA_IF_EQUAL;
	case 1:
		return ISA_IF_NOT_EQUAL;
	case 2:
		return ISA_IF_NOT_BELOW;
	case 3:
		return ISA_IF_BELOW;
	case 8:
		return ISA_IF_ABOVE;
	case 9:
		return ISA_IF_NOT_ABOVE;
	case 10:
		return ISA_IF_NOT_LESS;
	case 11:
		return ISA_IF_LESS;
	case 12:
		return ISA_IF_GREATER;
	case 13:
		return ISA_IF_NOT_GREATER;
	}
	return ISA_IF_OTHER;
}

const struct isa_machine isa_aarch64 = {
	.step = 4,
	.max_size = 4,
	.generic = "neoverse-n1",
	.cpus = cpus,
	.learn = learn_aarch64,
	.refine = refine_aarch64,
	.effect = effect_aarch64,
	.condition = condition_aarch64,
	.clobbered = 0x4007ffff, /* x0 to x18, x30 */
};
