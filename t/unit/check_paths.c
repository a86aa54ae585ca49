/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "t/accuracy/branch_paths.h"
#include "t/unit/unit.h"

#define NR_NODES 12
#define NR_STEPS 400
#define MAX_BITS 6

static int add_node(struct path_graph *g, int number, enum path_end ends, int procedure,
		    int calls)
{
	const struct path_node n = { .start = 16 * (uint64_t)number,
				     .end = 16 * (uint64_t)number + 16,
				     .nr_insns = 4,
				     .ends = ends,
				     .procedure = procedure,
				     .calls = 16 * (uint64_t)calls };

	return path_graph_add_node(g, &n);
}

/* One procedure; a node goes on to one or two others. */
struct program {
	struct path_graph *g;
	int to[NR_NODES][2];
	bool jumps[NR_NODES];
	int node[NR_STEPS];
	bool taken[NR_STEPS];
};

static void make_program(struct program *p, uint64_t *state)
{
	p->g = path_graph_new();
	for (int i = 0; i < NR_NODES; i++) {
		p->jumps[i] = unit_random(state) % 2;
		p->to[i][0] = unit_random(state) % NR_NODES;
		p->to[i][1] = unit_random(state) % NR_NODES;
		ck_assert_int_eq(add_node(p->g, i,
					  p->jumps[i] ? PATH_JUMPS : PATH_FALLS, 0, 0),
				 i);
	}
	ck_assert_int_eq(path_graph_link(p->g), 0);
	for (int i = 0; i < NR_NODES; i++) {
		for (int taken = 0; taken <= p->jumps[i]; taken++)
			path_graph_observe(p->g, i, p->to[i][taken], taken);
	}
	p->node[0] = 0;
	for (int i = 0; i + 1 < NR_STEPS; i++) {
		const int at = p->node[i];

		p->taken[i] = p->jumps[at] && unit_random(state) % 2;
		p->node[i + 1] = p->to[at][p->taken[i]];
		path_graph_observe(p->g, at, p->node[i + 1], p->taken[i]);
	}
}

/*
 * All ways of nr_bits branches that end at node, forwards from each node: how many
 * there are. A way begins with the branch that has its first bit. Some loop for ever
 * without a branch: those are cut, where no other way can be any more.
 */
static int count_ways(const struct program *p, int at, uint64_t bits, int left,
		      int node, int steps)
{
	int nr = !left && at == node;

	if (steps > NR_NODES * (MAX_BITS + 1))
		return nr;
	if (!p->jumps[at])
		return nr + count_ways(p, p->to[at][0], bits, left, node, steps + 1);
	if (left)
		nr += count_ways(p, p->to[at][bits >> (left - 1) & 1], bits, left - 1,
				 node, steps + 1);
	return nr;
}

static int count_all_ways(const struct program *p, const struct path_query *q)
{
	int nr = 0;

	for (int i = 0; i < NR_NODES; i++) {
		if (p->jumps[i])
			nr += count_ways(p, p->to[i][q->bits >> (q->nr_bits - 1) & 1],
					 q->bits, q->nr_bits - 1, q->node, 1);
	}
	return nr;
}

START_TEST(a_path_is_found_where_it_is_the_only_one)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	int nr_found = 0;

	for (int round = 0; round < 300; round++) {
		struct path_query q = { 0 };
		struct program p;
		struct path got;
		int at = NR_STEPS / 2 + unit_random(&state) % (NR_STEPS / 2), err, ways;
		int back = at;

		make_program(&p, &state);
		q.node = p.node[at];
		q.nr_bits = 1 + unit_random(&state) % MAX_BITS;
		for (int n = 0; back > 0 && n < q.nr_bits;) {
			if (!p.jumps[p.node[--back]])
				continue;
			q.bits |= (uint64_t)p.taken[back] << n++;
			if (n == q.nr_bits)
				q.insn = -1; /* there are as many */
		}
		if (q.insn == -1) {
			q.insn = 0;
			ways = count_all_ways(&p, &q);
			err = path_find(p.g, &q, &got);
			ck_assert_msg(ways >= 1, "seed %" PRIu64, seed);
			if (ways == 1)
				ck_assert_msg(!err, "seed %" PRIu64 " %d", seed, err);
			for (int i = 0; !err && i < got.nr; i++)
				ck_assert_msg(got.node[i] == p.node[at - i],
					      "seed %" PRIu64, seed);
			if (err)
				ck_assert_msg(err == -CPI_ETOOMANY ||
						      err == -CPI_ELIMIT,
					      "seed %" PRIu64, seed);
			nr_found += !err;
		}
		path_graph_free(p.g);
	}
	ck_assert_int_gt(nr_found, 10);
}
END_TEST

/*
 * 0 calls 2, 1 calls 2, 5 is behind both calls' ends: 0 -> (2: 3 | 4 -> ret) -> 10,
 * 1 -> (the same) -> 11.
 */
static struct path_graph *make_calls(void)
{
	struct path_graph *g = path_graph_new();

