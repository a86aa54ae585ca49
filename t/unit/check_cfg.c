/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cfg/cfg.h"
#include "analysis/image/image.h"
#include "base/err.h"
#include "t/unit/unit.h"

struct fixture {
	struct image *im;
	struct isa *isa;
	struct arena arena;
	struct cfg *cfg;
};

static void open_fixture(struct fixture *f, const char *file, const char *procedure)
{
	struct image_desc desc = { .kind = IMAGE_FILE };
	const struct symbol *s;
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/fixtures/cfg/%s", getenv("srcdir"), file);
	desc.name = path;
	ck_assert_int_eq(image_open(&desc, NULL, &f->im), 0);
	ck_assert_int_eq(isa_open(image_machine(f->im), &f->isa), 0);
	arena_init(&f->arena, 0);
	ck_assert_int_eq(image_symbol_named(f->im, procedure, &s), 0);
	ck_assert_int_eq(cfg_build(f->im, f->isa, s, &f->arena, &f->cfg), 0);
}

static void close_fixture(struct fixture *f)
{
	arena_fini(&f->arena);
	isa_close(f->isa);
	image_close(f->im);
}

static int nr_edges(const struct cfg *g, enum edge_kind kind, int to)
{
	int n = 0;

	for (int i = 0; i < g->nr_edges; i++)
		n += g->edge[i].kind == kind && (to < 0 || g->edge[i].to == to);
	return n;
}

static const char *const files[] = {
	"x86-gcc-O2", "x86-gcc-O2-pic", "x86-clang-O2", "x86-clang-O2-pic",
	"arm-gcc-O2", "arm-gcc-O2-pic", "arm-clang-O2", "arm-clang-O2-pic",
	"x86-gcc-O0", "x86-gcc-O0-pic", "x86-clang-O0", "x86-clang-O0-pic",
	"arm-gcc-O0", "arm-gcc-O0-pic", "arm-clang-O0", "arm-clang-O0-pic",
};

/* Procedures of switch.c, and how many places their jump tables lead to. */
static const struct {
	const char *procedure;
	int nr_targets;
} switches[] = {
	{ "dense", 18 },     /* its cases */
	{ "biased", 18 },    /* its cases */
	{ "holes", 37 },     /* its cases, and the default */
	{ "interpret", 18 }, /* its cases */
	{ "threaded", 4 },   /* its labels */
};

START_TEST(jump_tables_lead_to_every_case)
{
	const char *file = files[_i / (int)NR(switches)];
	const char *procedure = switches[_i % NR(switches)].procedure;
	struct fixture f;
	int targets = 0;

	open_fixture(&f, file, procedure);
	for (int i = 0; i < f.cfg->nr_blocks; i++) {
		const struct cfg_block *b = &f.cfg->block[i];
		bool entered = false;

		for (int k = 0; k < b->nr_in; k++)
			entered |= f.cfg->edge[f.cfg->in[b->first_in + k]].kind ==
				   EDGE_INDIRECT;
		targets += entered;
	}
	ck_assert_msg(!f.cfg->missing_edges, "%s: %s: missing edges", file, procedure);
	ck_assert_msg(targets == switches[_i % NR(switches)].nr_targets,
		      "%s: %s: %d targets", file, procedure, targets);
	close_fixture(&f);
}
END_TEST

/* What else the compilers are known to make of the procedures. */
static const struct {
	const char *procedure;
	int least_leaves; /* edges */
	int returns;      /* 1: some, 0: none, -1: not looked at */
	bool optimised;   /* only in what is */
} ways[] = {
	{ "tail", 1, 0, true },   { "tail_pointer", 1, 0, true },
	{ "dies", 1, 1, false },  { "loops", 0, 1, false },
	{ "dense", 0, 1, false }, { "abort", 0, 0, false },
};

START_TEST(procedures_are_left_as_they_are_written)
{
	const char *file = files[_i / (int)NR(ways)];
	const size_t w = (size_t)_i % NR(ways);
	struct fixture f;
	int leaves, returns;

	if (ways[w].optimised && strstr(file, "O0"))
		return;
	open_fixture(&f, file, ways[w].procedure);
	leaves = nr_edges(f.cfg, EDGE_LEAVE, f.cfg->exit);
	returns = nr_edges(f.cfg, EDGE_RETURN, f.cfg->exit);
	ck_assert_msg(leaves >= ways[w].least_leaves &&
			      (leaves == 0) == (ways[w].least_leaves == 0),
		      "%s: %s: left %d times", file, ways[w].procedure, leaves);
	ck_assert_msg((returns > 0) == ways[w].returns, "%s: %s: returns %d times",
		      file, ways[w].procedure, returns);
	ck_assert(!f.cfg->missing_edges);
	close_fixture(&f);
}
END_TEST

