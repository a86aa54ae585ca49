/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/windows/window_weights.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "t/unit/unit.h"

#define LENGTH 20 /* instructions of a window */
#define MANY   4000

/*
 * A program of two loops: FAST runs on average 10 times, then SLOW 5 times, and so on.
 * An execution of SLOW takes TIME times as long.
 */
#define FAST 0x100
#define SLOW 0x200
#define TIME 20

static uint64_t next_of(uint64_t at, uint64_t *state)
{
	const uint64_t stays = at == FAST ? 10 : 5;

	return unit_random(state) % stays ? at : FAST + SLOW - at;
}

/* Both loops are two instructions long: of four bytes, and the jump. */
static void add_window(struct windows *set, uint64_t base, uint64_t at, uint64_t *state)
{
	struct window_jump jump[LENGTH];
	struct window w = {
		.start = base + at, .jump = jump, .nr_insns = LENGTH, .n = 1
	};

	for (; w.nr_jumps < LENGTH / 2; w.nr_jumps++) {
		jump[w.nr_jumps].from = base + at + 4;
		at = next_of(at, state);
		jump[w.nr_jumps].to = base + at;
		jump[w.nr_jumps].image = 0;
	}
	w.end = base + at;
	ck_assert_int_eq(windows_add(set, &w), 0);
}

static double count_of(struct edges *set, uint64_t from, uint64_t to)
{
	size_t nr;
	const struct edge *e = edges_sorted(set, &nr);
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		if (e[i].from == from && e[i].to == to)
			sum += (double)e[i].n / WINDOW_WEIGHTS_UNIT;
	}
	return sum;
}

/* How far apart draws move two places, on average. */
static double apart(const struct window_weights *f, uint64_t a, uint64_t b)
{
	const double *ea = window_weights_errors(f, 0, a),
		     *eb = window_weights_errors(f, 0, b);
	double sum = 0;

	ck_assert(ea && eb);
	for (int i = 0; i < WINDOW_WEIGHTS_DRAWS; i++)
		sum += (ea[i] - eb[i]) * (ea[i] - eb[i]) / WINDOW_WEIGHTS_DRAWS;
	return sqrt(sum);
}

static void add_lonely_window(struct windows *set, uint64_t at)
{
	struct window_jump jump[LENGTH / 2];
	struct window w = { .start = at,
			    .jump = jump,
			    .nr_jumps = LENGTH / 2,
			    .nr_insns = LENGTH,
			    .end = at,
			    .n = 1 };

	for (uint32_t k = 0; k < w.nr_jumps; k++)
		jump[k] = (struct window_jump){ at + 4, at, 0 };
	ck_assert_int_eq(windows_add(set, &w), 0);
}

