/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows of branches that are known to be predictable or not, and random windows,
 * whose executions and histories a plain search finds, too.
 */
#include "config.h"

#include "analysis/predict/mispredicts.h"

#include <math.h>

#include "t/unit/unit.h"

#define LENGTH  60 /* jumps of a window */
#define WINDOWS 300
#define LOOP    0x1000
#define BRANCH  0x1010 /* skips to SKIP, or not */
#define SKIP    0x1020
#define BACK    0x1030 /* jumps to LOOP */
#define OTHER   0x2000 /* targets of an indirect jump at BRANCH: OTHER + 16 i */

/* Outcome number i of the branch; other: a random bit, the same for i. */
typedef uint64_t (*outcome_fn)(uint64_t i, uint64_t random);

static uint64_t at_random(uint64_t i, uint64_t random)
{
	(void)i;
	return random & 1;
}

static uint64_t never(uint64_t i, uint64_t random)
{
	(void)i;
	(void)random;
	return 0;
}

static uint64_t every_second(uint64_t i, uint64_t random)
{
	(void)random;
	return i & 1;
}

static uint64_t every_seventh(uint64_t i, uint64_t random)
{
	(void)random;
	return i % 7 == 0;
}

/* One time in eight, at random. */
static uint64_t seldom(uint64_t i, uint64_t random)
{
	(void)i;
	return random % 8 == 0;
}

static uint64_t four_in_turn(uint64_t i, uint64_t random)
{
	(void)random;
	return i % 4;
}

static uint64_t four_at_random(uint64_t i, uint64_t random)
{
	(void)i;
	return random % 4;
}

static void take_jump(struct window *w, struct window_jump *jump, uint64_t from,
		      uint64_t to)
{
	jump[w->nr_jumps++] = (struct window_jump){ from, to, 0 };
}

/* A window from iteration i of the loop on. */
static void add_window(struct windows *set, uint64_t i, outcome_fn outcome,
		       bool indirect, uint64_t *seed)
{
	struct window_jump jump[LENGTH + 2];
	struct window w = { .start = LOOP, .jump = jump, .nr_insns = 1000, .n = 1 };

	for (; w.nr_jumps < LENGTH; i++) {
		const uint64_t way = outcome(i, unit_random(seed) >> 20);

		if (indirect) {
			take_jump(&w, jump, BRANCH, OTHER + 16 * way);
			take_jump(&w, jump, OTHER + 16 * way + 8, BACK);
		} else if (way) {
			take_jump(&w, jump, BRANCH, SKIP);
		}
		take_jump(&w, jump, BACK, LOOP);
	}
	w.end = LOOP;
	ck_assert_int_eq(windows_add(set, &w), 0);
}

static struct window_weights *weigh(struct windows *set)
{
	struct window_weights *ww = window_weights_new();
	const uint32_t map = 0;

	ck_assert_ptr_nonnull(ww);
	ck_assert_int_eq(window_weights_add(ww, 0, set, &map, 1), 0);
	ck_assert_int_eq(window_weights_sample(ww, 0, LOOP, 1000), 0);
	ck_assert_int_eq(window_weights_solve(ww), 0);
	return ww;
}

static struct mispredicts estimate(outcome_fn outcome, bool indirect)
{
	const struct branch_place at = { 0, BRANCH, indirect };
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	uint64_t seed = unit_seed();
	struct branch_history *h;
	struct branch_event *event;
	struct window_weights *ww;
	struct mispredicts m;
	struct arena arena;
	size_t nr;

	arena_init(&arena, 0);
	for (int i = 0; i < WINDOWS; i++)
		add_window(set, unit_random(&seed) % 1000, outcome, indirect, &seed);
	ww = weigh(set);
	ck_assert_int_eq(branch_history_new(ww, &h), 0);
	ck_assert_int_eq(branch_history_find(h, &at, &arena, &event, &nr), 0);
	ck_assert_int_eq(mispredicts_estimate(event, nr, &arena, &m), 0);
	ck_assert_uint_ge(m.executions, 1000);
	ck_assert_double_le(m.low, m.likely);
	ck_assert_double_le(m.likely, m.high);
	arena_fini(&arena);
	branch_history_free(h);
	window_weights_free(ww);
	windows_free(set);
	return m;
}

