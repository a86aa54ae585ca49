/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <math.h>

#include "analysis/freq/landing.h"
#include "t/unit/cfg_make.h"

#define PER_BLOCK 4

/* 0 → 1 ⇄ 1, 1 → 2 → exit; four instructions in each block. */
static const struct cfg_edge loop[] = {
	{ 0, 1, EDGE_FALL },
	{ 1, 1, EDGE_TAKEN },
	{ 1, 2, EDGE_FALL },
	{ 2, 3, EDGE_RETURN },
};

static struct cfg *make_cfg(struct arena *arena, int nr_blocks,
			    const struct cfg_edge *edge, int nr_edges)
{
	struct cfg *cfg = cfg_make(arena, nr_blocks, edge, nr_edges);

	for (int b = 0; b < cfg->exit; b++) {
		cfg->block[b].first_insn = b * PER_BLOCK;
		cfg->block[b].nr_insns = PER_BLOCK;
	}
	cfg->nr_insns = cfg->exit * PER_BLOCK;
	return cfg;
}

/* One sample at instruction at; which instructions lead, and where it goes. */
static const struct {
	const char *what;
	int at;
	bool leads[3 * PER_BLOCK];
	double edge[4]; /* in the order of cfg.edge */
	bool no_edges;
	enum landing landing;
	double want[3 * PER_BLOCK];
} cases[] = {
	{ "to the one before, which leads", .at = 2, .leads = { [1] = true },
	  .landing = LANDING_AFTER_GROUP, .want = { [1] = 1 } },
	{ "over what retired with its leader", .at = 3, .leads = { [0] = true },
	  .landing = LANDING_AFTER_GROUP, .want = { [0] = 1 } },
	{ "no further than the block's first", .at = 6, .leads = { [3] = true },
	  .landing = LANDING_AFTER_GROUP, .want = { [4] = 1 } },
	{ "from a head to both predecessors, by frequency", .at = 4,
	  .leads = { [2] = true, [7] = true }, .edge = { 1, 3, 1, 1 },
	  .landing = LANDING_AFTER_GROUP, .want = { [2] = 0.25, [7] = 0.75 } },
	{ "the same without frequencies: to each alike", .at = 4,
	  .leads = { [2] = true, [7] = true }, .no_edges = true,
	  .landing = LANDING_AFTER_GROUP, .want = { [2] = 0.5, [7] = 0.5 } },
	{ "a predecessor that never ran gets nothing", .at = 4,
	  .leads = { [2] = true, [7] = true }, .edge = { 0, 3, 0, 0 },
	  .landing = LANDING_AFTER_GROUP, .want = { [7] = 1 } },
	{ "nobody is known to come: it stays", .at = 4,
	  .leads = { [2] = true, [7] = true }, .landing = LANDING_AFTER_GROUP,
	  .want = { [4] = 1 } },
	{ "the entry is entered from outside", .at = 0, .edge = { 1, 1, 1, 1 },
	  .landing = LANDING_AFTER_GROUP, .want = { [0] = 1 } },
	{ "where the machine says what stalled", .at = 2, .leads = { [1] = true },
	  .landing = LANDING_HEAD, .want = { [2] = 1 } },
	{ "and where its record does", .at = 2, .leads = { [1] = true },
	  .landing = LANDING_PRECISE, .want = { [2] = 1 } },
};

START_TEST(a_sample_goes_where_the_time_went)
{
	struct isa_timing timing[3 * PER_BLOCK] = { 0 };
	double samples[3 * PER_BLOCK] = { 0 }, blamed[3 * PER_BLOCK];
	struct arena arena;
	struct landing_input in = { .timing = timing,
				    .samples = samples,
				    .edge = cases[_i].no_edges ? NULL : cases[_i].edge,
				    .landing = cases[_i].landing };

	arena_init(&arena, 0);
	in.cfg = make_cfg(&arena, 4, loop, NR(loop));
	samples[cases[_i].at] = 1;
	for (int i = 0; i < 3 * PER_BLOCK; i++)
		timing[i].head = cases[_i].leads[i] ? 2 : 0;
	ck_assert_int_eq(landing_blame(&in, &arena, blamed), 0);
	for (int i = 0; i < 3 * PER_BLOCK; i++)
		ck_assert_msg(fabs(blamed[i] - cases[_i].want[i]) < 1e-12,
			      "%s: %g at %d", cases[_i].what, blamed[i], i);
	arena_fini(&arena);
}
END_TEST

