/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/freq/branchstack.h"

#include <math.h>

#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

#define MAX_BLOCKS 12
#define STEPS      20000
#define OUTSIDE    0x100000 /* where it is called from */
#define FACTOR     7.0      /* executions for each that is seen */

/* A procedure that runs, every branch of it seen, and how often it did what. */
struct trace {
	struct arena arena;
	struct cfg *cfg;
	double block[MAX_BLOCKS + 1], edge[64];
	double cycles;
	uint64_t begin, run_cycles; /* of the run that goes on */
	struct edges *branches, *runs;
	struct freq freq;
};

static void end_run(struct trace *t, uint64_t from, uint64_t to)
{
	const struct edge branch = { .from = from, .to = to, .n = 1 };
	const struct edge run = { .from = t->begin,
				  .to = from,
				  .n = 1,
				  .cycles = t->run_cycles,
				  .nr_timed = 1 };

	ck_assert_int_eq(edges_add(t->branches, &branch), 0);
	if (from != OUTSIDE)
		ck_assert_int_eq(edges_add(t->runs, &run), 0);
	t->begin = to;
	t->run_cycles = 0;
}

/* From one block to the next; returns which one that is. */
static int step(struct trace *t, int b, uint64_t *state)
{
	const struct cfg_block *block = &t->cfg->block[b];
	int e = block->first_out + (int)(unit_random(state) % block->nr_out);
	int to = t->cfg->edge[e].to;

	t->block[b]++;
	t->edge[e]++;
	t->cycles += b + 1;
	t->run_cycles += b + 1;
	if (to == t->cfg->exit) {
		end_run(t, block->start, OUTSIDE);
		end_run(t, OUTSIDE, 0);
		return 0;
	}
	if (t->cfg->edge[e].kind != EDGE_FALL)
		end_run(t, block->start, t->cfg->block[to].start);
	return to;
}

static void make_trace(struct trace *t, uint64_t *state)
{
	int b = 0;

	memset(t, 0, sizeof(*t));
	arena_init(&t->arena, 0);
	t->cfg = cfg_make_random(&t->arena, state, MAX_BLOCKS, true);
	for (int e = 0; e < t->cfg->nr_edges; e++) {
		if (t->cfg->edge[e].to == t->cfg->exit)
			t->cfg->edge[e].kind = EDGE_RETURN;
	}
	for (int i = 0; i < t->cfg->nr_insns; i++)
		t->cfg->insn[i] =
			(struct insn){ .address = 16 * (uint64_t)i, .size = 16 };
	t->cfg->nr_parts = 1;
	t->cfg->part[1] = t->cfg->exit;
	t->branches = edges_new();
	t->runs = edges_new();
	for (int i = 0; i < STEPS || b; i++)
		b = step(t, b, state);
	t->freq.block = arena_array(&t->arena, MAX_BLOCKS + 1, sizeof(double));
	t->freq.block_sd = arena_array(&t->arena, MAX_BLOCKS + 1, sizeof(double));
	t->freq.edge = arena_array(&t->arena, 64, sizeof(double));
	t->freq.edge_sd = arena_array(&t->arena, 64, sizeof(double));
	t->freq.shape = arena_array(&t->arena, MAX_BLOCKS + 1, sizeof(enum confidence));
	t->freq.edge_shape = arena_array(&t->arena, 64, sizeof(enum confidence));
}

static void free_trace(struct trace *t)
{
	edges_free(t->branches);
	edges_free(t->runs);
	arena_fini(&t->arena);
}

/* Two edges between the same blocks are one branch: their sum is what is known. */
static double both(const struct cfg *cfg, const double *edge, int e)
{
	double sum = 0;

	for (int i = 0; i < cfg->nr_edges; i++) {
		if (cfg->edge[i].from == cfg->edge[e].from &&
		    cfg->edge[i].to == cfg->edge[e].to)
			sum += edge[i];
	}
	return sum;
}

START_TEST(what_is_seen_whole_is_known_exactly)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t state = seed | 1;
	struct trace t;
	struct branchstack_input in;

	make_trace(&t, &state);
	in = (struct branchstack_input){ t.cfg, t.branches, t.runs, FACTOR * t.cycles };
	ck_assert_int_eq(branchstack_apply(&in, &t.arena, &t.freq), 0);
	ck_assert(t.freq.counted);
	ck_assert_int_eq(t.freq.scale, CONFIDENCE_HIGH);
	for (int b = 0; b < t.cfg->exit; b++)
		ck_assert_msg(fabs(t.freq.block[b] - FACTOR * t.block[b]) < 1e-6,
			      "block %d: %g, not %g; SEED=%#llx", b, t.freq.block[b],
			      FACTOR * t.block[b], (unsigned long long)seed);
	for (int e = 0; e < t.cfg->nr_edges; e++)
		ck_assert_msg(fabs(both(t.cfg, t.freq.edge, e) -
				   FACTOR * both(t.cfg, t.edge, e)) < 1e-6,
			      "edge %d: %g, not %g; SEED=%#llx", e, t.freq.edge[e],
			      FACTOR * t.edge[e], (unsigned long long)seed);
	free_trace(&t);
}
END_TEST

START_TEST(a_few_runs_change_nothing)
{
	uint64_t state = 1;
	struct branchstack_input in;
	struct trace t;
	struct edges *few = edges_new();
	const struct edge run = { .from = 0, .to = 0, .n = BRANCHSTACK_LEAST - 1 };

	make_trace(&t, &state);
	ck_assert_int_eq(edges_add(few, &run), 0);
	t.freq.block[0] = 5;
	in = (struct branchstack_input){ t.cfg, t.branches, few, 1000 };
	ck_assert_int_eq(branchstack_apply(&in, &t.arena, &t.freq), 0);
	ck_assert(!t.freq.counted);
	ck_assert(t.freq.block[0] == 5);
	in.runs = NULL;
	ck_assert_int_eq(branchstack_apply(&in, &t.arena, &t.freq), 0);
	ck_assert(!t.freq.counted);
	edges_free(few);
	free_trace(&t);
}
END_TEST

/* Offsets of no block, in any order, are nobody's. */
START_TEST(foreign_edges_are_left_out)
{
	uint64_t state = 2;
	struct branchstack_input in;
	struct trace t;

	make_trace(&t, &state);
	for (int i = 0; i < 1000; i++) {
		const struct edge e = { .from = 0x200000 + unit_random(&state),
					.to = unit_random(&state),
					.n = 9 };

		ck_assert_int_eq(edges_add(t.runs, &e), 0);
		ck_assert_int_eq(edges_add(t.branches, &e), 0);
	}
	in = (struct branchstack_input){ t.cfg, t.branches, t.runs, t.cycles };
	ck_assert_int_eq(branchstack_apply(&in, &t.arena, &t.freq), 0);
	for (int b = 0; b < t.cfg->exit; b++)
		ck_assert(fabs(t.freq.block[b] - t.block[b]) < 1e-6);
	free_trace(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("counted");
	TCase *t = tcase_create("counted");

	tcase_add_loop_test(t, what_is_seen_whole_is_known_exactly, 0, 50);
	tcase_add_test(t, a_few_runs_change_nothing);
	tcase_add_test(t, foreign_edges_are_left_out);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
