/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares and the jumps behind them. On x86-64 the oracle is the processor: each
 * pair is put into memory and run with the same registers and flags.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "abi/branch_arm64.h"
#include "abi/branch_x86_64.h"
#include "t/unit/unit.h"

static const struct {
	const char *what;
	uint8_t code[12];
	unsigned int nr, kind;
} x86[] = {
	{ "cmp rax, rbx; je", { 0x48, 0x39, 0xd8, 0x74, 5 }, 5, CPI_BRANCH_X86_PAIR },
	{ "cmp ax, 256; jb rel32",
	  { 0x66, 0x3d, 0, 1, 0x0f, 0x82, 1, 2, 3, 4 },
	  10,
	  CPI_BRANCH_X86_PAIR },
	{ "test r9b, r9b; hinted jne",
	  { 0x45, 0x84, 0xc9, 0x3e, 0x75, 5 },
	  6,
	  CPI_BRANCH_X86_PAIR },
	{ "cmp rax, [rbx]; je", { 0x48, 0x3b, 0x03, 0x74, 5 }, 5, CPI_BRANCH_NOT },
	{ "adc eax, ebx; je", { 0x11, 0xd8, 0x74, 5 }, 4, CPI_BRANCH_NOT },
	{ "neg eax; je", { 0xf7, 0xd8, 0x74, 5 }, 4, CPI_BRANCH_NOT },
	{ "push rax, by ff; je", { 0xff, 0xf0, 0x74, 5 }, 4, CPI_BRANCH_NOT },
	{ "cmp eax, ebx; sete", { 0x39, 0xd8, 0x0f, 0x94, 0xc0 }, 5, CPI_BRANCH_NOT },
	{ "cmp eax, ebx; mov", { 0x39, 0xd8, 0x89, 0xd8 }, 4, CPI_BRANCH_NOT },
	{ "cut before the jump", { 0x39, 0xd8 }, 2, CPI_BRANCH_UNKNOWN },
	{ "cut in the constant", { 0x81, 0xf8, 1, 2 }, 4, CPI_BRANCH_UNKNOWN },
	{ "cut before ModRM", { 0x48, 0x39 }, 2, CPI_BRANCH_UNKNOWN },
	{ "cut in the jump", { 0x39, 0xd8, 0x0f }, 3, CPI_BRANCH_UNKNOWN },
};

/* Bytes that code is full of, or any: with them a glance meets all its cases. */
static uint8_t random_code_byte(uint64_t *seed)
{
	static const uint8_t usual[] = { 0x0f, 0x2e, 0x31, 0x39, 0x3c, 0x3e, 0x48,
					 0x4c, 0x66, 0x74, 0x83, 0x84, 0x85, 0x89,
					 0xa8, 0xc0, 0xe3, 0xf2, 0xf6, 0xff };

	return unit_random(seed) % 3 ? usual[unit_random(seed) % NR(usual)]
				     : unit_random(seed);
}

START_TEST(x86_a_glance_agrees_with_the_decoder)
{
	uint64_t first = unit_seed(), seed = first | 1;
	unsigned int nr[3] = { 0 }; /* by what it says: none, a jump, decode it */

	for (int i = 0; i < 1000000; i++) {
		uint8_t code[CPI_BRANCH_MAX_BYTES];
		struct cpi_branch b;
		int glance;

		for (size_t n = 0; n < sizeof(code); n++)
			code[n] = random_code_byte(&seed);
		glance = cpi_x86_glance(cpi_x86_code_of(code, sizeof(code)).low);
		nr[glance < 0 ? 0 : glance < CPI_X86_DECODE ? 1 : 2]++;
		if (glance == CPI_X86_DECODE)
			continue;
		b = cpi_branch_decode_x86_64(code, sizeof(code));
		ck_assert_msg(glance < 0
				      ? b.kind == CPI_BRANCH_NOT
				      : b.kind == CPI_BRANCH_X86_CC && b.arg == glance,
			      "%02x %02x %02x %02x %02x: %d, kind %u, SEED=%llu",
			      code[0], code[1], code[2], code[3], code[4], glance,
			      b.kind, (unsigned long long)first);
	}
	for (size_t n = 0; n < NR(nr); n++)
		ck_assert_uint_gt(nr[n], 10000);
}
END_TEST

START_TEST(x86_pairs_are_told_from_the_rest)
{
	struct cpi_branch b = cpi_branch_decode_x86_64(x86[_i].code, x86[_i].nr);

	ck_assert_msg(b.kind == x86[_i].kind, "%s: %u", x86[_i].what, b.kind);
}
END_TEST

#ifdef __x86_64__

