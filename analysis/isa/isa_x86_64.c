/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64. An opcode's name in LLVM is its mnemonic, its width in bits, and the
 * form of its operands: MOVZX32rm8, ADD64ri8, CMP32mi.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isa/isa_machine.h"

#define RAX          ISA_GENERAL
#define RCX          (ISA_GENERAL + 1)
#define RSP          (ISA_GENERAL + 4)
#define R11          (ISA_GENERAL + 11)
#define BIT(reg)     (1ULL << (reg))
#define LOCK         0xf0
#define NR(array)    (sizeof(array) / sizeof((array)[0]))
#define MAX_OPERANDS 8
#define MAX_MNEMONIC 8

/* Families: 6 is Intel's, 23 and above are AMD's. */
static const struct isa_cpu_number numbers[] = {
	{ 6, 42, 42, "sandybridge" },      { 6, 45, 45, "sandybridge" },
	{ 6, 58, 58, "ivybridge" },        { 6, 60, 60, "haswell" },
	{ 6, 61, 61, "broadwell" },        { 6, 62, 62, "ivybridge" },
	{ 6, 63, 63, "haswell" },          { 6, 69, 70, "haswell" },
	{ 6, 71, 71, "broadwell" },        { 6, 78, 78, "skylake" },
	{ 6, 79, 79, "broadwell" },        { 6, 85, 85, "skylake-avx512" },
	{ 6, 86, 86, "broadwell" },        { 6, 94, 94, "skylake" },
	{ 6, 106, 108, "icelake-server" }, { 6, 125, 126, "icelake-client" },
	{ 6, 140, 141, "tigerlake" },      { 6, 142, 142, "skylake" },
	{ 6, 143, 143, "sapphirerapids" }, { 6, 151, 151, "alderlake" },
	{ 6, 154, 154, "alderlake" },      { 6, 158, 158, "skylake" },
	{ 6, 165, 166, "skylake" },        { 6, 173, 174, "graniterapids" },
	{ 6, 183, 183, "alderlake" },      { 6, 186, 186, "alderlake" },
	{ 6, 191, 191, "alderlake" },      { 6, 207, 207, "emeraldrapids" },
	{ 23, 0, 47, "znver1" },           { 23, 48, 255, "znver2" },
	{ 25, 0, 15, "znver3" },           { 25, 16, 31, "znver4" },
	{ 25, 32, 95, "znver3" },          { 25, 96, 255, "znver4" },
	{ 26, 0, 255, "znver5" },          { 0, 0, 0, NULL },
};

