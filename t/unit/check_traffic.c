/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/freq/traffic.h"

#include "analysis/image/discriminator.h"
#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

/* 0 enters a loop of 1 and 2; 2 calls; 3 jumps to another procedure. */
static const struct cfg_edge edges[] = {
	{ 0, 1, EDGE_FALL },  { 1, 2, EDGE_FALL },  { 1, 3, EDGE_TAKEN },
	{ 2, 1, EDGE_TAKEN }, { 3, 4, EDGE_LEAVE }, { 2, 0, EDGE_TAKEN },
};
#define NR_EDGES 6
#define CALLED   0x1000
#define AFTER    0x2000

struct fixture {
	struct arena arena;
	struct image *im;
	struct cfg *cfg;
	double block[5], edge[NR_EDGES];
	struct freq freq;
	struct traffic traffic;
};

static void set_up(struct fixture *f)
{
	static const uint8_t code[AFTER + 1];
	const struct capture_code piece = { 0, sizeof(code), code };
	const struct image_desc desc = { .kind = IMAGE_BPF, .name = "[made]" };
	static const double block[5] = { 12, 110, 100, 10, 10 };

	*f = (struct fixture){ .im = NULL };
	arena_init(&f->arena, 0);
	ck_assert_int_eq(image_open_capture(&desc, MACHINE_X86_64, NULL, 0, &piece, 1,
					    &f->im),
			 0);
	f->cfg = cfg_make(&f->arena, 5, edges, NR_EDGES);
	for (int b = 0; b < 4; b++) {
		f->cfg->insn[b] = (struct insn){ .address = 16 * b, .size = 4 };
		f->block[b] = block[b];
	}
	f->cfg->insn[2].kind = INSN_CALL;
	f->cfg->insn[2].target = CALLED;
	f->cfg->insn[3].kind = INSN_JUMP;
	f->cfg->insn[3].target = AFTER;
	for (int e = 0; e < NR_EDGES; e++) {
		const struct cfg_edge *x = &f->cfg->edge[e];

		f->edge[e] = x->from == 0   ? 12
			     : x->from == 3 ? 10
			     : x->from == 1 ? (x->to == 2 ? 100 : 10)
			     : x->to == 1   ? 98
					    : 2;
	}
	f->freq = (struct freq){ .block = f->block, .edge = f->edge };
}

static void tear_down(struct fixture *f)
{
	traffic_fini(&f->traffic);
	image_close(f->im);
	arena_fini(&f->arena);
}

static double jumps(const struct fixture *f, uint64_t from, uint64_t to)
{
	size_t nr;
	const struct traffic_jump *jump = traffic_jumps(&f->traffic, &nr);
	double n = 0;

	for (size_t i = 0; i < nr; i++) {
		if (jump[i].from == from && jump[i].to == to)
			n += jump[i].n;
	}
	return n;
}

START_TEST(blocks_are_runs_with_their_counts)
{
	struct fixture f;
	const struct traffic_run *run;
	size_t nr;

	set_up(&f);
	ck_assert_int_eq(traffic_add(&f.traffic, f.im, f.cfg, &f.freq, NULL), 0);
	run = traffic_runs(&f.traffic, &nr);
	ck_assert_uint_eq(nr, 4);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(run[i].first, 16 * i);
		ck_assert_uint_eq(run[i].last, 16 * i);
		ck_assert_double_eq(run[i].n, f.block[i]);
	}
	tear_down(&f);
}
END_TEST

START_TEST(jumps_are_the_edges_that_are_taken)
{
	static const struct {
		uint64_t from, to;
		double n;
	} wanted[] = {
		{ 0, 16, 0 }, /* falls */
		{ 16, 48, 10 },      { 32, 16, 98 },
		{ 32, CALLED, 100 }, /* the block's count, not an edge's */
		{ 48, AFTER, 10 },   /* a jump that leaves */
	};
	struct fixture f;

	set_up(&f);
	ck_assert_int_eq(traffic_add(&f.traffic, f.im, f.cfg, &f.freq, NULL), 0);
	ck_assert_double_eq(jumps(&f, wanted[_i].from, wanted[_i].to), wanted[_i].n);
	tear_down(&f);
}
END_TEST

START_TEST(entries_are_the_first_block_without_jumps_back)
{
	struct fixture f;

	set_up(&f);
	ck_assert_double_eq(traffic_entries(f.cfg, &f.freq), 10);
	f.block[0] = 1; /* less than what jumps back */
	ck_assert_double_eq(traffic_entries(f.cfg, &f.freq), 0);
	tear_down(&f);
}
END_TEST

START_TEST(what_is_not_known_to_enter_comes_from_elsewhere)
{
	struct fixture f;
	const struct traffic_jump call = { AFTER, 0, _i, true };

	set_up(&f);
	ck_assert_int_eq(traffic_add(&f.traffic, f.im, f.cfg, &f.freq, NULL), 0);
	buf_put(&f.traffic.jumps, &call, sizeof(call));
	ck_assert_int_eq(traffic_finish(&f.traffic), 0);
	ck_assert_double_eq(jumps(&f, TRAFFIC_ELSEWHERE, 0), _i < 10 ? 10 - _i : 0);
	tear_down(&f);
}
END_TEST

START_TEST(indirect_calls_go_where_they_were_seen_to_go)
{
	struct fixture f;
	struct edges *seen = edges_new();
	const struct edge edge[] = { { .from = 32, .to = CALLED, .n = 1 },
				     { .from = 32, .to = AFTER, .n = 3 },
				     { .from = 33, .to = AFTER, .n = 7 } };

	set_up(&f);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(edges_add(seen, &edge[i]), 0);
	f.cfg->insn[2].target = 0;
	f.cfg->insn[2].kind |= INSN_INDIRECT;
	ck_assert_int_eq(traffic_add(&f.traffic, f.im, f.cfg, &f.freq, seen), 0);
	ck_assert_double_eq(jumps(&f, 32, CALLED), 25);
	ck_assert_double_eq(jumps(&f, 32, AFTER), 75);
	edges_free(seen);
	tear_down(&f);
}
END_TEST

/* As LLVM's getPrefixEncodingFromUnsigned() packs a number. */
static unsigned int pack(unsigned int n, unsigned int *bits)
{
	*bits = !n ? 1 : n > 0x1f ? 14 : 7;
	if (!n)
		return 1;
	return (n > 0x1f ? ((n & 0xfe0) << 1) | (n & 0x1f) | 0x20 : n) << 1;
}

START_TEST(discriminators_are_unpacked)
{
	static const unsigned int numbers[] = { 0, 1, 2, 31, 32, 100, 511 };
	const unsigned int base = numbers[_i / 7], copies = numbers[_i % 7];
	unsigned int bits, more;
	const unsigned int low = pack(base, &bits);
	const unsigned int packed = low | pack(copies, &more) << bits;

	ck_assert_uint_eq(discriminator_base(packed), base);
	ck_assert_uint_eq(discriminator_copies(packed), copies ? copies : 1);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("traffic");
	TCase *t = tcase_create("traffic");

	tcase_add_test(t, blocks_are_runs_with_their_counts);
	tcase_add_loop_test(t, jumps_are_the_edges_that_are_taken, 0, 5);
	tcase_add_test(t, entries_are_the_first_block_without_jumps_back);
	tcase_add_loop_test(t, what_is_not_known_to_enter_comes_from_elsewhere, 0, 13);
	tcase_add_test(t, indirect_calls_go_where_they_were_seen_to_go);
	tcase_add_loop_test(t, discriminators_are_unpacked, 0, 49);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