/* Code that loads flags and all registers, runs a pair, and says which way it went. */
struct machine {
	uint8_t code[512];
	uint64_t reg[16], flags, stack;
	uint8_t taken;
	size_t size;
	uint8_t *pair; /* in code */
};

static void emit(struct machine *m, const void *bytes, size_t nr)
{
	memcpy(m->code + m->size, bytes, nr);
	m->size += nr;
}

/* An opcode with a RIP-relative operand, and behind that nr bytes of a constant. */
static void emit_at(struct machine *m, const void *opcode, size_t nr_opcode,
		    const void *operand, const void *more, size_t nr)
{
	int32_t distance;

	emit(m, opcode, nr_opcode);
	distance = (int32_t)((const uint8_t *)operand -
			     (m->code + m->size + sizeof(distance) + nr));
	emit(m, &distance, sizeof(distance));
	emit(m, more, nr);
}

static void emit_program(struct machine *m, const uint8_t *pair, size_t nr)
{
	static const uint8_t push[] = { 0x53, 0x55, 0x41, 0x54, 0x41,
					0x55, 0x41, 0x56, 0x41, 0x57 };
	static const uint8_t pop[] = { 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d,
				       0x41, 0x5c, 0x5d, 0x5b, 0xc3 };

	m->size = 0;
	emit(m, push, sizeof(push));
	emit_at(m, "\x48\x89\x25", 3, &m->stack, "", 0); /* mov [stack], rsp */
	emit_at(m, "\xff\x35", 2, &m->flags, "", 0);     /* push [flags]; popf */
	emit(m, "\x9d", 1);
	for (unsigned int r = 0; r < 16; r++) {
		uint8_t mov[] = { r < 8 ? 0x48 : 0x4c, 0x8b, 0x05 | (r & 7) << 3 };

		emit_at(m, mov, sizeof(mov), &m->reg[r], "", 0);
	}
	m->pair = m->code + m->size;
	emit(m, pair, nr); /* jumps over the 9 bytes that come now */
	emit_at(m, "\xc6\x05", 2, &m->taken, "\0", 1);
	emit(m, "\xeb\x07", 2); /* over the next 7 */
	emit_at(m, "\xc6\x05", 2, &m->taken, "\1", 1);
	emit_at(m, "\x48\x8b\x25", 3, &m->stack, "", 0);
	emit(m, pop, sizeof(pop));
}

/* Of a random operation: its operands are registers, or one and a constant. */
static size_t make_pair(uint64_t *seed, uint8_t pair[24])
{
	static const uint8_t opcode[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05,
					  0x80, 0x81, 0x83, 0x84, 0x85, 0xa8,
					  0xa9, 0xf6, 0xf7, 0xfe, 0xff };
	static const uint8_t operation[] = { 0, 1, 4, 5, 6, 7 }; /* no adc, no sbb */
	uint8_t op = opcode[unit_random(seed) % NR(opcode)];
	uint8_t nr = operation[unit_random(seed) % NR(operation)];
	uint8_t cc = unit_random(seed) % 16, rex = 0;
	size_t size = 0, constant = 0;
	bool word = unit_random(seed) % 4 == 0;

	if (word)
		pair[size++] = 0x66;
	if (unit_random(seed) % 2)
		pair[size++] = rex = 0x40 | unit_random(seed) % 16;
	if (op < 6)
		op |= nr << 3;
	else if (op >= 0xf6)
		nr = unit_random(seed) % 2;
	pair[size++] = op;
	if ((op & 0xc4) != 4 && op < 0xa8)
		pair[size++] = 0xc0 | unit_random(seed) % 64;
	else if (op >= 0xf6)
		pair[size++] = 0xc0 | unit_random(seed) % 8;
	if ((op >= 0x80 && op <= 0x83) || op >= 0xf6)
		pair[size - 1] = (pair[size - 1] & 0xc7) | nr << 3;
	if (op == 0x83 || op == 0x80 || op == 0xa8 || op == 0xf6 ||
	    (op < 0x40 && (op & 7) == 4))
		constant = 1;
	else if (op == 0x81 || op == 0xa9 || op == 0xf7 || (op < 0x40 && (op & 7) == 5))
		constant = word && !(rex & 8) ? 2 : 4;
	for (; constant; constant--)
		pair[size++] = unit_random(seed) % 3 ? unit_random(seed)
						     : -(unit_random(seed) % 2);
	if (unit_random(seed) % 4 == 0)
		pair[size++] = 0x3e;
	if (unit_random(seed) % 2) {
		pair[size++] = 0x70 | cc;
		pair[size++] = 9;
	} else {
		const uint8_t far[] = { 0x0f, 0x80 | cc, 9, 0, 0, 0 };

		memcpy(pair + size, far, sizeof(far));
		size += sizeof(far);
	}
	return size;
}

