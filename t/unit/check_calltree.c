/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/calls/calltree.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/calls/callsum.h"
#include "t/unit/unit.h"

#define MAX_STACKS 60
#define MAX_FRAMES 8
#define NR_NAMES   4

struct stack {
	uint32_t frame[MAX_FRAMES];
	size_t nr;
	int side;
	struct call_cost cost;
};

struct sample {
	struct stack stack[MAX_STACKS];
	size_t nr;
	uint64_t seed;
};

static struct sample make_sample(void)
{
	struct sample s = { .seed = unit_seed() };
	uint64_t state = s.seed | 1;

	s.nr = unit_random(&state) % MAX_STACKS;
	for (size_t i = 0; i < s.nr; i++) {
		struct stack *stack = &s.stack[i];

		stack->nr = unit_random(&state) % (MAX_FRAMES + 1);
		for (size_t k = 0; k < stack->nr; k++)
			stack->frame[k] = unit_random(&state) % NR_NAMES;
		stack->side = unit_random(&state) % CALLTREE_NR_SIDES;
		stack->cost.n = 1 + unit_random(&state) % 9;
		stack->cost.weight = 10 * (double)stack->cost.n;
	}
	return s;
}

static void build(struct calltree *t, const struct sample *s, bool inverted)
{
	ck_assert_int_eq(calltree_init(t, inverted), 0);
	for (size_t i = 0; i < s->nr; i++)
		ck_assert_int_eq(calltree_add(t, s->stack[i].frame, s->stack[i].nr,
					      s->stack[i].side, s->stack[i].cost),
				 0);
}

/* The frame at depth d (from 1), as the tree goes. */
static uint32_t frame_at(const struct stack *s, size_t d, bool inverted)
{
	return s->frame[inverted ? d - 1 : s->nr - d];
}

static bool begins_as(const struct stack *s, const struct call_node *n, bool inverted)
{
	if (s->nr < n->depth)
		return false;
	for (; n->parent; n = n->parent) {
		if (frame_at(s, n->depth, inverted) != n->frame)
			return false;
	}
	return true;
}

/* What a stack's beginning of d frames was first seen in: itself, if it is new. */
static size_t first_with(const struct sample *s, size_t i, size_t d, bool inverted)
{
	for (size_t k = 0; k < i; k++) {
		size_t same = 1;

		if (s->stack[k].nr < d)
			continue;
		while (same <= d && frame_at(&s->stack[k], same, inverted) ==
					    frame_at(&s->stack[i], same, inverted))
			same++;
		if (same > d)
			return k;
	}
	return i;
}

static size_t nr_beginnings(const struct sample *s, bool inverted)
{
	size_t nr = 1;

	for (size_t i = 0; i < s->nr; i++) {
		for (size_t d = 1; d <= s->stack[i].nr; d++)
			nr += first_with(s, i, d, inverted) == i;
	}
	return nr;
}

static void check_node(const struct sample *s, const struct call_node *n, bool inverted)
{
	uint64_t total[CALLTREE_NR_SIDES] = { 0 }, self[CALLTREE_NR_SIDES] = { 0 };

	for (size_t i = 0; i < s->nr; i++) {
		const struct stack *stack = &s->stack[i];

		if (!begins_as(stack, n, inverted))
			continue;
		total[stack->side] += stack->cost.n;
		self[stack->side] += stack->nr == n->depth ? stack->cost.n : 0;
	}
	for (int side = 0; side < CALLTREE_NR_SIDES; side++)
		ck_assert_msg(n->total[side].n == total[side] &&
				      n->self[side].n == self[side] &&
				      n->total[side].weight == 10 * total[side],
			      "seed %" PRIu64 ": depth %u", s->seed, n->depth);
}

START_TEST(each_node_has_the_stacks_that_begin_as_its_path)
{
	const bool inverted = _i % 2;
	const struct sample s = make_sample();
	struct calltree t;
	size_t nr = 0;

	build(&t, &s, inverted);
	for (struct call_node *n = t.root; n; n = calltree_next(n), nr++)
		check_node(&s, n, inverted);
	ck_assert_msg(nr == t.nr_nodes && nr == nr_beginnings(&s, inverted),
		      "seed %" PRIu64, s.seed);
	calltree_fini(&t);
}
END_TEST

static int backwards(uint32_t a, uint32_t b, void *ctx)
{
	return (a < b) - (a > b);
}

START_TEST(children_are_in_the_order_of_their_sizes)
{
	const struct sample s = make_sample();
	struct calltree t;
	size_t nr = 0;

	build(&t, &s, false);
	t.scale[1] = 0.5;
	ck_assert_int_eq(calltree_sort(&t, backwards, NULL), 0);
	for (struct call_node *n = t.root; n; n = calltree_next(n), nr++) {
		const struct call_node *next = n->sibling;
		const double size = calltree_size(&t, n->total);
		const double after = next ? calltree_size(&t, next->total) : 0;

		ck_assert_msg(size == n->total[0].weight + n->total[1].weight / 2,
			      "seed %" PRIu64, s.seed);
		ck_assert_msg(!next || size > after ||
				      (size == after && n->frame > next->frame),
			      "seed %" PRIu64, s.seed);
	}
	ck_assert_uint_eq(nr, t.nr_nodes);
	calltree_fini(&t);
}
END_TEST