/* The share that a predictor misses, with certainty, and what is expected at least. */
static const struct {
	outcome_fn outcome;
	bool indirect;
	double truth, low_from, high_to;
} branches[] = {
	{ at_random, false, 0.5, 0.2, 0.7 },    { seldom, false, 0.125, 0.04, 0.25 },
	{ never, false, 0, 0, 0.01 },           { every_second, false, 0, 0, 0.03 },
	{ every_seventh, false, 0, 0, 0.03 },   { four_in_turn, true, 0, 0, 0.04 },
	{ four_at_random, true, 0.75, 0.3, 1 },
};

START_TEST(intervals_hold_what_a_predictor_misses)
{
	const struct mispredicts m =
		estimate(branches[_i].outcome, branches[_i].indirect);

	ck_assert_double_le(m.low, branches[_i].truth);
	ck_assert_double_ge(m.high, branches[_i].truth);
	ck_assert_double_ge(m.low, branches[_i].low_from);
	ck_assert_double_le(m.high, branches[_i].high_to);
}
END_TEST

START_TEST(few_executions_say_nothing)
{
	struct branch_event event[MISPREDICTS_LEAST] = { { .outcome = 0 } };
	struct mispredicts m = { .executions = 1 };
	struct arena arena;

	arena_init(&arena, 0);
	for (uint32_t i = 0; i < MISPREDICTS_LEAST; i++) {
		event[i].window = i;
		event[i].copies = 1;
		event[i].weight = 1;
		event[i].context[0] = 1;
	}
	ck_assert_int_eq(mispredicts_estimate(event, MISPREDICTS_LEAST - 1, &arena, &m),
			 0);
	ck_assert_uint_eq(m.executions, 0);
	ck_assert_int_eq(mispredicts_estimate(event, MISPREDICTS_LEAST, &arena, &m), 0);
	ck_assert_uint_eq(m.executions, MISPREDICTS_LEAST);
	for (uint32_t i = 0; i < MISPREDICTS_LEAST; i++)
		event[i].window = 7; /* one window */
	ck_assert_int_eq(mispredicts_estimate(event, MISPREDICTS_LEAST, &arena, &m), 0);
	ck_assert_uint_eq(m.executions, 0);
	arena_fini(&arena);
}
END_TEST

#define RANDOM_WINDOWS 40
#define RANDOM_JUMPS   20

struct random_windows {
	struct window w[RANDOM_WINDOWS];
	struct window_jump jump[RANDOM_WINDOWS][RANDOM_JUMPS];
};

static void make_random(struct random_windows *r, struct windows *set, uint64_t *seed)
{
	for (int i = 0; i < RANDOM_WINDOWS; i++) {
		struct window *w = &r->w[i];
		uint64_t at = LOOP + unit_random(seed) % 64;

		*w = (struct window){
			.start = at, .jump = r->jump[i], .nr_insns = 1000, .n = 1
		};
		w->nr_jumps = (uint32_t)(unit_random(seed) % RANDOM_JUMPS);
		for (uint32_t k = 0; k < w->nr_jumps; k++) {
			r->jump[i][k].from = at + unit_random(seed) % 32;
			at = LOOP + unit_random(seed) % 64;
			r->jump[i][k].to = at;
			r->jump[i][k].image = 0;
		}
		w->end = at + unit_random(seed) % 32;
		ck_assert_int_eq(windows_add(set, w), 0);
	}
}

/* Executions of a conditional branch, by walking each window byte by byte. */
static uint64_t walk(const struct random_windows *r, uint64_t branch, uint64_t *taken)
{
	uint64_t nr = 0;

	*taken = 0;
	for (int i = 0; i < RANDOM_WINDOWS; i++) {
		const struct window *w = &r->w[i];
		uint64_t at = w->start;

		for (uint32_t k = 0; k <= w->nr_jumps; k++) {
			const bool last = k == w->nr_jumps;
			const uint64_t to = last ? w->end : w->jump[k].from;

			for (; at < to; at++)
				nr += at == branch;
			if (!last && to == branch) {
				nr++;
				++*taken;
			}
			at = last ? 0 : w->jump[k].to;
		}
	}
	return nr;
}