START_TEST(a_call_that_does_not_return_ends_its_block)
{
	struct fixture f;
	bool found = false;

	open_fixture(&f, files[_i], "dies");
	for (int i = 0; i < f.cfg->exit; i++) {
		const struct cfg_block *b = &f.cfg->block[i];
		const struct insn *last = &f.cfg->insn[b->first_insn + b->nr_insns - 1];

		if (!(last->kind & INSN_CALL))
			continue;
		found = true;
		ck_assert_int_eq(b->nr_out, 1);
		ck_assert_int_eq(f.cfg->edge[b->first_out].to, f.cfg->exit);
		ck_assert_int_eq(f.cfg->edge[b->first_out].kind, EDGE_LEAVE);
	}
	ck_assert(found);
	close_fixture(&f);
}
END_TEST

START_TEST(a_loop_goes_back)
{
	struct fixture f;
	bool back = false;

	open_fixture(&f, files[_i], "loops");
	for (int i = 0; i < f.cfg->nr_edges; i++)
		back |= f.cfg->edge[i].to <= f.cfg->edge[i].from;
	ck_assert(back);
	close_fixture(&f);
}
END_TEST

START_TEST(a_cold_part_is_part_of_its_procedure)
{
	static const char *const with_cold[] = { "x86-gcc-O2", "x86-gcc-O2-pic" };
	const struct symbol *cold;
	struct fixture f;
	int block;

	open_fixture(&f, with_cold[_i], "has_cold");
	ck_assert_int_eq(image_symbol_named(f.im, "has_cold.cold", &cold), 0);
	ck_assert_int_eq(f.cfg->nr_parts, 2);
	ck_assert_uint_eq(f.cfg->block[0].start, f.cfg->procedure->start);
	block = cfg_block_at(f.cfg, cold->start);
	ck_assert_int_ge(block, f.cfg->part[1]);
	ck_assert_int_ge(f.cfg->block[block].nr_in, 1);
	ck_assert_int_eq(cfg_block_at(f.cfg, f.cfg->procedure->start), 0);
	close_fixture(&f);
}
END_TEST

START_TEST(exceptions_enter_at_landing_pads)
{
	static const char *const unwound[] = { "x86-unwind", "arm-unwind" };
	struct fixture f;
	int pads = 0;

	open_fixture(&f, unwound[_i], "catches");
	for (int i = 0; i < f.cfg->exit; i++)
		pads += f.cfg->block[i].landing_pad;
	ck_assert_int_ge(pads, 1);
	ck_assert(!f.cfg->block[0].landing_pad);
	close_fixture(&f);
}
END_TEST

/* An image of x86-64 code with a procedure, and data behind it. */
static int build_code_and_data(struct fixture *f, const void *code, size_t size,
			       size_t all)
{
	const struct image_desc desc = { .kind = IMAGE_BPF, .name = "[code]" };
	const struct capture_symbol symbol = { 0x1000, size, "code" };
	const struct capture_code piece = { 0x1000, all, code };

	ck_assert_int_eq(image_open_capture(&desc, MACHINE_X86_64, &symbol, 1, &piece,
					    1, &f->im),
			 0);
	ck_assert_int_eq(isa_open(MACHINE_X86_64, &f->isa), 0);
	arena_init(&f->arena, 64 << 20);
	return cfg_build(f->im, f->isa, image_symbol_at(f->im, 0x1000), &f->arena,
			 &f->cfg);
}

static int build_code(struct fixture *f, const void *code, size_t size)
{
	return build_code_and_data(f, code, size, size);
}

/* Small pieces of code with what is to become of them. */
static const struct {
	const char *what, *code;
	size_t size;
	int blocks, edges; /* without the exit */
	bool missing;
} pieces[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	{ "ret", CODE("\xc3"), 1, 1, false },
	{ "je over a lock prefix", CODE("\x74\x01\xf0\x0f\xb1\x0e\xc3"), 3, 4, false },
	{ "a jump into an instruction", CODE("\xeb\xff\xc0\xc3"), 1, 1, false },
	{ "no instruction", CODE("\x90\x06"), 1, 1, false },
	{ "an instruction that is cut", CODE("\x90\xe8\0\0"), 2, 2, false },
	{ "jmp [rax*8+0x5000]: no such table", CODE("\xff\x24\xc5\0\x50\0\0"), 1, 0,
	  true },
	{ "jmp rax", CODE("\xff\xe0"), 1, 1, false },
	{ "jmp to itself", CODE("\xeb\xfe"), 1, 1, false },
	{ "padding is no block", CODE("\xc3\x0f\x1f\0\x90\xcc"), 1, 1, false },
	{ "code behind padding is", CODE("\xc3\x0f\x1f\0\x31\xc0\xc3"), 2, 2, false },
	{ "ud2", CODE("\x0f\x0b\xc3"), 2, 2, false },
};

START_TEST(pieces_of_code_have_their_blocks)
{
	struct fixture f;

	ck_assert_int_eq(build_code(&f, pieces[_i].code, pieces[_i].size), 0);
	ck_assert_msg(f.cfg->exit == pieces[_i].blocks &&
			      f.cfg->nr_edges == pieces[_i].edges &&
			      f.cfg->missing_edges == pieces[_i].missing,
		      "%s: %d blocks, %d edges", pieces[_i].what, f.cfg->exit,
		      f.cfg->nr_edges);
	close_fixture(&f);
}
END_TEST

