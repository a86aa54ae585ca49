/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_address.c: loops of one block, and where one of their loads goes.
 */
#include "config.h"

#include "analysis/blame/blame_address.h"

#include "t/unit/cfg_make.h"

#define MAX_INSNS 8

static const struct {
	const char *what, *code;
	size_t size;
	int insn;
	enum address_walk walk;
	int64_t stride;
} loops[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	/* mov rax, [rax] */
	{ "a pointer to the next", CODE("\x48\x8b\x00"), 0, ADDRESS_LOADED, 0 },
	/* mov rdx, [rdi]; add rdi, 8 */
	{ "through an array", CODE("\x48\x8b\x17\x48\x83\xc7\x08"), 0, ADDRESS_STEPS,
	  8 },
	/* mov rdx, [rdi]; sub rdi, 16 */
	{ "backwards", CODE("\x48\x8b\x17\x48\x83\xef\x10"), 0, ADDRESS_STEPS, -16 },
	/* mov rdx, [rdi + 8 * rax]; inc rax */
	{ "an index", CODE("\x48\x8b\x14\xc7\x48\xff\xc0"), 0, ADDRESS_STEPS, 8 },
	/* mov rdx, [rsp + 8]; inc rax */
	{ "the stack", CODE("\x48\x8b\x54\x24\x08\x48\xff\xc0"), 0, ADDRESS_FIXED, 0 },
	/* mov rdx, [rip + 4096]; inc rax */
	{ "a global", CODE("\x48\x8b\x15\0\x10\0\0\x48\xff\xc0"), 0, ADDRESS_FIXED, 0 },
	/* imul rax, rax, 12345; mov rdx, [rdi + rax] */
	{ "a hash", CODE("\x48\x69\xc0\x39\x30\0\0\x48\x8b\x14\x07"), 1,
	  ADDRESS_COMPUTED, 0 },
	/* imul rax, rax, 12345; mov rcx, rax; and ecx, 63; mov rdx, [rdi + rcx] */
	{ "a hash within a page",
	  CODE("\x48\x69\xc0\x39\x30\0\0\x48\x89\xc1\x83\xe1\x3f\x48\x8b\x14\x0f"), 3,
	  ADDRESS_NEAR, 0 },
	/* imul rax, rax, 12345; mov rcx, rax; shl rcx, 12; mov rdx, [rdi + rcx] */
	{ "a hash of pages",
	  CODE("\x48\x69\xc0\x39\x30\0\0\x48\x89\xc1\x48\xc1\xe1\x0c\x48\x8b\x14\x0f"),
	  3, ADDRESS_PAGES, 0 },
	/* lea rcx, [rsi + 4160]; mov rsi, rcx; mov rdx, [rdi + rsi] */
	{ "a step round two registers",
	  CODE("\x48\x8d\x8e\x40\x10\0\0\x48\x89\xce\x48\x8b\x14\x37"), 2,
	  ADDRESS_STEPS, 4160 },
	/* mov rdx, [rdi + rax]; add rax, 4160; and eax, 0xffffff */
	{ "a step that wraps",
	  CODE("\x48\x8b\x14\x07\x48\x05\x40\x10\0\0\x25\xff\xff\xff\0"), 0,
	  ADDRESS_STEPS, 4160 },
	/* mov rdx, [rdi + rax]; add rax, 64; cmp rax, rsi; cmovae rax, r8 */
	{ "a step that begins anew",
	  CODE("\x48\x8b\x14\x07\x48\x83\xc0\x40\x48\x39\xf0\x49\x0f\x43\xc0"), 0,
	  ADDRESS_STEPS, 64 },
	/* mov rdx, [rdi + rax]; lea rcx, [rax + 64]; imul rax, rax, 12345; cmovae rax,
	   rcx */
	{ "a step or a hash",
	  CODE("\x48\x8b\x14\x07\x48\x8d\x48\x40\x48\x69\xc0\x39\x30\0\0\x48\x0f\x43"
	       "\xc1"),
	  0, ADDRESS_COMPUTED, 0 },
	/* the other way round: cmovae rcx, rax; mov rax, rcx */
	{ "a hash or a step",
	  CODE("\x48\x8b\x14\x07\x48\x8d\x48\x40\x48\x69\xc0\x39\x30\0\0"
	       "\x48\x0f\x43\xc8\x48\x89\xc8"),
	  0, ADDRESS_COMPUTED, 0 },
	/* mov rax, [rsp]; mov rdx, [rdi + rax]; add rax, 64; mov [rsp], rax */
	{ "a step that was spilled",
	  CODE("\x48\x8b\x04\x24\x48\x8b\x14\x07\x48\x83\xc0\x40\x48\x89\x04\x24"), 1,
	  ADDRESS_STEPS, 64 },
	/* mov rdx, [rdi]; add rdi, rsi */
	{ "a step nobody knows", CODE("\x48\x8b\x17\x48\x01\xf7"), 0, ADDRESS_STEPS,
	  0 },
	/* mov rax, [rsi]; add rsi, 8; mov rdx, [rdi + 8 * rax] */
	{ "an index from memory", CODE("\x48\x8b\x06\x48\x83\xc6\x08\x48\x8b\x14\xc7"),
	  2, ADDRESS_LOADED, 0 },
#undef CODE
};

/* One block that runs again and again, after the one that leads there. */
static struct cfg *make_loop(struct arena *arena, struct isa *isa, const char *code,
			     size_t size)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_FALL },
						{ 1, 1, EDGE_TAKEN },
						{ 1, 2, EDGE_RETURN } };
	struct cfg *cfg = cfg_make(arena, 3, edge, NR(edge));
	size_t at = 0;

	cfg->insn = arena_array(arena, MAX_INSNS, sizeof(*cfg->insn));
	cfg->nr_insns = 1;
	while (at < size) {
		struct insn *insn = &cfg->insn[cfg->nr_insns++];

		ck_assert_int_lt(cfg->nr_insns, MAX_INSNS);
		ck_assert_int_eq(isa_decode(isa, (const uint8_t *)code + at, size - at,
					    0x1000 + at, insn),
				 0);
		at += insn->size;
	}
	cfg->block[1].first_insn = 1;
	cfg->block[1].nr_insns = cfg->nr_insns - 1;
	return cfg;
}

START_TEST(addresses_walk_as_code_makes_them)
{
	double block[] = { 1, 100, 1 }, runs[] = { 1, 99, 1 };
	const struct freq freq = { .block = block, .edge = runs };
	struct blame_paths paths;
	struct arena arena;
	struct address a;
	struct cfg *cfg;
	struct isa *isa;

	arena_init(&arena, 0);
	ck_assert_int_eq(isa_open(MACHINE_X86_64, &isa), 0);
	cfg = make_loop(&arena, isa, loops[_i].code, loops[_i].size);
	ck_assert_int_eq(blame_paths_init(&paths, cfg, &freq, &arena), 0);
	a = blame_find_address(isa, &paths, 1 + loops[_i].insn);
	ck_assert_msg(a.walk == loops[_i].walk, "%s: %d", loops[_i].what, a.walk);
	if (a.walk == ADDRESS_STEPS)
		ck_assert_msg(a.stride == loops[_i].stride, "%s: %lld", loops[_i].what,
			      (long long)a.stride);
	isa_close(isa);
	arena_fini(&arena);
}
END_TEST

static Suite *address_suite(void)
{
	Suite *s = suite_create("address");
	TCase *tc = tcase_create("address");

	tcase_add_loop_test(tc, addresses_walk_as_code_makes_them, 0, NR(loops));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(address_suite)
