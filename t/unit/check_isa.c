/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "analysis/isa.h"
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
	  "jmp    qword ptr [rip + 1]" },
	{ MACHINE_X86_64, { 0xc2, 8, 0 }, 3, 0, 3, 0, "ret    8" },
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
	  "ldr    x0, [x0, #8]" },
	{ MACHINE_AARCH64,
	  { 0x04, 0, 0, 0x94 },
	  4,
	  0,
	  4,
	  ADDRESS + 16,
	  "bl     #0x401010" },
	{ MACHINE_AARCH64,
	  { 0x40, 0, 0, 0xb4 },
	  4,
	  0,
	  4,
	  ADDRESS + 8,
	  "cbz    x0, #0x401008" },
	{ MACHINE_AARCH64,
	  { 0x40, 0, 0x18, 0x37 },
	  4,
	  0,
	  4,
	  ADDRESS + 8,
	  "tbnz   w0, #3, #0x401008" },
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
	tcase_add_test(tc, an_unknown_machine_is_refused);
	tcase_add_loop_test(tc, any_bytes_decode_to_their_end, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(isa_suite)