/* The second digit tells the generation of a Xeon, the last one that of an EPYC. */
static const struct isa_cpu_pattern cpus[] = {
	{ "AMD EPYC 7??1*", "znver1" },
	{ "AMD EPYC 7??2*", "znver2" },
	{ "AMD EPYC 7??3*", "znver3" },
	{ "AMD EPYC-Rome*", "znver2" },
	{ "AMD EPYC-Milan*", "znver3" },
	{ "AMD EPYC-Genoa*", "znver4" },
	{ "AMD EPYC [89]??4*", "znver4" },
	{ "AMD EPYC 9??5*", "znver5" },
	{ "AMD EPYC*", "znver3" },
	{ "AMD Ryzen*Threadripper* 1???*", "znver1" },
	{ "AMD Ryzen*Threadripper* 2???*", "znver1" },
	{ "AMD Ryzen*Threadripper* 3???*", "znver2" },
	{ "AMD Ryzen*Threadripper* 5???*", "znver3" },
	{ "AMD Ryzen*Threadripper* 7???*", "znver4" },
	{ "AMD Ryzen ? [12]???*", "znver1" },
	{ "AMD Ryzen ? [34]???*", "znver2" },
	{ "AMD Ryzen ? [56]???*", "znver3" },
	{ "AMD Ryzen ? [78]???*", "znver4" },
	{ "AMD Ryzen ? PRO [12]???*", "znver1" },
	{ "AMD Ryzen ? PRO [34]???*", "znver2" },
	{ "AMD Ryzen ? PRO [56]???*", "znver3" },
	{ "AMD Ryzen ? PRO [78]???*", "znver4" },
	{ "AMD Ryzen ? 9???*", "znver5" },
	{ "*Xeon(R) 6???[PE]*", "graniterapids" },
	{ "*Xeon(R) Platinum ?5*", "emeraldrapids" },
	{ "*Xeon(R) Gold ?5*", "emeraldrapids" },
	{ "*Xeon(R) Silver ?5*", "emeraldrapids" },
	{ "*Xeon(R) Platinum ?4*", "sapphirerapids" },
	{ "*Xeon(R) Gold ?4*", "sapphirerapids" },
	{ "*Xeon(R) Silver ?4*", "sapphirerapids" },
	{ "*Xeon(R) Platinum ?3*", "icelake-server" },
	{ "*Xeon(R) Gold ?3*", "icelake-server" },
	{ "*Xeon(R) Silver ?3*", "icelake-server" },
	{ "*Xeon(R) Platinum ?[12]*", "skylake-avx512" },
	{ "*Xeon(R) Gold ?[12]*", "skylake-avx512" },
	{ "*Xeon(R) Silver ?[12]*", "skylake-avx512" },
	{ "*Xeon(R)*E[357]*-*v4*", "broadwell" },
	{ "*Xeon(R)*E[357]*-*v3*", "haswell" },
	{ "*Xeon(R)*E[357]*-*v2*", "ivybridge" },
	{ "*Xeon(R)*E[357]-*", "sandybridge" },
	{ "*Xeon*Processor (Skylake*", "skylake-avx512" },
	{ "*Xeon*Processor (Cascadelake*", "skylake-avx512" },
	{ "*Xeon*Processor (Icelake*", "icelake-server" },
	{ "*Xeon*Processor (SapphireRapids*", "sapphirerapids" },
	{ "*Core(TM) i[3579]-1[234]*", "alderlake" },
	{ "*Core(TM) i[3579]-11*", "tigerlake" },
	{ "*Core(TM) i[3579]-10??G*", "icelake-client" },
	{ "*Core(TM) i[3579]-10*", "skylake" },
	{ "*Core(TM) i[3579]-[6789]*", "skylake" },
	{ "*Core(TM) i[3579]-5*", "broadwell" },
	{ "*Core(TM) i[3579]-4*", "haswell" },
	{ "*Core(TM) i[3579]-3*", "ivybridge" },
	{ "*Core(TM) i[3579]-2*", "sandybridge" },
	{ NULL, NULL },
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static const struct {
	const char *prefix; /* of the name */
	bool whole;         /* the name is no longer */
	uint32_t kind;
} kinds[] = {
	{ "DIV", false, INSN_DIVIDE },     { "IDIV", false, INSN_DIVIDE },
	{ "VDIV", false, INSN_DIVIDE },    { "SQRT", false, INSN_DIVIDE },
	{ "VSQRT", false, INSN_DIVIDE },   { "MFENCE", true, INSN_FENCE },
	{ "LFENCE", true, INSN_FENCE },    { "SFENCE", true, INSN_FENCE },
	{ "SERIALIZE", true, INSN_FENCE }, { "PREFETCH", false, INSN_PREFETCH },
	{ "NOOP", false, INSN_NOP },       { "ENDBR", false, INSN_NOP },
	{ "TRAP", true, INSN_TRAP },       { "HLT", true, INSN_TRAP },
	{ "INT3", true, INSN_TRAP },       { "UD1", false, INSN_TRAP },
	{ "IRET", false, INSN_RETURN },    { "SYSRET", false, INSN_RETURN },
	{ "SYSCALL", true, INSN_SYSCALL }, { "SYSENTER", true, INSN_SYSCALL },
	{ "INT", true, INSN_SYSCALL },     { "CALL", false, INSN_STORE },
	{ "RET", false, INSN_LOAD },
};

static uint8_t memory_size(struct isa *isa, const struct insn *insn)
{
	static const struct {
		const char *text;
		uint8_t size;
	} sizes[] = {
		{ "zmmword ptr", 64 }, { "ymmword ptr", 32 }, { "xmmword ptr", 16 },
		{ "tbyte ptr", 10 },   { "qword ptr", 8 },    { "dword ptr", 4 },
		{ "word ptr", 2 },     { "byte ptr", 1 },
	};
	char text[ISA_TEXT_SIZE];

	isa_text(isa, insn, text);
	for (size_t i = 0; i < NR(sizes); i++)
		if (strstr(text, sizes[i].text))
			return sizes[i].size;
	return 0;
}

/* xor, sub and the like of a register with itself: it does not wait for it. */
static bool is_zero_idiom(const char *name)
{
	static const char *const names[] = { "XOR32rr",  "XOR64rr",  "SUB32rr",
					     "SUB64rr",  "PXORrr",   "VPXORrr",
					     "XORPSrr",  "VXORPSrr", "XORPDrr",
					     "VXORPDrr", "VPXORYrr" };

	for (size_t i = 0; i < NR(names); i++)
		if (begins(name, names[i]))
			return true;
	return false;
}

/* "MOVSB" … "MOVSQ", and so on: what LLVM does not say of them. */
static bool learn_string(const char *name, uint32_t *kind)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} strings[] = {
		{ "MOVS", INSN_LOAD | INSN_STORE },
		{ "STOS", INSN_STORE },
		{ "CMPS", INSN_LOAD },
		{ "SCAS", INSN_LOAD },
		{ "LODS", INSN_LOAD },
		{ "INS", INSN_STORE },
		{ "OUTS", INSN_LOAD },
	};

	for (size_t i = 0; i < NR(strings); i++) {
		const size_t len = strlen(strings[i].name);

		if (!begins(name, strings[i].name) || !name[len] ||
		    !strchr("BWLQ", name[len]) || name[len + 1])
			continue;
		*kind |= strings[i].kind;
		return true;
	}
	return false;
}

