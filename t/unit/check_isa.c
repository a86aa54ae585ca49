/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <endian.h>
#include <string.h>

#include "analysis/isa/isa.h"
#include "base/err.h"
#include "t/unit/unit.h"

#define ADDRESS 0x401000

static const struct {
	enum machine machine;
	uint8_t code[16];
	size_t size;
	int err;
	unsigned int length;
	uint64_t target;
	const char *text;
} insns[] = {
	{ MACHINE_X86_64, { 0x90 }, 1, 0, 1, 0, "nop" },
	{ MACHINE_X86_64,
	  { 0x48, 0x8b, 0x07 },
	  3,
	  0,
	  3,
	  0,
	  "mov    rax, qword ptr [rdi]" },
	{ MACHINE_X86_64, { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0, 4, 0, "endbr64" },
	{ MACHINE_X86_64, { 0xeb, 0xfe }, 2, 0, 2, ADDRESS, "jmp    0x401000" },
	{ MACHINE_X86_64, { 0x74, 0x10 }, 2, 0, 2, ADDRESS + 0x12, "je     0x401012" },
	{ MACHINE_X86_64,
	  { 0xe8, 0, 0, 0, 0 },
	  5,
	  0,
	  5,
	  ADDRESS + 5,
	  "call   0x401005" },
	{ MACHINE_X86_64, { 0xff, 0xe0 }, 2, 0, 2, 0, "jmp    rax" },
	{ MACHINE_X86_64,
	  { 0xff, 0x25, 1, 0, 0, 0 },
	  6,
	  0,
	  6,
	  0,
	  "jmp    qword ptr [rip + 0x1]" },
	{ MACHINE_X86_64, { 0xc2, 8, 0 }, 3, 0, 3, 0, "ret    0x8" },
	{ MACHINE_X86_64,
	  { 0xf0, 0x48, 0x0f, 0xb1, 0x0e },
	  5,
	  0,
	  5,
	  0,
	  "lock cmpxchg qword ptr [rsi], rcx" },
	{ MACHINE_X86_64,
	  { 0xf3, 0x48, 0xab },
	  3,
	  0,
	  3,
	  0,
	  "rep stosq qword ptr es:[rdi], rax" },
	{ MACHINE_X86_64, { 0xf3, 0xc3 }, 2, 0, 2, 0, "rep    ret" },
	{ MACHINE_X86_64, { 0xf0 }, 1, -CPI_ETRUNCATED, 0, 0, NULL },
	{ MACHINE_X86_64, { 0xf0, 0x06 }, 2, 0, 1, 0, "(bad)" },
	{ MACHINE_X86_64, { 0x06, 0x90 }, 2, 0, 1, 0, "(bad)" },
	{ MACHINE_X86_64, { 0x06 }, 1, 0, 1, 0, "(bad)" },
	{ MACHINE_X86_64, { 0 }, 0, -CPI_ETRUNCATED, 0, 0, NULL },
	{ MACHINE_X86_64, { 0xe8, 0, 0 }, 3, -CPI_ETRUNCATED, 0, 0, NULL },
	{ MACHINE_X86_64, { 0x48 }, 1, -CPI_ETRUNCATED, 0, 0, NULL },
	{ MACHINE_AARCH64, { 0x1f, 0x20, 0x03, 0xd5 }, 4, 0, 4, 0, "nop" },
	{ MACHINE_AARCH64,
	  { 0x00, 0x04, 0x40, 0xf9 },
	  4,
	  0,
	  4,
	  0,
	  "ldr    x0, [x0, #0x8]" },
	{ MACHINE_AARCH64,
	  { 0x04, 0, 0, 0x94 },
	  4,
	  0,
	  4,
	  ADDRESS + 16,
	  "bl     0x401010" },
	{ MACHINE_AARCH64,
	  { 0x40, 0, 0, 0xb4 },
	  4,
	  0,
	  4,
	  ADDRESS + 8,
	  "cbz    x0, 0x401008" },
	{ MACHINE_AARCH64,
	  { 0x40, 0, 0x18, 0x37 },
	  4,
	  0,
	  4,
	  ADDRESS + 8,
	  "tbnz   w0, #0x3, 0x401008" },
	{ MACHINE_AARCH64, { 0xc0, 0x03, 0x5f, 0xd6 }, 4, 0, 4, 0, "ret" },
	{ MACHINE_AARCH64, { 0, 0, 0x1f, 0xd6 }, 4, 0, 4, 0, "br     x0" },
	{ MACHINE_AARCH64, { 0xff, 0xff, 0xff, 0xff, 0x1f }, 5, 0, 4, 0, "(bad)" },
	{ MACHINE_AARCH64, { 0x1f, 0x20, 0x03 }, 3, -CPI_ETRUNCATED, 0, 0, NULL },
};

START_TEST(instructions_decode)
{
	struct insn insn = { .size = 77 };
	char text[ISA_TEXT_SIZE];
	struct isa *isa;

	ck_assert_int_eq(isa_open(insns[_i].machine, &isa), 0);
	ck_assert_int_eq(isa_decode(isa, insns[_i].code, insns[_i].size, ADDRESS,
				    &insn),
			 insns[_i].err);
	if (insns[_i].err) {
		ck_assert_uint_eq(insn.size, 77);
	} else {
		ck_assert_str_eq(isa_text(isa, &insn, text), insns[_i].text);
		ck_assert_uint_eq(insn.size, insns[_i].length);
		ck_assert_uint_eq(insn.target, insns[_i].target);
		ck_assert_uint_eq(insn.address, ADDRESS);
	}
	isa_close(isa);
}
END_TEST

#define GENERAL(n)  (1ULL << (ISA_GENERAL + (n)))
#define FLAGS       (1ULL << ISA_FLAGS)
#define PC          (1ULL << ISA_PC)
#define VECTOR(n)   (1ULL << (n)) /* of the high word */
#define TEXT(bytes) (const uint8_t *)(bytes), sizeof(bytes) - 1

/* What instructions are, and which registers they touch: bit[0] and bit[1] of each. */
static const struct {
	enum machine machine;
	const uint8_t *code;
	size_t size;
	uint32_t kind;
	uint64_t reads[2], writes[2];
	struct insn_memory memory;
} facts[] = {
	/* mov eax, [rbx+rcx*4-8] */
	{ MACHINE_X86_64,
	  TEXT("\x8b\x44\x8b\xf8"),
	  INSN_LOAD,
	  { GENERAL(3) | GENERAL(1) },
	  { GENERAL(0) },
	  { ISA_GENERAL + 3, ISA_GENERAL + 1, 4, 4, -8 } },
	/* mov ah, cl */
	{ MACHINE_X86_64,
	  TEXT("\x88\xcc"),
	  INSN_MOVE,
	  { GENERAL(1) },
	  { GENERAL(0) },
	  { 0 } },
	/* lock cmpxchg [rdi], esi */
	{ MACHINE_X86_64,
	  TEXT("\xf0\x0f\xb1\x37"),
	  INSN_LOAD | INSN_STORE | INSN_ATOMIC,
	  { GENERAL(7) | GENERAL(6) | GENERAL(0) },
	  { GENERAL(0) | FLAGS },
	  { ISA_GENERAL + 7, 0, 0, 4, 0 } },
	/* xchg [rdi], rax */
	{ MACHINE_X86_64,
	  TEXT("\x48\x87\x07"),
	  INSN_LOAD | INSN_STORE | INSN_ATOMIC,
	  { GENERAL(7) | GENERAL(0) },
	  { GENERAL(0) },
	  { ISA_GENERAL + 7, 0, 0, 8, 0 } },
	/* div rcx */
	{ MACHINE_X86_64,
	  TEXT("\x48\xf7\xf1"),
	  INSN_DIVIDE,
	  { GENERAL(0) | GENERAL(1) | GENERAL(2) },
	  { GENERAL(0) | GENERAL(2) | FLAGS },
	  { 0 } },
	/* xor eax, eax waits for nothing */
	{ MACHINE_X86_64, TEXT("\x31\xc0"), 0, { 0 }, { GENERAL(0) | FLAGS }, { 0 } },
	/* xor eax, ecx */
	{ MACHINE_X86_64,
	  TEXT("\x31\xc8"),
	  0,
	  { GENERAL(0) | GENERAL(1) },
	  { GENERAL(0) | FLAGS },
	  { 0 } },
	/* lea rdx, [rip+0x10]: no access */
	{ MACHINE_X86_64,
	  TEXT("\x48\x8d\x15\x10\0\0\0"),
	  0,
	  { PC },
	  { GENERAL(2) },
	  { ISA_PC, 0, 0, 0, ADDRESS + 0x17 } },
	/* je */
	{ MACHINE_X86_64,
	  TEXT("\x74\x10"),
	  INSN_JUMP | INSN_COND,
	  { FLAGS },
	  { 0 },
	  { 0 } },
	/* jrcxz */
	{ MACHINE_X86_64,
	  TEXT("\xe3\x10"),
	  INSN_JUMP | INSN_COND,
	  { GENERAL(1) },
	  { 0 },
	  { 0 } },
	/* jmp rax; notrack jmp rax */
	{ MACHINE_X86_64,
	  TEXT("\xff\xe0"),
	  INSN_JUMP | INSN_INDIRECT,
	  { GENERAL(0) },
	  { 0 },
	  { 0 } },
	{ MACHINE_X86_64,
	  TEXT("\x3e\xff\xe0"),
	  INSN_JUMP | INSN_INDIRECT,
	  { GENERAL(0) },
	  { 0 },
	  { 0 } },
	/* jmp [rax*8+0x1000] */
	{ MACHINE_X86_64,
	  TEXT("\xff\x24\xc5\0\x10\0\0"),
	  INSN_JUMP | INSN_INDIRECT | INSN_LOAD,
	  { GENERAL(0) },
	  { 0 },
	  { 0, ISA_GENERAL, 8, 8, 0x1000 } },
	/* call rax */
	{ MACHINE_X86_64,
	  TEXT("\xff\xd0"),
	  INSN_CALL | INSN_INDIRECT | INSN_STORE,
	  { GENERAL(0) | GENERAL(4) },
	  { GENERAL(4) },
	  { 0 } },
	/* ret */
	{ MACHINE_X86_64,
	  TEXT("\xc3"),
	  INSN_RETURN | INSN_LOAD,
	  { GENERAL(4) },
	  { GENERAL(4) },
	  { 0 } },
	/* rep movsb */
	{ MACHINE_X86_64,
	  TEXT("\xf3\xa4"),
	  INSN_REPEAT | INSN_LOAD | INSN_STORE,
	  { GENERAL(1) | GENERAL(6) | GENERAL(7) | 1ULL << ISA_CONTROL },
	  { GENERAL(1) | GENERAL(6) | GENERAL(7) },
	  { ISA_GENERAL + 7, 0, 0, 1, 0 } },
	/* ud2, mfence, prefetcht0 [rax], nop [rax+rax], syscall */
	{ MACHINE_X86_64, TEXT("\x0f\x0b"), INSN_TRAP, { 0 }, { 0 }, { 0 } },
	{ MACHINE_X86_64, TEXT("\x0f\xae\xf0"), INSN_FENCE, { 0 }, { 0 }, { 0 } },
	{ MACHINE_X86_64,
	  TEXT("\x0f\x18\x08"),
	  INSN_PREFETCH,
	  { GENERAL(0) },
	  { 0 },
	  { ISA_GENERAL, 0, 0, 1, 0 } },
	{ MACHINE_X86_64,
	  TEXT("\x0f\x1f\x04\0"),
	  INSN_NOP,
	  { GENERAL(0) },
	  { 0 },
	  { ISA_GENERAL, ISA_GENERAL, 1, 4, 0 } },
	{ MACHINE_X86_64,
	  TEXT("\x0f\x05"),
	  INSN_SYSCALL,
	  { 0 },
	  { GENERAL(0) | GENERAL(1) | GENERAL(11) },
	  { 0 } },
	/* vaddpd ymm1, ymm2, [rip+0] */
	{ MACHINE_X86_64,
	  TEXT("\xc5\xed\x58\x0d\0\0\0\0"),
	  INSN_LOAD,
	  { PC | 1ULL << ISA_CONTROL, VECTOR(2) },
	  { 0, VECTOR(1) },
	  { ISA_PC, 0, 0, 32, ADDRESS + 8 } },

	/* ldr w3, [x1, w2, uxtw #2] */
	{ MACHINE_AARCH64,
	  TEXT("\x23\x58\x62\xb8"),
	  INSN_LOAD,
	  { GENERAL(1) | GENERAL(2) },
	  { GENERAL(3) },
	  { ISA_GENERAL + 1, ISA_GENERAL + 2, 4, 4, 0 } },
	/* stp x29, x30, [sp, #-16]! */
	{ MACHINE_AARCH64,
	  TEXT("\xfd\x7b\xbf\xa9"),
	  INSN_STORE,
	  { GENERAL(29) | GENERAL(30) | GENERAL(31) },
	  { GENERAL(31) },
	  { ISA_GENERAL + 31, 0, 0, 16, -16 } },
	/* ldr q0, [x0], #16 */
	{ MACHINE_AARCH64,
	  TEXT("\0\x04\xc1\x3c"),
	  INSN_LOAD,
	  { GENERAL(0) },
	  { GENERAL(0), VECTOR(0) },
	  { ISA_GENERAL, 0, 0, 16, 0 } },
	/* ldr x5, .+8 */
	{ MACHINE_AARCH64,
	  TEXT("\x45\0\0\x58"),
	  INSN_LOAD,
	  { 0 },
	  { GENERAL(5) },
	  { ISA_PC, 0, 0, 8, ADDRESS + 8 } },
	/* cmp w0, #9; udiv x0, x1, x2; mov x0, x1 */
	{ MACHINE_AARCH64,
	  TEXT("\x1f\x24\0\x71"),
	  0,
	  { GENERAL(0) },
	  { FLAGS },
	  { 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\x20\x08\xc2\x9a"),
	  INSN_DIVIDE,
	  { GENERAL(1) | GENERAL(2) },
	  { GENERAL(0) },
	  { 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\xe0\x03\x01\xaa"),
	  INSN_MOVE,
	  { GENERAL(1) },
	  { GENERAL(0) },
	  { 0 } },
	/* ldadd w1, w2, [x0]; ldaxr w0, [x1] */
	{ MACHINE_AARCH64,
	  TEXT("\x02\0\x21\xb8"),
	  INSN_LOAD | INSN_STORE | INSN_ATOMIC,
	  { GENERAL(0) | GENERAL(1) },
	  { GENERAL(2) },
	  { ISA_GENERAL, 0, 0, 4, 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\x20\xfc\x5f\x88"),
	  INSN_LOAD | INSN_ATOMIC,
	  { GENERAL(1) },
	  { GENERAL(0) },
	  { ISA_GENERAL + 1, 0, 0, 4, 0 } },
	/* b.hi; cbz x0; br x0; blr x1; ret; brk; nop; dmb ish */
	{ MACHINE_AARCH64,
	  TEXT("\x48\0\0\x54"),
	  INSN_JUMP | INSN_COND,
	  { FLAGS },
	  { 0 },
	  { 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\x40\0\0\xb4"),
	  INSN_JUMP | INSN_COND,
	  { GENERAL(0) },
	  { 0 },
	  { 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\0\0\x1f\xd6"),
	  INSN_JUMP | INSN_INDIRECT,
	  { GENERAL(0) },
	  { 0 },
	  { 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\x20\0\x3f\xd6"),
	  INSN_CALL | INSN_INDIRECT,
	  { GENERAL(1) | GENERAL(31) },
	  { GENERAL(30) },
	  { 0 } },
	{ MACHINE_AARCH64,
	  TEXT("\xc0\x03\x5f\xd6"),
	  INSN_RETURN,
	  { GENERAL(30) },
	  { 0 },
	  { 0 } },
	{ MACHINE_AARCH64, TEXT("\0\0\x20\xd4"), INSN_TRAP, { 0 }, { 0 }, { 0 } },
	{ MACHINE_AARCH64, TEXT("\x1f\x20\x03\xd5"), INSN_NOP, { 0 }, { 0 }, { 0 } },
	{ MACHINE_AARCH64, TEXT("\xbf\x3b\x03\xd5"), INSN_FENCE, { 0 }, { 0 }, { 0 } },
};

START_TEST(kinds_registers_and_memory_are_known)
{
	struct insn insn;
	struct isa *isa;
	char text[ISA_TEXT_SIZE];

	ck_assert_int_eq(isa_open(facts[_i].machine, &isa), 0);
	ck_assert_int_eq(
		isa_decode(isa, facts[_i].code, facts[_i].size, ADDRESS, &insn), 0);
	isa_text(isa, &insn, text);
	ck_assert_uint_eq(insn.size, facts[_i].size);
	ck_assert_msg(insn.kind == facts[_i].kind, "%s: kind %x, not %x", text,
		      insn.kind, facts[_i].kind);
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(insn.reads.bit[i] == facts[_i].reads[i],
			      "%s: reads %016llx", text,
			      (unsigned long long)insn.reads.bit[i]);
		ck_assert_msg(insn.writes.bit[i] == facts[_i].writes[i],
			      "%s: writes %016llx", text,
			      (unsigned long long)insn.writes.bit[i]);
	}
	ck_assert_msg(insn.memory.base == facts[_i].memory.base &&
			      insn.memory.index == facts[_i].memory.index &&
			      insn.memory.scale == facts[_i].memory.scale &&
			      insn.memory.size == facts[_i].memory.size &&
			      insn.memory.displacement == facts[_i].memory.displacement,
		      "%s: %d + %d * %d + %lld, size %d", text, insn.memory.base,
		      insn.memory.index, insn.memory.scale,
		      (long long)insn.memory.displacement, insn.memory.size);
	isa_close(isa);
}
END_TEST

/* What instructions of AArch64 compute; what is not known is ISA_OP_OTHER. */
static const struct {
	const char *text;
	uint32_t word;
	struct isa_effect effect;
} effects[] = {
	{ "ldr    x0, [x1]",
	  0xf9400020,
	  { .op = ISA_OP_LOAD, .to = ISA_GENERAL, .size = 8 } },
	{ "prfm   pldl1keep, [x1]", 0xf9800020, { .op = ISA_OP_OTHER } },
	{ "prfm   pldl1keep, [x1, x2]", 0xf8a26820, { .op = ISA_OP_OTHER } },
	{ "and    w0, w1, #0xff",
	  0x12001c20,
	  { .op = ISA_OP_AND,
	    .to = ISA_GENERAL,
	    .a = ISA_GENERAL + 1,
	    .value = 0xff } },
	{ "and    x0, x1, #0xffffffffff",
	  0x92409c20,
	  { .op = ISA_OP_AND,
	    .to = ISA_GENERAL,
	    .a = ISA_GENERAL + 1,
	    .value = 0xffffffffff } },
	{ "and    w0, w1, #0xff00ff", 0x12009c20, { .op = ISA_OP_OTHER } },
};

START_TEST(effects_are_those_of_the_instruction)
{
	const struct isa_effect *want = &effects[_i].effect;
	const uint32_t word = htole32(effects[_i].word);
	char text[ISA_TEXT_SIZE];
	struct isa_effect e;
	struct insn insn;
	struct isa *isa;

	ck_assert_int_eq(isa_open(MACHINE_AARCH64, &isa), 0);
	ck_assert_int_eq(isa_decode(isa, (const uint8_t *)&word, 4, ADDRESS, &insn), 0);
	ck_assert_str_eq(isa_text(isa, &insn, text), effects[_i].text);
	e = isa_effect(isa, &insn);
	ck_assert_msg(e.op == want->op &&
			      (e.op == ISA_OP_OTHER ||
			       (e.to == want->to && e.a == want->a &&
				e.size == want->size && e.value == want->value)),
		      "%s: operation %d: %d = %d, %lld, size %d", text, e.op, e.to, e.a,
		      (long long)e.value, e.size);
	isa_close(isa);
}
END_TEST

START_TEST(an_unknown_machine_is_refused)
{
	struct isa *isa = NULL;

	ck_assert_int_eq(isa_open(MACHINE_UNKNOWN, &isa), -CPI_EFORMAT);
	ck_assert_ptr_null(isa);
	isa_close(NULL);
}
END_TEST

START_TEST(any_bytes_decode_to_their_end)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	enum machine machine = _i ? MACHINE_AARCH64 : MACHINE_X86_64;
	char text[ISA_TEXT_SIZE];
	uint8_t code[256];
	struct insn insn;
	struct isa *isa;
	int err;

	ck_assert_int_eq(isa_open(machine, &isa), 0);
	for (int round = 0; round < 2000; round++) {
		size_t at = 0;

		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)unit_random(&state);
		for (; at < sizeof(code); at += insn.size) {
			err = isa_decode(isa, code + at, sizeof(code) - at,
					 ADDRESS + at, &insn);
			if (err)
				break;
			ck_assert_msg(insn.size && insn.size <= sizeof(code) - at &&
					      isa_text(isa, &insn, text)[0],
				      "seed %llu", (unsigned long long)seed);
		}
		ck_assert_msg(at > sizeof(code) - 16, "seed %llu: stopped at %zu",
			      (unsigned long long)seed, at);
	}
	isa_close(isa);
}
END_TEST

static Suite *isa_suite(void)
{
	Suite *s = suite_create("isa");
	TCase *tc = tcase_create("isa");

	tcase_add_loop_test(tc, instructions_decode, 0, NR(insns));
	tcase_add_loop_test(tc, kinds_registers_and_memory_are_known, 0, NR(facts));
	tcase_add_loop_test(tc, effects_are_those_of_the_instruction, 0, NR(effects));
	tcase_add_test(tc, an_unknown_machine_is_refused);
	tcase_add_loop_test(tc, any_bytes_decode_to_their_end, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(isa_suite)