/* FAST and SLOW lead to each other; two more loops never lead anywhere. */
START_TEST(what_windows_connect_is_off_together)
{
	static const uint32_t map[] = { 0 };
	uint64_t state = 42;
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();

	for (int i = 0; i < MANY; i++) {
		add_window(set, 0, i % 2 ? FAST : SLOW, &state);
		add_lonely_window(set, i % 2 ? 0x10000 : 0x20000);
	}
	ck_assert_int_eq(window_weights_add(f, 0, set, map, 1), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_double_lt(apart(f, FAST, SLOW), 0.15);
	ck_assert_double_gt(apart(f, 0x10000, 0x20000), 0.5);
	ck_assert_double_gt(apart(f, FAST, 0x10000), 0.3);
	ck_assert_ptr_null(window_weights_errors(f, 0, 0));
	ck_assert_ptr_null(window_weights_errors(f, 1, FAST));
	window_weights_free(f);
	windows_free(set);
}
END_TEST

/* Of a file, and of code that was made at run time (daemon/jit/jit.h). */
static const uint64_t bases[] = { 0, 0x7483db85436fdc10 };

/* Where they begin is time: FAST has 2 of 3 executions, and 1 of 11 windows. */
START_TEST(what_is_slow_does_not_count_more)
{
	static const uint32_t map[] = { 3 };
	const uint64_t base = bases[_i];
	uint64_t state = 42;
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();
	struct edges *runs, *branches;
	double fast, slow;

	for (int i = 0; i < MANY; i++)
		add_window(set, base,
			   unit_random(&state) % (2 + TIME) < 2 ? FAST : SLOW, &state);
	ck_assert_int_eq(window_weights_add(f, 3, set, map, 1), 0);
	ck_assert_int_eq(window_weights_sample(f, 3, base + FAST, 2000), 0);
	ck_assert_int_eq(window_weights_sample(f, 3, base + SLOW, 1000.0 * TIME), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_uint_eq(window_weights_nr(f), MANY);
	ck_assert_int_eq(window_weights_edges(f, 3, &runs, &branches), 0);
	fast = count_of(branches, base + FAST + 4, base + FAST) +
	       count_of(branches, base + FAST + 4, base + SLOW);
	slow = count_of(branches, base + SLOW + 4, base + FAST) +
	       count_of(branches, base + SLOW + 4, base + SLOW);
	ck_assert_msg(fabs(fast / (fast + slow) - 2.0 / 3) < 0.1, "%g of %g", fast,
		      fast + slow);
	ck_assert(count_of(runs, base + FAST, base + FAST + 4) > 0);
	ck_assert_double_gt(window_weights_fast(f), 0.01);
	ck_assert_double_lt(window_weights_fast(f), 0.9);
	/* Passes of one window are not independent: worth is not more than windows. */
	ck_assert(window_weights_worth(f, 3, base + FAST) > 100 &&
		  window_weights_worth(f, 3, base + FAST) <= MANY);
	ck_assert(!window_weights_worth(f, 3, 0) &&
		  !window_weights_worth(f, 2, base + FAST));
	edges_free(runs);
	edges_free(branches);
	ck_assert_int_eq(window_weights_edges(f, 2, &runs, &branches), 0);
	ck_assert_uint_eq(edges_total(runs) + edges_total(branches), 0);
	edges_free(runs);
	edges_free(branches);
	window_weights_free(f);
	windows_free(set);
}
END_TEST

/* Nothing tells that one of two loops is faster if no window leads to the other. */
START_TEST(paths_that_nothing_compares_are_as_fast)
{
	static const uint32_t map[] = { 0 };
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();

	for (int i = 0; i < MANY; i++)
		add_lonely_window(set, i % 2 ? 0x10000 : 0x20000);
	ck_assert_int_eq(window_weights_add(f, 0, set, map, 1), 0);
	ck_assert_int_eq(window_weights_sample(f, 0, 0x10000, 900), 0);
	ck_assert_int_eq(window_weights_sample(f, 0, 0x20000, 900), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_double_lt(fabs(window_weights_fast(f) - 1), 0.05);
	window_weights_free(f);
	windows_free(set);
}
END_TEST

/* Where there are few samples, many paths have none. That does not make them fast. */
START_TEST(paths_without_samples_have_no_pace)
{
	static const uint32_t map[] = { 0 };
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();

	for (int i = 0; i < MANY; i++)
		add_lonely_window(set, i % 2 ? 0x10000 : 0x20000);
	ck_assert_int_eq(window_weights_add(f, 0, set, map, 1), 0);
	ck_assert_int_eq(window_weights_sample(f, 0, 0x10000, 900), 0);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_double_gt(window_weights_fast(f), 0.1);
	window_weights_free(f);
	windows_free(set);
}
END_TEST

/* Places that are none, and nothing at all. */
START_TEST(hostile_windows_are_left_out)
{
	static const uint32_t map[] = { 0, 70000 };
	const struct window_jump far = { 1, 1ull << 63, 0 }, image = { 1, 1, 1 };
	const struct window w[] = {
		{ .start = 1,
		  .jump = &far,
		  .nr_jumps = 1,
		  .nr_insns = 1,
		  .end = 1ull << 63,
		  .n = 1 },
		{ .start = 1,
		  .jump = &image,
		  .nr_jumps = 1,
		  .nr_insns = 1,
		  .end = 1,
		  .n = 1 },
		{ .start = UINT64_MAX, .nr_insns = 1, .end = UINT64_MAX, .n = 1 },
	};
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct window_weights *f = window_weights_new();
	struct edges *runs, *branches;

	for (size_t i = 0; i < NR(w); i++)
		ck_assert_int_eq(windows_add(set, &w[i]), 0);
	ck_assert_int_eq(window_weights_add(f, 0, set, map, 2), 0);
	ck_assert_int_eq(window_weights_sample(f, 0, 1ull << 63, 1), -CPI_ELIMIT);
	ck_assert_int_eq(window_weights_solve(f), 0);
	ck_assert_uint_eq(window_weights_nr(f), 0);
	ck_assert_int_eq(window_weights_edges(f, 0, &runs, &branches), 0);
	ck_assert_uint_eq(edges_total(runs) + edges_total(branches), 0);
	ck_assert(window_weights_time_per_insn(f) == 0);
	edges_free(runs);
	edges_free(branches);
	window_weights_free(f);
	windows_free(set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("followed");
	TCase *t = tcase_create("followed");

	tcase_add_loop_test(t, what_is_slow_does_not_count_more, 0, NR(bases));
	tcase_add_test(t, what_windows_connect_is_off_together);
	tcase_add_test(t, paths_that_nothing_compares_are_as_fast);
	tcase_add_test(t, paths_without_samples_have_no_pace);
	tcase_add_test(t, hostile_windows_are_left_out);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