static void learn_x86_64(struct isa *isa, const struct insn *insn, const char *name,
			 struct isa_opcode *out)
{
	for (size_t i = 0; i < NR(kinds); i++)
		if (kinds[i].whole ? !strcmp(name, kinds[i].prefix)
				   : begins(name, kinds[i].prefix))
			out->kind |= kinds[i].kind;
	out->is_string = learn_string(name, &out->kind);
	out->is_zero_idiom = is_zero_idiom(name);
	out->memory_size = memory_size(isa, insn);
	if (begins(name, "XCHG") && out->memory_size)
		out->kind |= INSN_ATOMIC; /* even without lock */
}

static bool is_repeated(const struct insn *insn)
{
	for (unsigned int i = 0; i < insn->size; i++) {
		switch (insn->code[i]) {
		case 0xf2:
		case 0xf3:
			return true;
		case 0x66:
		case 0x67:
			continue;
		default:
			return false;
		}
	}
	return false;
}

static unsigned int nr_registers(const struct isa_registers *set)
{
	return (unsigned int)(__builtin_popcountll(set->bit[0]) +
			      __builtin_popcountll(set->bit[1]));
}

/* Registers that LLVM's tables leave out, because its code generator knows them. */
static void add_implied(struct insn *insn)
{
	if (insn->kind & (INSN_CALL | INSN_RETURN)) {
		insn->reads.bit[0] |= BIT(RSP);
		insn->writes.bit[0] |= BIT(RSP);
	}
	if (insn->kind & INSN_REPEAT) {
		insn->reads.bit[0] |= BIT(RCX);
		insn->writes.bit[0] |= BIT(RCX);
	}
	if (insn->kind & INSN_SYSCALL)
		insn->writes.bit[0] |= BIT(RAX) | BIT(RCX) | BIT(R11);
}

static void refine_x86_64(const struct isa_opcode *o, struct insn *insn)
{
	for (unsigned int i = 0; i < insn->nr_prefixes; i++)
		if (insn->code[i] == LOCK)
			insn->kind |= INSN_ATOMIC;
	if (o->is_string && is_repeated(insn))
		insn->kind |= INSN_REPEAT;
	if (insn->kind & INSN_RETURN)
		insn->kind &= ~(uint32_t)(INSN_JUMP | INSN_INDIRECT);
	if (insn->kind & (INSN_FENCE | INSN_NOP | INSN_TRAP | INSN_PREFETCH))
		insn->kind &= ~(uint32_t)(INSN_LOAD | INSN_STORE);
	if (nr_registers(&insn->reads) == 1 && o->is_zero_idiom)
		insn->reads = (struct isa_registers){ { 0 } };
	add_implied(insn);
}