/*
 * The register of a table counts elsewhere. The zero that it counts from is no address,
 * so the sum replaces no constant. The table's address is set so far before the jump
 * that it is looked for in the whole procedure.
 */
START_TEST(a_counter_in_the_register_of_a_table_does_not_hide_it)
{
	static const char address[] = "\x48\x8d\x0d\x79\0\0\0"; /* lea rcx, [0x1080] */
	static const char jump[] =
		"\x0f\xb6\x07"              /* movzx eax, byte [rdi] */
		"\x83\xf8\x01\x77\x05"      /* cmp eax, 1; ja 0x1074 */
		"\xff\x24\xc1"              /* jmp [rcx+rax*8] */
		"\xc3\xc3"                  /* 0x1072, 0x1073: ret */
		"\x31\xc9\x48\xff\xc1\xc3"; /* xor ecx, ecx; inc rcx */
	static const uint64_t table[] = { 0x1072, 0x1073 };
	char code[0x90];
	struct fixture f;

	memset(code, 0x90, sizeof(code));
	memcpy(code, address, sizeof(address) - 1);
	memcpy(code + 0x67, jump, sizeof(jump) - 1);
	for (size_t i = 0; i < NR(table); i++)
		memcpy(code + 0x80 + 8 * i, &(uint64_t){ htole64(table[i]) }, 8);
	ck_assert_int_eq(build_code_and_data(&f, code, 0x7a, sizeof(code)), 0);
	ck_assert(!f.cfg->missing_edges);
	ck_assert_int_eq(nr_edges(f.cfg, EDGE_INDIRECT, -1), NR(table));
	close_fixture(&f);
}
END_TEST

START_TEST(bytes_that_are_no_code_are_refused)
{
	struct fixture f;

	ck_assert_int_eq(build_code(&f, "\x06\x06", 2), -CPI_ENOCODE);
	close_fixture(&f);
}
END_TEST

/* I1, I2, and that every offset is found in its block, of any bytes at all. */
static void check_invariants(const struct cfg *g, unsigned long long seed)
{
	int next = 0;

	for (int i = 0; i < g->exit; i++) {
		const struct cfg_block *b = &g->block[i];
		uint64_t at = b->start + g->bias;

		ck_assert_msg(b->first_insn == next && b->nr_insns > 0, "seed %llu",
			      seed);
		for (int k = 0; k < b->nr_insns; k++) {
			ck_assert_msg(g->insn[next + k].address == at, "seed %llu",
				      seed);
			at += g->insn[next + k].size;
		}
		ck_assert_msg(at == b->end + g->bias &&
				      cfg_block_at(g, b->start) == i &&
				      cfg_block_at(g, b->end - 1) == i,
			      "seed %llu", seed);
		ck_assert_msg(!i || b->start >= g->block[i - 1].end, "seed %llu", seed);
		next += b->nr_insns;
	}
	for (int i = 0; i < g->nr_blocks; i++) {
		const struct cfg_block *b = &g->block[i];

		for (int k = 0; k < b->nr_out; k++)
			ck_assert_msg(g->edge[b->first_out + k].from == i, "seed %llu",
				      seed);
		for (int k = 0; k < b->nr_in; k++)
			ck_assert_msg(g->edge[g->in[b->first_in + k]].to == i,
				      "seed %llu", seed);
	}
}

START_TEST(any_bytes_give_a_graph_or_none)
{
	const unsigned long long seed = unit_seed();
	uint64_t state = seed | 1;
	uint8_t code[300];

	for (int round = 0; round < 300; round++) {
		struct fixture f;

		for (size_t i = 0; i < sizeof(code); i++) {
			const uint64_t r = unit_random(&state);

			/* Many short jumps, so that they meet. */
			code[i] = r & 3 ? (uint8_t)(r >> 8) : 0x70 | (r >> 8 & 15);
		}
		if (!build_code(&f, code, sizeof(code)))
			check_invariants(f.cfg, seed);
		close_fixture(&f);
	}
}
END_TEST

static Suite *cfg_suite(void)
{
	Suite *s = suite_create("cfg");
	TCase *tc = tcase_create("cfg");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, jump_tables_lead_to_every_case, 0,
			    NR(files) * NR(switches));
	tcase_add_loop_test(tc, procedures_are_left_as_they_are_written, 0,
			    NR(files) * NR(ways));
	tcase_add_loop_test(tc, a_call_that_does_not_return_ends_its_block, 0,
			    NR(files));
	tcase_add_loop_test(tc, a_loop_goes_back, 0, NR(files));
	tcase_add_loop_test(tc, a_cold_part_is_part_of_its_procedure, 0, 2);
	tcase_add_loop_test(tc, exceptions_enter_at_landing_pads, 0, 2);
	tcase_add_loop_test(tc, pieces_of_code_have_their_blocks, 0, NR(pieces));
	tcase_add_test(tc, a_counter_in_the_register_of_a_table_does_not_hide_it);
	tcase_add_test(tc, bytes_that_are_no_code_are_refused);
	tcase_add_test(tc, any_bytes_give_a_graph_or_none);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(cfg_suite)
