/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain.c and flow.c against elimination in a full matrix.
 */
#include "config.h"

#include "analysis/freq/flow.h"
#include "analysis/math/chain.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"

#include "t/unit/flow_make.h"

#define CHAINS 3000
#define STATES 10
#define STEPS  40

struct random_chain {
	int nr, nr_steps;
	struct chain_step step[STEPS];
	double p[STEPS], leave[STATES];
};

/* Each state leaves now and then, and goes anywhere, itself included. */
static void make_chain(struct random_chain *c, uint64_t *seed)
{
	c->nr = 1 + (int)(unit_random(seed) % STATES);
	c->nr_steps = 0;
	for (int i = 0; i < c->nr; i++) {
		int n = (int)(unit_random(seed) % 4);
		double sum = c->leave[i] = 0.001 + flow_make_uniform(seed);

		for (int k = 0; k < n; k++, c->nr_steps++) {
			c->step[c->nr_steps] =
				(struct chain_step){ i,
						     (int)(unit_random(seed) % c->nr) };
			sum += c->p[c->nr_steps] = flow_make_uniform(seed) + 1e-3;
		}
		for (int k = c->nr_steps - n; k < c->nr_steps; k++)
			c->p[k] /= sum;
		c->leave[i] /= sum;
	}
}

START_TEST(visits_and_values_are_those_of_the_full_matrix)
{
	uint64_t state = unit_seed();

	for (int n = 0; n < CHAINS; n++) {
		double to[FLOW_MAX][FLOW_MAX] = { { 0 } }, back[FLOW_MAX][FLOW_MAX];
		double in[STATES], want_visits[STATES], want_values[STATES],
			got[STATES];
		uint64_t seed = state;
		struct random_chain r;
		struct arena arena;
		struct chain *c;

		make_chain(&r, &state);
		for (int s = 0; s < r.nr_steps; s++)
			to[r.step[s].to][r.step[s].from] -= r.p[s];
		for (int i = 0; i < r.nr; i++) {
			to[i][i] += 1;
			in[i] = want_visits[i] = want_values[i] =
				flow_make_uniform(&state);
		}
		for (int i = 0; i < r.nr; i++)
			for (int j = 0; j < r.nr; j++)
				back[i][j] = to[j][i];
		flow_make_solve(r.nr, to, want_visits);
		flow_make_solve(r.nr, back, want_values);
		arena_init(&arena, 0);
		ck_assert_int_eq(chain_build(r.nr, r.step, r.nr_steps, &arena, &c), 0);
		chain_factor(c, r.p, r.leave);
		chain_visits(c, in, got);
		for (int i = 0; i < r.nr; i++)
			ck_assert_msg(fabs(got[i] - want_visits[i]) <
					      1e-9 * want_visits[i],
				      "SEED=%#llx visits", (unsigned long long)seed);
		chain_values(c, in, got);
		for (int i = 0; i < r.nr; i++)
			ck_assert_msg(fabs(got[i] - want_values[i]) <
					      1e-9 * want_values[i],
				      "SEED=%#llx values", (unsigned long long)seed);
		arena_fini(&arena);
	}
}
END_TEST

/* In a matrix of 1 - p the 10⁻¹⁸ would be lost. */
START_TEST(a_loop_that_is_hardly_ever_left_is_exact)
{
	static const struct chain_step step[] = { { 0, 1 }, { 1, 2 }, { 2, 1 } };
	static const double p[] = { 1, 1, 1 }, leave[] = { 0, 0, 1e-18 };
	double v[] = { 3, 0, 0 };
	struct arena arena;
	struct chain *c;

	arena_init(&arena, 0);
	ck_assert_int_eq(chain_build(3, step, 3, &arena, &c), 0);
	chain_factor(c, p, leave);
	chain_visits(c, v, v);
	ck_assert_double_eq_tol(v[2] / 3e18, 1, 1e-12);
	arena_fini(&arena);
}
END_TEST

START_TEST(a_graph_like_no_code_reaches_the_limit)
{
	const int nr = 20000;
	uint64_t state = 1;
	struct chain_step *step;
	struct arena arena;
	struct chain *c;

	arena_init(&arena, 0);
	step = arena_array(&arena, 4 * nr, sizeof(*step));
	for (int i = 0; i < 4 * nr; i++)
		step[i] = (struct chain_step){ i / 4, (int)(unit_random(&state) % nr) };
	ck_assert_int_eq(chain_build(nr, step, 4 * nr, &arena, &c), -CPI_ELIMIT);
	arena_fini(&arena);
}
END_TEST