/* The name's parts: "MOVZX", 32, "rm8". */
struct parts {
	char mnemonic[MAX_MNEMONIC];
	int width;
	const char *form;
};

static struct parts split(const char *name)
{
	struct parts p = { .form = "" };
	size_t n = 0;
	char *end;

	while (isupper((unsigned char)name[n]))
		n++;
	if (n >= sizeof(p.mnemonic))
		return p;
	memcpy(p.mnemonic, name, n);
	p.width = (int)strtol(name + n, &end, 10);
	p.form = end;
	return p;
}

/* Of "rr", "rr_REV", "ri", "ri8", "i32", "rm", "rm8", "mi", "mi8". */
static bool is_form(const struct parts *p, const char *form)
{
	const char *rest = p->form + strlen(form);

	if (!begins(p->form, form))
		return false;
	return !*rest || isdigit((unsigned char)*rest) || *rest == '_';
}

/* What follows the operands' form, in bytes: of MOVZX32rm8, 1. */
static uint8_t form_size(const struct parts *p)
{
	const int bits = atoi(p->form + strcspn(p->form, "0123456789"));

	return (uint8_t)(bits ? bits / 8 : p->width / 8);
}

struct operands {
	struct llvm_operand op[MAX_OPERANDS];
	int nr;
};

static struct isa_effect effect_of_move(const struct parts *p, const struct operands *o)
{
	struct isa_effect e = { .to = o->op[0].reg, .size = form_size(p) };
	const bool extends = p->mnemonic[3];

	e.is_signed = !strncmp(p->mnemonic, "MOVSX", 5);
	if (!extends)
		e.size = (uint8_t)(p->width / 8);
	if (is_form(p, "mr") && !extends)
		return (struct isa_effect){ .op = ISA_OP_STORE,
					    .a = o->op[o->nr - 1].reg,
					    .size = e.size };
	/* Narrower ones leave the rest of the register as it was. */
	if (p->width < 32)
		return e;
	if (is_form(p, "rr")) {
		e.op = ISA_OP_COPY;
		e.a = o->op[1].reg;
	} else if (is_form(p, "rm")) {
		e.op = ISA_OP_LOAD;
	} else if (is_form(p, "ri") && !extends) {
		e.op = ISA_OP_SET;
		e.value = o->op[1].value;
	}
	return e;
}

/* add, sub, and, shl, inc: op[0] = op[1] with op[2]; "i": rax with op[0]. */
static struct isa_effect effect_of_sum(const struct parts *p, const struct operands *o)
{
	const bool has_value = is_form(p, "ri") || is_form(p, "i");
	const struct llvm_operand *last = &o->op[o->nr - 1];
	struct isa_effect e = { .to = RAX, .a = RAX, .size = 8 };

	if (!is_form(p, "i")) {
		e.to = o->op[0].reg;
		e.a = o->op[1].reg;
	}
	if (p->width < 32 || o->nr < 1)
		return e;
	if (!is_form(p, "rr"))
		e.size = (uint8_t)(p->width / 8);
	if (!strcmp(p->mnemonic, "ADD") && is_form(p, "rr")) {
		e.op = ISA_OP_ADD;
		e.b = last->reg;
	} else if (!strcmp(p->mnemonic, "XOR") && is_form(p, "rr") &&
		   last->reg == e.to) {
		e.op = ISA_OP_SET;
	} else if (is_form(p, "r") && !strcmp(p->mnemonic, "INC")) {
		e.op = ISA_OP_ADD;
		e.value = 1;
	} else if (is_form(p, "r") && !strcmp(p->mnemonic, "DEC")) {
		e.op = ISA_OP_ADD;
		e.value = -1;
	} else if (!has_value) {
		return e;
	} else if (!strcmp(p->mnemonic, "ADD")) {
		e.op = ISA_OP_ADD;
		e.value = last->value;
	} else if (!strcmp(p->mnemonic, "SUB")) {
		e.op = ISA_OP_COMPARE;
		e.value = last->value;
	} else if (!strcmp(p->mnemonic, "SHL")) {
		e.op = ISA_OP_SHIFT;
		e.shift = last->value & 63;
	} else if (!strcmp(p->mnemonic, "AND")) {
		e.op = ISA_OP_AND;
		e.value = last->value;
	}
	return e;
}