/* Equal ones, small ones, and those at the ends of each width. */
static uint64_t random_value(uint64_t *seed)
{
	static const uint8_t width[] = { 8, 16, 32, 64 };
	uint64_t top = 1ULL << (width[unit_random(seed) % 4] - 1);

	switch (unit_random(seed) % 4) {
	case 0:
		return unit_random(seed);
	case 1:
		return top - unit_random(seed) % 2;
	case 2:
		return 2 * top - 1;
	}
	return unit_random(seed) % 3 - 1;
}

START_TEST(x86_pairs_go_as_the_processor_goes)
{
	uint64_t first = unit_seed(), seed = first | 1;
	unsigned int taken = 0, nr = 30000;
	struct machine *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(m, MAP_FAILED);
	for (unsigned int i = 0; i < nr; i++) {
		uint8_t pair[24];
		size_t size = make_pair(&seed, pair);
		void (*run)(void) = (void (*)(void))m->code;
		enum cpi_outcome got;
		struct cpi_branch b;

		emit_program(m, pair, size);
		for (unsigned int r = 0; r < 16; r++)
			m->reg[r] = random_value(&seed);
		m->flags = 2 |
			   (unit_random(&seed) & (CPI_X86_CF | CPI_X86_PF | CPI_X86_ZF |
						  CPI_X86_SF | CPI_X86_OF));
		b = cpi_branch_decode_x86_64(m->pair, CPI_BRANCH_MAX_BYTES);
		ck_assert_msg(b.kind == CPI_BRANCH_X86_PAIR && b.left < 16,
			      "opcode %02x %02x %02x %02x: kind %u, SEED=%llu", pair[0],
			      pair[1], pair[2], pair[3], b.kind,
			      (unsigned long long)first);
		got = cpi_branch_outcome_x86_64(b, m->flags, m->reg[b.left],
						b.right < 16 ? m->reg[b.right]
							     : unit_random(&seed));
		run();
		ck_assert_msg(
			got == (m->taken ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN),
			"opcode %02x %02x %02x %02x: taken %u, SEED=%llu", pair[0],
			pair[1], pair[2], pair[3], m->taken, (unsigned long long)first);
		taken += m->taken;
	}
	ck_assert_uint_gt(taken, nr / 4);
	ck_assert_uint_lt(taken, nr / 4 * 3);
	munmap(m, sizeof(*m));
}
END_TEST

#endif

#define B_EQ 0x54000040u
#define B_HS 0x54000042u
#define B_MI 0x54000044u
#define B_VS 0x54000046u
#define B_HI 0x54000048u
#define B_LT 0x5400004bu
#define B_GT 0x5400004cu
#define MIN  (1ULL << 63)