	add_node(g, 0, PATH_CALLS, 0, 2); /* and 10 is behind it */
	add_node(g, 1, PATH_CALLS, 1, 2); /* and 11 */
	add_node(g, 2, PATH_JUMPS, 2, 0);
	add_node(g, 3, PATH_RETURNS, 2, 0);
	add_node(g, 4, PATH_FALLS, 2, 0);
	ck_assert_int_eq(path_graph_link(g), 0);
	path_graph_observe(g, 2, 3, true);
	path_graph_observe(g, 2, 4, false);
	path_graph_observe(g, 2, 4, false);
	path_graph_observe(g, 4, 3, true);
	return g;
}

START_TEST(bits_tell_which_way_a_callee_went)
{
	struct path_graph *g = make_calls();
	struct path_query q = { .node = 3, .bits = 1, .nr_bits = 1 };
	struct path got;

	ck_assert_int_eq(path_find(g, &q, &got), 0);
	ck_assert_int_eq(got.nr, 2);
	ck_assert_int_eq(got.node[1], 2);
	q.bits = 0;
	ck_assert_int_eq(path_find(g, &q, &got), 0);
	ck_assert_int_eq(got.nr, 3);
	ck_assert_int_eq(got.node[1], 4);
	path_graph_free(g);
}
END_TEST

START_TEST(without_bits_the_usual_way_is_taken)
{
	struct path_graph *g = make_calls();
	const struct path_query q = { .node = 3, .bits = 1, .nr_bits = 1 };
	struct path got;

	path_graph_observe(g, 4, 3, true);
	ck_assert_int_eq(path_likely(g, &q, &got), 0);
	ck_assert_int_eq(got.nr, 3);
	ck_assert_int_eq(got.node[1], 4);
	path_graph_free(g);
}
END_TEST

/* Two callers: across them there are two paths, inside there is one. */
START_TEST(a_path_inside_ends_at_the_begin)
{
	struct path_graph *g = make_calls();
	struct path_query q = { .node = 2, .bits = 0, .nr_bits = 4, .inside = true };
	struct path got;

	ck_assert_int_eq(path_find(g, &q, &got), 0);
	ck_assert_int_eq(got.nr, 1);
	q.inside = false; /* neither caller has a branch before it */
	ck_assert_int_eq(path_find(g, &q, &got), -CPI_EEMPTY);
	path_graph_free(g);
}
END_TEST

START_TEST(a_paired_sample_tells_paths_apart)
{
	struct path_graph *g = path_graph_new();
	struct path_query q = { .node = 3, .bits = 1, .nr_bits = 1, .insn = 1 };
	struct path got;

	/* 0 jumps to 1 or 2, which both go on to 3; 4 jumps there, too. */
	add_node(g, 0, PATH_JUMPS, 0, 0);
	add_node(g, 1, PATH_FALLS, 0, 0);
	add_node(g, 2, PATH_FALLS, 0, 0);
	add_node(g, 3, PATH_RETURNS, 0, 0);
	add_node(g, 4, PATH_JUMPS, 0, 0);
	ck_assert_int_eq(path_graph_link(g), 0);
	path_graph_observe(g, 0, 1, true);
	path_graph_observe(g, 4, 2, true);
	path_graph_observe(g, 1, 3, true);
	path_graph_observe(g, 2, 3, true);
	ck_assert_int_eq(path_find(g, &q, &got), -CPI_ETOOMANY);
	q.likeliest = true;
	path_graph_observe(g, 2, 3, true);
	path_graph_observe(g, 1, 3, true);
	path_graph_observe(g, 1, 3, true);
	ck_assert_int_eq(path_graph_sort(g), 0);
	ck_assert_int_eq(path_find(g, &q, &got), 0);
	ck_assert_int_eq(got.node[1], 1);
	q.likeliest = false;
	q.distance = 4;
	q.before = 2;
	ck_assert_int_eq(path_find(g, &q, &got), 0);
	ck_assert_int_eq(got.node[1], 2);
	ck_assert_int_eq(got.node[2], 4);
	q.distance = 40; /* longer ago than either path */
	ck_assert_int_eq(path_find(g, &q, &got), -CPI_ETOOMANY);
	path_graph_free(g);
}
END_TEST

START_TEST(ways_that_were_not_gone_can_be_left_out)
{
	struct path_graph *g = path_graph_new();
	struct path_query q = { .node = 0, .bits = 0, .nr_bits = 1 };
	struct path got;

	add_node(g, 0, PATH_JUMPS, 0, 0);
	ck_assert_int_eq(path_graph_link(g), 0);
	ck_assert_int_eq(path_find(g, &q, &got), -CPI_EEMPTY);
	path_graph_observe(g, 0, 0, false);
	q.observed = true;
	ck_assert_int_eq(path_find(g, &q, &got), 0);
	ck_assert_int_eq(got.nr, 2);
	path_graph_free(g);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("paths");
	TCase *tc = tcase_create("paths");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, a_path_is_found_where_it_is_the_only_one);
	tcase_add_test(tc, bits_tell_which_way_a_callee_went);
	tcase_add_test(tc, without_bits_the_usual_way_is_taken);
	tcase_add_test(tc, a_path_inside_ends_at_the_begin);
	tcase_add_test(tc, a_paired_sample_tells_paths_apart);
	tcase_add_test(tc, ways_that_were_not_gone_can_be_left_out);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