static struct isa_effect effect_of_compare(const struct parts *p,
					   const struct operands *o)
{
	struct isa_effect e = { .size = (uint8_t)(p->width / 8) };

	if (!is_form(p, "ri") && !is_form(p, "i") && !is_form(p, "mi"))
		return e;
	e.op = ISA_OP_COMPARE;
	e.value = o->op[o->nr - 1].value;
	e.a = is_form(p, "ri") ? o->op[0].reg : is_form(p, "i") ? RAX : ISA_NONE;
	return e;
}

static struct isa_effect effect_x86_64(struct isa *isa, const struct insn *insn)
{
	const struct parts p = split(llvm_opcode_name(isa->llvm, insn->opcode));
	struct operands o = { 0 };

	o.nr = llvm_operands(isa->llvm, insn->code + insn->nr_prefixes,
			     insn->size - insn->nr_prefixes, insn->address, o.op,
			     MAX_OPERANDS);
	if (o.nr > MAX_OPERANDS || (!o.nr && strcmp(p.mnemonic, "CDQE")))
		return (struct isa_effect){ .op = ISA_OP_OTHER };
	if (!strcmp(p.mnemonic, "CDQE"))
		return (struct isa_effect){ .op = ISA_OP_COPY,
					    .to = RAX,
					    .a = RAX,
					    .size = 4,
					    .is_signed = true };
	if (!strcmp(p.mnemonic, "LEA"))
		return (struct isa_effect){ .op = ISA_OP_ADDRESS, .to = o.op[0].reg };
	if (!strcmp(p.mnemonic, "MOV") || !strcmp(p.mnemonic, "MOVSX") ||
	    !strcmp(p.mnemonic, "MOVZX"))
		return effect_of_move(&p, &o);
	if (!strcmp(p.mnemonic, "CMP"))
		return effect_of_compare(&p, &o);
	return effect_of_sum(&p, &o);
}

/* The low half byte of 7x and 0f 8x. */
static enum isa_condition condition_x86_64(const struct insn *insn)
{
	static const enum isa_condition conditions[16] = {
		[2] = ISA_IF_BELOW,        [3] = ISA_IF_NOT_BELOW,
		[4] = ISA_IF_EQUAL,        [5] = ISA_IF_NOT_EQUAL,
		[6] = ISA_IF_NOT_ABOVE,    [7] = ISA_IF_ABOVE,
		[12] = ISA_IF_LESS,        [13] = ISA_IF_NOT_LESS,
		[14] = ISA_IF_NOT_GREATER, [15] = ISA_IF_GREATER,
	};
	unsigned int at = 0;

	while (at + 1 < insn->size &&
	       (insn->code[at] == 0x2e || insn->code[at] == 0x3e ||
		insn->code[at] == 0xf2))
		at++;
	if (insn->code[at] == 0x0f && at + 1 < insn->size)
		return (insn->code[at + 1] & 0xf0) == 0x80
			       ? conditions[insn->code[at + 1] & 15]
			       : ISA_IF_OTHER;
	return (insn->code[at] & 0xf0) == 0x70 ? conditions[insn->code[at] & 15]
					       : ISA_IF_OTHER;
}

const struct isa_machine isa_x86_64 = {
	.step = 1,
	.max_size = 15,
	.generic = "x86-64-v3",
	.numbers = numbers,
	.cpus = cpus,
	.learn = learn_x86_64,
	.refine = refine_x86_64,
	.effect = effect_x86_64,
	.condition = condition_x86_64,
	.clobbered = 0x0fc7, /* rax, rcx, rdx, rsi, rdi, r8 to r11 */
};
