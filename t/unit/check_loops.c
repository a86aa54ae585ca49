/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops, against what they are where each has one entry: the blocks from which an edge
 * back to the head is reached without passing that.
 */
#include "config.h"

#include "analysis/cfg/loops.h"

#include <string.h>

#include "t/unit/cfg_make.h"
#include "t/unit/unit.h"

#define MAX_BLOCKS 12
#define GRAPHS     20000

/* Marks what is reached from a block without passing another one. */
static void reach(const struct cfg *cfg, int from, int without, bool *reached)
{
	if (from == without || reached[from])
		return;
	reached[from] = true;
	for (int i = 0; i < cfg->block[from].nr_out; i++)
		reach(cfg, cfg->edge[cfg->block[from].first_out + i].to, without,
		      reached);
}

static bool reaches(const struct cfg *cfg, int from, int to, int without)
{
	bool reached[MAX_BLOCKS + 1] = { false };

	reach(cfg, from, without, reached);
	return reached[to];
}

/* Every way from the entry to b passes a. */
static bool dominates(const struct cfg *cfg, int a, int b)
{
	return a == b || !reaches(cfg, 0, b, a);
}

/* Whether an edge leads back to head from b, or from where b leads without it. */
static bool is_in_loop(const struct cfg *cfg, int head, int b)
{
	for (int e = 0; e < cfg->nr_edges; e++) {
		const int latch = cfg->edge[e].from;

		if (cfg->edge[e].to == head && dominates(cfg, head, latch) &&
		    dominates(cfg, head, b) &&
		    (b == head || reaches(cfg, b, latch, head)))
			return true;
	}
	return false;
}

static int size_of_loop(const struct cfg *cfg, int head)
{
	int nr = 0;

	for (int b = 0; b < cfg->nr_blocks; b++)
		nr += is_in_loop(cfg, head, b);
	return nr;
}

static int innermost(const struct cfg *cfg, int b)
{
	int best = LOOPS_NONE;

	for (int head = 0; head < cfg->nr_blocks; head++) {
		if (is_in_loop(cfg, head, b) &&
		    (best == LOOPS_NONE ||
		     size_of_loop(cfg, head) < size_of_loop(cfg, best)))
			best = head;
	}
	return best;
}

/* Whether without the edges back to what dominates their begin no way is a circle. */
static bool is_reducible(const struct cfg *cfg)
{
	bool gone[MAX_BLOCKS + 1] = { false };
	bool more = true;
	int left = cfg->nr_blocks;

	while (more) {
		more = false;
		for (int b = 0; b < cfg->nr_blocks; b++) {
			bool entered = gone[b];

			for (int e = 0; e < cfg->nr_edges && !entered; e++)
				entered = cfg->edge[e].to == b &&
					  !gone[cfg->edge[e].from] &&
					  !dominates(cfg, b, cfg->edge[e].from);
			if (entered)
				continue;
			gone[b] = more = true;
			left--;
		}
	}
	return !left;
}

START_TEST(loops_of_one_entry_are_found)
{
	uint64_t state = unit_seed();
	int compared = 0;

	for (int i = 0; i < GRAPHS; i++) {
		const unsigned long long seed = state;
		struct arena arena;
		struct cfg *cfg;
		const int *loop;

		arena_init(&arena, 0);
		cfg = cfg_make_random(&arena, &state, MAX_BLOCKS, true);
		loop = loops_find(cfg, &arena);
		ck_assert_ptr_nonnull(loop);
		for (int b = 0; b < cfg->nr_blocks && is_reducible(cfg);
		     b++, compared++)
			ck_assert_msg(loop[b] == innermost(cfg, b),
				      "SEED=%#llx block %d: %d, not %d", seed, b,
				      loop[b], innermost(cfg, b));
		arena_fini(&arena);
	}
	ck_assert_int_gt(compared, GRAPHS);
}
END_TEST

/* Irreducible, unreachable, endless: a head is in its own loop. */
START_TEST(any_graph_has_some)
{
	uint64_t state = unit_seed();

	for (int i = 0; i < GRAPHS; i++) {
		struct arena arena;
		struct cfg *cfg;
		const int *loop;

		arena_init(&arena, 0);
		cfg = cfg_make_random(&arena, &state, MAX_BLOCKS, false);
		loop = loops_find(cfg, &arena);
		ck_assert_ptr_nonnull(loop);
		for (int b = 0; b < cfg->nr_blocks; b++)
			ck_assert(loop[b] == LOOPS_NONE || loop[loop[b]] == loop[b]);
		arena_fini(&arena);
	}
}
END_TEST

static Suite *loops_suite(void)
{
	Suite *s = suite_create("loops");
	TCase *t = tcase_create("loops");

	tcase_set_timeout(t, 0);
	tcase_add_test(t, loops_of_one_entry_are_found);
	tcase_add_test(t, any_graph_has_some);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(loops_suite)