START_TEST(executions_are_those_of_a_plain_walk)
{
	uint64_t seed = unit_seed() + (uint64_t)_i;
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct random_windows r;
	struct branch_history *h;
	struct window_weights *ww;

	make_random(&r, set, &seed);
	ww = weigh(set);
	ck_assert_int_eq(branch_history_new(ww, &h), 0);
	for (uint64_t branch = LOOP; branch < LOOP + 100; branch += 7) {
		const struct branch_place at = { 0, branch, false };
		struct branch_event *event;
		uint64_t taken, found = 0;
		struct arena arena;
		size_t nr;

		arena_init(&arena, 0);
		ck_assert_int_eq(branch_history_find(h, &at, &arena, &event, &nr), 0);
		for (size_t i = 0; i < nr; i++) {
			found += event[i].outcome;
			ck_assert(!i || event[i].window >= event[i - 1].window);
		}
		ck_assert_uint_eq(nr, walk(&r, branch, &taken));
		ck_assert_uint_eq(found, taken);
		arena_fini(&arena);
	}
	branch_history_free(h);
	window_weights_free(ww);
	windows_free(set);
}
END_TEST

/* The window of number k: it passes the branch 32 times, or not at all. */
static void add_regular(struct windows *set, uint64_t k, bool passes)
{
	const uint64_t start = 0x100000 + 16 * k;
	struct window_jump jump[33];
	struct window w = { .start = start, .jump = jump, .nr_insns = 200, .n = 1 };

	if (passes) {
		take_jump(&w, jump, start + 4, LOOP);
		for (int i = 0; i < 32; i++)
			take_jump(&w, jump, BACK, LOOP);
	}
	w.end = passes ? LOOP : start + 8;
	ck_assert_int_eq(windows_add(set, &w), 0);
}

START_TEST(windows_in_step_with_the_selection_have_room)
{
	const struct branch_place at = { 0, BRANCH, false };
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct branch_history *h;
	struct branch_event *event;
	struct window_weights *ww;
	struct arena arena;
	size_t nr;

	arena_init(&arena, 0);
	for (uint64_t k = 0; k < 3 * 256; k++)
		add_regular(set, k, k % 3 == (uint64_t)_i);
	ww = weigh(set);
	ck_assert_int_eq(branch_history_new(ww, &h), 0);
	ck_assert_int_eq(branch_history_find(h, &at, &arena, &event, &nr), 0);
	ck_assert_uint_eq(nr, _i ? 0 : 8192);
	arena_fini(&arena);
	branch_history_free(h);
	window_weights_free(ww);
	windows_free(set);
}
END_TEST

/*
 * The oracle: an execution is wrong if most executions in other windows with the
 * longest history that tells went another way. All histories of at most one length
 * here.
 */
static double wrong_without_history(const struct branch_event *event, size_t nr)
{
	double wrong = 0, all = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t n[2] = { 0, 0 };

		for (size_t k = 0; k < nr; k++)
			n[event[k].outcome] += event[k].window != event[i].window;
		wrong += n[event[i].outcome] <= n[!event[i].outcome] ? event[i].weight
								     : 0;
		all += event[i].weight;
	}
	return wrong / all;
}

START_TEST(without_history_the_error_is_that_of_counting)
{
	uint64_t seed = unit_seed() + (uint64_t)_i;
	struct branch_event event[200] = { { .outcome = 0 } };
	const uint64_t odds = 2 + unit_random(&seed) % 8;
	struct mispredicts m;
	struct arena arena;
	double wrong;

	for (uint32_t i = 0; i < NR(event); i++)
		event[i] = (struct branch_event){
			.window = i / 4,
			.copies = 1,
			.outcome = unit_random(&seed) % odds == 0,
			.weight = 1 + (double)(unit_random(&seed) % 3),
			.context = { 1 },
		};
	arena_init(&arena, 0);
	ck_assert_int_eq(mispredicts_estimate(event, NR(event), &arena, &m), 0);
	wrong = fmin(wrong_without_history(event, NR(event)), m.rarer);
	ck_assert_double_ge(m.high, wrong);
	ck_assert_double_le(m.low, wrong);
	ck_assert_double_eq_tol(m.likely, 0.6 * wrong + 0.03 * m.rarer, 1e-9);
	arena_fini(&arena);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("mispredicts");
	TCase *tc = tcase_create("mispredicts");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, intervals_hold_what_a_predictor_misses, 0,
			    NR(branches));
	tcase_add_test(tc, few_executions_say_nothing);
	tcase_add_loop_test(tc, executions_are_those_of_a_plain_walk, 0, 20);
	tcase_add_loop_test(tc, windows_in_step_with_the_selection_have_room, 0, 2);
	tcase_add_loop_test(tc, without_history_the_error_is_that_of_counting, 0, 50);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