static const struct {
	const char *what;
	uint32_t insn, next;
	uint64_t left, right;
	enum cpi_outcome want;
} arm64[] = {
	{ "cmp x1, #5", 0xf100143f, B_EQ, 5, 0, CPI_OUTCOME_TAKEN },
	{ "cmp x1, #5", 0xf100143f, B_LT, -1ULL, 0, CPI_OUTCOME_TAKEN },
	{ "cmp x1, #5", 0xf100143f, B_HS, -1ULL, 0, CPI_OUTCOME_TAKEN },
	{ "cmp x1, #5", 0xf100143f, B_HS, 4, 0, CPI_OUTCOME_NOT_TAKEN },
	{ "cmp x1, #5", 0xf100143f, B_VS, MIN, 0, CPI_OUTCOME_TAKEN },
	{ "cmp w2, w3", 0x6b03005f, B_EQ, 7, 7 | MIN, CPI_OUTCOME_TAKEN },
	{ "cmp w2, w3", 0x6b03005f, B_LT, 1u << 31, 0, CPI_OUTCOME_TAKEN },
	{ "cmn w4, #4096", 0x3140049f, B_EQ, -4096ULL, 0, CPI_OUTCOME_TAKEN },
	{ "cmn w4, #4096", 0x3140049f, B_HS, -4096ULL, 0, CPI_OUTCOME_TAKEN },
	{ "cmn w4, #4096", 0x3140049f, B_VS, 0x7fffffff, 0, CPI_OUTCOME_TAKEN },
	{ "tst x5, #1 << 63", 0xf24100bf, B_EQ, MIN - 1, 0, CPI_OUTCOME_TAKEN },
	{ "tst x5, #1 << 63", 0xf24100bf, B_MI, MIN, 0, CPI_OUTCOME_TAKEN },
	{ "tst w6, #0xff00ff00", 0x72089cdf, B_EQ, 0xff00ff, 0, CPI_OUTCOME_TAKEN },
	{ "tst w6, #0xff00ff00", 0x72089cdf, B_EQ, 0x100, 0, CPI_OUTCOME_NOT_TAKEN },
	{ "tst w7, #1", 0x720000ff, B_EQ, 6, 0, CPI_OUTCOME_TAKEN },
	{ "tst x8, #~1 >> 1", 0xf27ff51f, B_EQ, MIN | 1, 0, CPI_OUTCOME_TAKEN },
	{ "cmp x9, x10, asr #3", 0xeb8a0d3f, B_EQ, -2ULL, -16ULL, CPI_OUTCOME_TAKEN },
	{ "cmp x9, x10, asr #3", 0xeb8a0d3f, B_GT, 0, -16ULL, CPI_OUTCOME_TAKEN },
	{ "subs x11, x12, x13, lsl #2", 0xeb0d098b, B_HI, 21, 5, CPI_OUTCOME_TAKEN },
	{ "subs x11, x12, x13, lsl #2", 0xeb0d098b, B_HI, 20, 5,
	  CPI_OUTCOME_NOT_TAKEN },
	{ "adds w14, w15, w16, lsr #31", 0x2b507dee, B_VS, 0x7fffffff, 1u << 31,
	  CPI_OUTCOME_TAKEN },
	{ "tst x17, x18, lsl #63", 0xea12fe3f, B_MI, MIN, 3, CPI_OUTCOME_TAKEN },
	{ "tst x17, x18, lsl #63", 0xea12fe3f, B_MI, MIN, 2, CPI_OUTCOME_NOT_TAKEN },
	{ "cmp sp, #16", 0xf10043ff, B_EQ, 0, 0, CPI_OUTCOME_NONE },
	{ "bics", 0xea230041, B_EQ, 0, 0, CPI_OUTCOME_NONE },
	{ "tst x0, x1, ror #1", 0xeac1041f, B_EQ, 0, 0, CPI_OUTCOME_NONE },
	{ "cmp w0, w1, uxtb", 0x6b21001f, B_EQ, 0, 0, CPI_OUTCOME_NONE },
	{ "cmp x1, #5, then no jump", 0xf100143f, 0xd65f03c0, 5, 0, CPI_OUTCOME_NONE },
	{ "cmp x1, #5, then unknown", 0xf100143f, 0, 5, 0, CPI_OUTCOME_NONE },
	{ "add, no flags", 0x91001421, B_EQ, 5, 0, CPI_OUTCOME_NONE },
};

START_TEST(arm64_pairs_are_decided)
{
	struct cpi_branch b = cpi_branch_decode_arm64(arm64[_i].insn, arm64[_i].next);
	enum cpi_outcome got =
		cpi_branch_outcome_arm64(b, arm64[_i].left, arm64[_i].right, 0);

	ck_assert_msg(got == arm64[_i].want, "%s, %#x: %d", arm64[_i].what,
		      arm64[_i].next, got);
}
END_TEST

START_TEST(any_bytes_are_decided_on_without_harm)
{
	uint64_t first = unit_seed(), seed = first | 1;

	for (int i = 0; i < 200000; i++) {
		uint64_t bytes[2] = { unit_random(&seed), unit_random(&seed) };
		uint64_t left = unit_random(&seed), right = unit_random(&seed);
		unsigned int n = unit_random(&seed) % (CPI_BRANCH_MAX_BYTES + 1);
		uint8_t *code = malloc(n);
		struct cpi_branch b;

		memcpy(code, bytes, n);
		b = cpi_branch_decode_x86_64(code, n);
		free(code);
		ck_assert_uint_le(b.kind, CPI_BRANCH_UNKNOWN);
		cpi_branch_outcome_x86_64(b, left, right, left);
		b = cpi_branch_decode_arm64((uint32_t)bytes[0], B_EQ);
		ck_assert_uint_le(b.kind, CPI_BRANCH_UNKNOWN);
		cpi_branch_outcome_arm64(b, left, right, 0);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("branch_pair");
	TCase *tc = tcase_create("branch_pair");

	tcase_add_test(tc, x86_a_glance_agrees_with_the_decoder);
	tcase_add_loop_test(tc, x86_pairs_are_told_from_the_rest, 0, NR(x86));
#ifdef __x86_64__
	tcase_add_test(tc, x86_pairs_go_as_the_processor_goes);
#endif
	tcase_add_loop_test(tc, arm64_pairs_are_decided, 0, NR(arm64));
	tcase_add_test(tc, any_bytes_are_decided_on_without_harm);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
