/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/explain/callgraph.h"

#include <math.h>

#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

#define CALLEE  0x1000
#define WINDOWS 1000

/* A loop that calls the other procedure, through a pointer or not. */
static const struct cfg_edge caller_edges[] = { { 0, 1, EDGE_FALL },
						{ 1, 0, EDGE_TAKEN },
						{ 1, 2, EDGE_RETURN } };
static const struct cfg_edge callee_edges[] = { { 0, 1, EDGE_FALL },
						{ 1, 2, EDGE_RETURN } };

static struct cfg *make_procedure(struct arena *arena, uint64_t start,
				  const struct cfg_edge *edge, int nr_edges)
{
	struct cfg *cfg = cfg_make(arena, 3, edge, nr_edges);

	cfg->nr_parts = 1;
	cfg->part[1] = cfg->exit;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		cfg->block[b].start += start;
		cfg->block[b].end += start;
		cfg->insn[b].address = cfg->block[b].start;
	}
	return cfg;
}

/* Both were called twice, and go on behind that. */
static struct window_weights *follow(struct explain_windows *out)
{
	static const struct window_jump jump[] = { { 16, 0, 0 },
						   { 0, CALLEE, 0 },
						   { CALLEE + 16, 16, 0 },
						   { 16, 0, 0 },
						   { 0, CALLEE, 0 } };
	const struct window w = { .start = 16,
				  .jump = jump,
				  .nr_jumps = NR(jump),
				  .nr_insns = 10,
				  .end = CALLEE,
				  .n = WINDOWS };
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();

	ck_assert_int_eq(windows_add(set, &w), 0);
	ck_assert_int_eq(window_weights_add(f, 0, set, NULL, 0), 0);
	ck_assert_int_eq(window_weights_sample(f, 0, 16, WINDOWS), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	*out = (struct explain_windows){ .weights = f };
	ck_assert_int_eq(window_weights_edges(f, 0, &out->runs, &out->branches), 0);
	windows_free(set);
	return f;
}

/* The callee's frequencies are held to be twice what they are. */
static void add_both(struct callgraph *g, uint64_t target, bool by_windows,
		     const struct explain_windows *windows)
{
	double often[] = { 100, 100, 10 }, back[] = { 100, 90, 10 };
	double twice[] = { 200, 200, 200 }, samples[] = { 5000, 5000, 0 };
	struct freq caller = { .block = often, .edge = back, .windows = by_windows };
	struct freq callee = { .block = twice, .edge = twice, .windows = by_windows };
	struct explained x = { .samples = samples, .freq = &callee };
	struct arena arena;
	struct cfg *cfg;

	arena_init(&arena, 0);
	x.cfg = make_procedure(&arena, CALLEE, callee_edges, NR(callee_edges));
	ck_assert_int_eq(callgraph_add(g, &x, windows), 0);
	x.cfg = cfg = make_procedure(&arena, 0, caller_edges, NR(caller_edges));
	x.freq = &caller;
	cfg->insn[0].kind = INSN_CALL | (target ? 0 : INSN_INDIRECT);
	cfg->insn[0].target = target;
	cfg->insn[1].kind = INSN_JUMP | INSN_COND;
	ck_assert_int_eq(callgraph_add(g, &x, windows), 0);
	arena_fini(&arena);
}

static const struct {
	uint64_t target;
	bool by_windows;
	double ratio; /* of the factors */
} cases[] = {
	{ CALLEE, true, 0.5 },    /* a direct call */
	{ 0, true, 0.5 },         /* one that windows saw */
	{ CALLEE + 16, true, 1 }, /* of what is no procedure */
	{ CALLEE, false, 1 },     /* frequencies that are not of windows */
};

START_TEST(a_procedure_is_entered_as_often_as_it_is_called)
{
	struct explain_windows windows;
	struct window_weights *f = follow(&windows);
	struct callgraph *g = callgraph_new();
	double caller, callee;

	add_both(g, cases[_i].target, cases[_i].by_windows, &windows);
	ck_assert_double_eq(callgraph_factor(g, CALLEE), 1);
	ck_assert_int_eq(callgraph_solve(g), 0);
	caller = callgraph_factor(g, 0);
	callee = callgraph_factor(g, CALLEE);
	ck_assert_msg(fabs(callee / caller - cases[_i].ratio) < 0.05, "%g of %g",
		      callee, caller);
	ck_assert_double_eq(callgraph_factor(g, 16), 1);
	callgraph_free(g);
	edges_free(windows.runs);
	edges_free(windows.branches);
	window_weights_free(f);
}
END_TEST

START_TEST(without_a_graph_nothing_is_scaled)
{
	struct callgraph *g = callgraph_new();

	ck_assert_double_eq(callgraph_factor(NULL, 0), 1);
	ck_assert_int_eq(callgraph_solve(g), 0);
	ck_assert_double_eq(callgraph_factor(g, 0), 1);
	callgraph_free(g);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("callgraph");
	TCase *tcase = tcase_create("callgraph");

	tcase_add_loop_test(tcase, a_procedure_is_entered_as_often_as_it_is_called, 0,
			    NR(cases));
	tcase_add_test(tcase, without_a_graph_nothing_is_scaled);
	suite_add_tcase(suite, tcase);
	return suite;
}

UNIT_MAIN(make_suite)