/* I1 holds of what is left, which is what a second tree has of that size. */
START_TEST(what_is_pruned_is_in_its_parent)
{
	const struct sample s = make_sample();
	const double least = 10.0 * (double)(_i % 40);
	struct calltree whole, t;
	size_t kept = 0, left = 0;

	build(&whole, &s, false);
	build(&t, &s, false);
	calltree_prune(&t, least);
	for (struct call_node *n = whole.root; n; n = calltree_next(n))
		kept += n == whole.root || calltree_size(&t, n->total) >= least;
	for (struct call_node *n = t.root; n; n = calltree_next(n), left++) {
		size_t nr_children = 0, nr = n->nr_pruned;

		for (int side = 0; side < CALLTREE_NR_SIDES; side++) {
			uint64_t sum = n->self[side].n + n->pruned[side].n;

			for (struct call_node *c = n->child; c; c = c->sibling)
				sum += c->total[side].n;
			ck_assert_msg(sum == n->total[side].n, "seed %" PRIu64, s.seed);
		}
		for (struct call_node *c = n->child; c; c = c->sibling)
			nr++;
		for (struct call_node *c = whole.root; c; c = calltree_next(c))
			nr_children += c->parent && n == t.root && c->depth == 1;
		ck_assert_msg(n != t.root || nr == nr_children, "seed %" PRIu64,
			      s.seed);
	}
	ck_assert_msg(left == kept, "seed %" PRIu64 ": %zu, not %zu", s.seed, left,
		      kept);
	calltree_fini(&whole);
	calltree_fini(&t);
}
END_TEST

START_TEST(a_full_tree_loses_nothing)
{
	const struct sample s = make_sample();
	uint64_t all = 0, sum = 0;
	struct calltree t;

	ck_assert_int_eq(calltree_init(&t, false), 0);
	t.max_nodes = 1 + _i % 9;
	for (size_t i = 0; i < s.nr; i++) {
		ck_assert_int_eq(calltree_add(&t, s.stack[i].frame, s.stack[i].nr, 0,
					      s.stack[i].cost),
				 0);
		all += s.stack[i].cost.n;
	}
	for (struct call_node *n = t.root; n; n = calltree_next(n))
		sum += n->self[0].n + n->pruned[0].n;
	ck_assert_msg(sum == all && t.root->total[0].n == all, "seed %" PRIu64, s.seed);
	ck_assert_uint_le(t.nr_nodes, t.max_nodes);
	calltree_fini(&t);
}
END_TEST

START_TEST(a_stack_may_be_deeper_than_the_tree)
{
	static uint32_t frame[CALLTREE_MAX_DEPTH + 5];
	const struct call_node *last = NULL;
	struct calltree t;

	ck_assert_int_eq(calltree_init(&t, false), 0);
	ck_assert_int_eq(
		calltree_add(&t, frame, NR(frame), 0, (struct call_cost){ 3, 3 }), 0);
	for (struct call_node *n = t.root; n; n = calltree_next(n))
		last = n;
	ck_assert_uint_eq(last->depth, CALLTREE_MAX_DEPTH);
	ck_assert_uint_eq(last->pruned[0].n, 3);
	ck_assert_uint_eq(last->self[0].n, 0);
	calltree_fini(&t);
}
END_TEST

START_TEST(a_recursion_counts_once_in_the_sums)
{
	const struct sample s = make_sample();
	struct callsum sums = { 0 };

	for (size_t i = 0; i < s.nr; i++)
		ck_assert_int_eq(callsum_add(&sums, s.stack[i].frame, s.stack[i].nr,
					     s.stack[i].cost),
				 0);
	for (uint32_t f = 0; f < NR_NAMES; f++) {
		const struct callsum_row none = { 0 };
		const struct callsum_row *row = f < sums.nr ? &sums.row[f] : &none;
		uint64_t self = 0, total = 0;

		for (size_t i = 0; i < s.nr; i++) {
			const struct stack *stack = &s.stack[i];
			bool in = false;

			for (size_t k = 0; k < stack->nr; k++)
				in |= stack->frame[k] == f;
			total += in ? stack->cost.n : 0;
			self += stack->nr && stack->frame[0] == f ? stack->cost.n : 0;
		}
		ck_assert_msg(row->self.n == self && row->total.n == total &&
				      row->total.weight == 10 * total,
			      "seed %" PRIu64 ": frame %u", s.seed, f);
	}
	callsum_fini(&sums);
}
END_TEST

static const struct {
	uint32_t frame[5];
	size_t nr, want;
} outermost[] = {
	{ { 0, 1, 2 }, 3, 1 },    /* where it is */
	{ { 1, 0, 1, 0 }, 4, 2 }, /* the caller of itself */
	{ { 0, 3, 2 }, 3, 1 },    /* either of two */
	{ { 0, 2, 0 }, 3, 3 },    /* nowhere */
	{ { 0 }, 0, 0 },          /* in nothing */
};

START_TEST(the_outermost_of_a_recursion_is_found)
{
	static const bool wanted[] = { false, true, false, true };

	ck_assert_uint_eq(calltree_outermost(outermost[_i].frame, outermost[_i].nr,
					     wanted),
			  outermost[_i].want);
}
END_TEST

static Suite *calltree_suite(void)
{
	Suite *s = suite_create("calltree");
	TCase *t = tcase_create("calltree");

	tcase_add_loop_test(t, each_node_has_the_stacks_that_begin_as_its_path, 0, 200);
	tcase_add_loop_test(t, children_are_in_the_order_of_their_sizes, 0, 50);
	tcase_add_loop_test(t, what_is_pruned_is_in_its_parent, 0, 200);
	tcase_add_loop_test(t, a_full_tree_loses_nothing, 0, 50);
	tcase_add_test(t, a_stack_may_be_deeper_than_the_tree);
	tcase_add_loop_test(t, a_recursion_counts_once_in_the_sums, 0, 50);
	tcase_add_loop_test(t, the_outermost_of_a_recursion_is_found, 0, NR(outermost));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(calltree_suite)