/* The largest of the blocks' executions. */
static double scale(const double *block)
{
	double most = 0;

	for (int b = 0; b < FLOW_MAX; b++)
		most = fmax(most, block[b]);
	return most;
}

/* Marks what b leads to, b included. */
static void mark_reached(const struct cfg *cfg, int b, bool *reached)
{
	if (reached[b])
		return;
	reached[b] = true;
	for (int i = 0; i < cfg->block[b].nr_out; i++)
		mark_reached(cfg, cfg->edge[cfg->block[b].first_out + i].to, reached);
}

/* Whether b leads to the exit, or to a block without edges out. */
static bool ends(const struct cfg *cfg, int b)
{
	bool reached[FLOW_MAX] = { false };

	mark_reached(cfg, b, reached);
	for (int i = 0; i < cfg->nr_blocks; i++)
		if (reached[i] && !cfg->block[i].nr_out)
			return true;
	return false;
}

/* By the definition in flow.h: the doors before any loop is cut. */
static void expect_doors(const struct cfg *cfg, bool *door)
{
	bool reached[FLOW_MAX] = { false };

	for (int b = 0; b < cfg->exit; b++)
		door[b] = !b || cfg->block[b].landing_pad || !cfg->block[b].nr_in;
	for (int b = 0; b < cfg->exit; b++)
		if (door[b])
			mark_reached(cfg, b, reached);
	for (int b = 0; b < cfg->exit; b++) {
		door[b] |= !reached[b];
		mark_reached(cfg, b, reached);
	}
}

START_TEST(doors_and_cuts_are_those_of_the_definition)
{
	uint64_t state = unit_seed();

	for (int n = 0; n < CHAINS; n++) {
		const unsigned long long seed = state;
		bool door[FLOW_MAX] = { false };
		struct arena arena;
		struct flow flow;
		struct cfg *cfg;

		arena_init(&arena, 0);
		cfg = cfg_make_random(&arena, &state, 12, n % 4 == 0);
		for (int b = 1; b < cfg->exit; b++)
			cfg->block[b].landing_pad = unit_random(&state) % 8 == 0;
		ck_assert_int_eq(flow_build(cfg, &arena, &flow), 0);
		expect_doors(cfg, door);
		for (int e = 0; e < cfg->nr_edges; e++) {
			ck_assert_msg(!flow.cut[e] || !ends(cfg, cfg->edge[e].from),
				      "SEED=%#llx edge %d is cut", seed, e);
			door[cfg->edge[e].to] |= flow.cut[e];
		}
		for (int b = 0; b < cfg->nr_blocks; b++)
			ck_assert_msg(flow.door[b] == door[b],
				      "SEED=%#llx block %d: door %d, not %d", seed, b,
				      flow.door[b], door[b]);
		arena_fini(&arena);
	}
}
END_TEST

/* Whatever the graph: nothing is endless, and what flows in flows on, and out. */
START_TEST(flow_is_kept_in_any_graph)
{
	uint64_t state = unit_seed();

	for (int n = 0; n < CHAINS; n++) {
		double p[64], source[FLOW_MAX] = { 0 }, block[FLOW_MAX] = { 0 };
		double edge[64], left = 0;
		unsigned long long seed = state;
		struct arena arena;
		struct flow flow;
		struct cfg *cfg;

		arena_init(&arena, 0);
		cfg = cfg_make_random(&arena, &state, 12, n % 2);
		flow_make_probabilities(cfg, &state, p);
		ck_assert_int_eq(flow_build(cfg, &arena, &flow), 0);
		for (int b = 0; b < cfg->exit; b++)
			source[b] = flow.door[b];
		flow_factor(&flow, p);
		flow_spread(&flow, p, source, block, edge);
		for (int b = 0; b < cfg->exit; b++)
			left += source[b];
		for (int e = 0; e < cfg->nr_edges; e++) {
			ck_assert_msg(edge[e] == block[cfg->edge[e].from] * p[e],
				      "SEED=%#llx edge %d", seed, e);
			left -= flow.cut[e] ? edge[e] : 0;
		}
		ck_assert_msg(fabs(block[cfg->exit] - left) < 1e-6 * (1 + scale(block)),
			      "SEED=%#llx: %g left, not %g", seed, block[cfg->exit],
			      left);
		for (int b = 0; b < cfg->exit; b++) {
			double in = source[b];

			for (int i = 0; i < cfg->block[b].nr_in; i++) {
				int e = cfg->in[cfg->block[b].first_in + i];

				in += flow.cut[e] ? 0 : edge[e];
			}
			ck_assert_msg(isfinite(block[b]) && block[b] > 0 &&
					      fabs(in - block[b]) < 1e-9 * block[b],
				      "SEED=%#llx block %d", seed, b);
		}
		arena_fini(&arena);
	}
}
END_TEST