START_TEST(a_head_that_leads_back_to_the_entry_is_shared_with_outside)
{
	static const struct cfg_edge again[] = {
		{ 0, 0, EDGE_TAKEN },
		{ 0, 1, EDGE_RETURN },
	};
	static const double edge[] = { 3, 1 };
	struct isa_timing timing[PER_BLOCK] = { [2].head = 1 };
	double samples[PER_BLOCK] = { 8 }, blamed[PER_BLOCK];
	struct arena arena;
	struct landing_input in = { .timing = timing,
				    .samples = samples,
				    .edge = edge,
				    .landing = LANDING_AFTER_GROUP };

	arena_init(&arena, 0);
	in.cfg = make_cfg(&arena, 2, again, NR(again));
	ck_assert_int_eq(landing_blame(&in, &arena, blamed), 0);
	ck_assert_double_eq_tol(blamed[0], 2, 1e-12);
	ck_assert_double_eq_tol(blamed[2], 6, 1e-12);
	arena_fini(&arena);
}
END_TEST

START_TEST(no_sample_is_lost_or_made)
{
	uint64_t first = unit_seed(), seed = first | 1;

	for (int round = 0; round < 300; round++) {
		int nr_blocks = 2 + (int)(unit_random(&seed) % 20);
		int nr_edges = (int)(unit_random(&seed) % 60), nr;
		struct cfg_edge edge[60];
		double *samples, *blamed, freq[60], sum = 0, got = 0;
		struct isa_timing *timing;
		struct landing_input in;
		struct arena arena;

		arena_init(&arena, 0);
		for (int e = 0; e < nr_edges; e++) {
			edge[e].from = (int)(unit_random(&seed) % (nr_blocks - 1));
			edge[e].to = (int)(unit_random(&seed) % nr_blocks);
			edge[e].kind = EDGE_TAKEN;
			freq[e] = (double)(unit_random(&seed) % 3);
		}
		in.cfg = make_cfg(&arena, nr_blocks, edge, nr_edges);
		nr = in.cfg->nr_insns;
		samples = arena_array(&arena, nr, sizeof(*samples));
		blamed = arena_array(&arena, nr, sizeof(*blamed));
		timing = arena_array(&arena, nr, sizeof(*timing));
		for (int i = 0; i < nr; i++) {
			sum += samples[i] = (double)(unit_random(&seed) % 100);
			timing[i].head = (float)(unit_random(&seed) % 2);
		}
		in.timing = timing;
		in.samples = samples;
		in.edge = unit_random(&seed) % 4 ? freq : NULL;
		in.landing = LANDING_AFTER_GROUP;
		ck_assert_int_eq(landing_blame(&in, &arena, blamed), 0);
		for (int i = 0; i < nr; i++) {
			ck_assert_double_ge(blamed[i], 0);
			got += blamed[i];
		}
		ck_assert_msg(fabs(got - sum) <= 1e-9 * (1 + sum),
			      "%g became %g, SEED=%llu", sum, got,
			      (unsigned long long)first);
		arena_fini(&arena);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("landing");
	TCase *tc = tcase_create("landing");

	tcase_add_loop_test(tc, a_sample_goes_where_the_time_went, 0, NR(cases));
	tcase_add_test(tc, a_head_that_leads_back_to_the_entry_is_shared_with_outside);
	tcase_add_test(tc, no_sample_is_lost_or_made);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