/* A procedure that is one block, which ends in a call that does not return. */
START_TEST(a_block_without_edges_leaves)
{
	const double p[1] = { 0 }, source[] = { 3, 0 };
	double block[2], edge[1];
	struct arena arena;
	struct flow flow;

	arena_init(&arena, 0);
	ck_assert_int_eq(flow_build(cfg_make(&arena, 2, NULL, 0), &arena, &flow), 0);
	ck_assert(flow.door[0]);
	flow_factor(&flow, p);
	flow_spread(&flow, p, source, block, edge);
	ck_assert_double_eq(block[0], 3);
	ck_assert_double_eq(block[1], 3);
	arena_fini(&arena);
}
END_TEST

/* Each allocation fails once. */
START_TEST(a_flow_that_does_not_fit_is_not_built)
{
	uint64_t state = unit_seed();
	struct arena arena, memory;
	struct flow flow = { 0 };
	int nr_failed = 0, err;
	struct cfg *cfg;

	arena_init(&arena, 0);
	cfg = cfg_make_random(&arena, &state, 12, true);
	for (size_t limit = 16;; limit += 16) {
		arena_init(&memory, limit);
		err = flow_build(cfg, &memory, &flow);
		if (!err)
			break;
		ck_assert_int_eq(err, -ENOMEM);
		ck_assert_ptr_null(flow.cfg);
		arena_fini(&memory);
		nr_failed++;
	}
	ck_assert_ptr_eq(flow.cfg, cfg);
	ck_assert_int_gt(nr_failed, 10);
	arena_fini(&memory);
	arena_fini(&arena);
}
END_TEST

START_TEST(an_infinite_loop_is_cut_once_and_others_never)
{
	static const struct cfg_edge endless[] = {
		{ 0, 1, EDGE_FALL },  { 1, 2, EDGE_FALL },   { 2, 1, EDGE_TAKEN },
		{ 0, 3, EDGE_TAKEN }, { 3, 4, EDGE_RETURN },
	};
	static const struct cfg_edge usual[] = {
		{ 0, 1, EDGE_FALL }, { 1, 2, EDGE_FALL },   { 2, 1, EDGE_TAKEN },
		{ 2, 3, EDGE_FALL }, { 3, 4, EDGE_RETURN },
	};
	struct arena arena;
	struct flow flow;
	int cuts;

	arena_init(&arena, 0);
	ck_assert_int_eq(flow_build(cfg_make(&arena, 5, endless, 5), &arena, &flow), 0);
	cuts = 0;
	for (int e = 0; e < 5; e++)
		cuts += flow.cut[e];
	ck_assert_int_eq(cuts, 1);
	ck_assert(flow.door[1] != flow.door[2]);
	ck_assert_int_eq(flow_build(cfg_make(&arena, 5, usual, 5), &arena, &flow), 0);
	for (int e = 0; e < 5; e++)
		ck_assert(!flow.cut[e]);
	for (int b = 1; b < 4; b++)
		ck_assert(!flow.door[b]);
	arena_fini(&arena);
}
END_TEST

static Suite *chain_suite(void)
{
	Suite *s = suite_create("chain");
	TCase *t = tcase_create("chain");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, visits_and_values_are_those_of_the_full_matrix);
	tcase_add_test(t, a_loop_that_is_hardly_ever_left_is_exact);
	tcase_add_test(t, a_graph_like_no_code_reaches_the_limit);
	tcase_add_test(t, doors_and_cuts_are_those_of_the_definition);
	tcase_add_test(t, flow_is_kept_in_any_graph);
	tcase_add_test(t, a_block_without_edges_leaves);
	tcase_add_test(t, a_flow_that_does_not_fit_is_not_built);
	tcase_add_test(t, an_infinite_loop_is_cut_once_and_others_never);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(chain_suite)
