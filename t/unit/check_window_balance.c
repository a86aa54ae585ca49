/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/math/window_balance.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "t/unit/random.h"
#include "t/unit/unit.h"

#define MOST   12 /* places */
#define CHAINS 100
#define MANY   1e6 /* windows */

/* A chain of places, and what share of the time is spent in each. */
struct chain {
	int nr;
	double step[MOST][MOST]; /* the share of from's that goes to to */
	double time[MOST];
};

static void scale_to_1(double *x, int nr)
{
	double sum = 0;

	for (int i = 0; i < nr; i++)
		sum += x[i];
	for (int i = 0; i < nr; i++)
		x[i] /= sum;
}

/* Each place leads to each other one: none hangs on a thread. */
static void make_chain(struct chain *c, uint64_t *state)
{
	memset(c, 0, sizeof(*c));
	c->nr = 2 + unit_random(state) % (MOST - 1);
	for (int i = 0; i < c->nr; i++) {
		for (int k = 0; k < c->nr; k++)
			c->step[i][k] = exp(0.7 * random_normal(state));
		c->step[i][i] *= c->nr;
		scale_to_1(c->step[i], c->nr);
		c->time[i] = exp(0.5 * random_normal(state));
	}
	scale_to_1(c->time, c->nr);
}

/* How often each place is executed: what a step leaves as it is. */
static void find_executions(const struct chain *c, double *share)
{
	for (int i = 0; i < c->nr; i++)
		share[i] = 1.0 / c->nr;
	for (int round = 0; round < 2000; round++) {
		double next[MOST] = { 0 };

		for (int i = 0; i < c->nr; i++)
			for (int k = 0; k < c->nr; k++)
				next[k] += share[i] * c->step[i][k];
		memcpy(share, next, sizeof(next));
	}
}

static int make_steps(const struct chain *c, double many, struct window_step *step)
{
	int nr = 0;

	for (int i = 0; i < c->nr; i++) {
		for (int k = 0; k < c->nr; k++) {
			const double n = many * c->time[i] * c->step[i][k];

			if (n > 0)
				step[nr++] = (struct window_step){ i, k, n, n };
		}
	}
	return nr;
}

START_TEST(weighed_starts_are_what_a_step_leaves_as_it_is)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed;

	for (int k = 0; k < CHAINS; k++) {
		struct window_step step[MOST * MOST];
		double want[MOST], found[MOST], *log_factor;
		struct arena arena;
		struct chain c;
		int nr;

		arena_init(&arena, 0);
		make_chain(&c, &state);
		find_executions(&c, want);
		nr = make_steps(&c, MANY, step);
		ck_assert_int_eq(window_balance_solve(step, nr, c.nr, NULL, &arena,
						      &log_factor),
				 0);
		for (int i = 0; i < c.nr; i++)
			found[i] = c.time[i] * exp(log_factor[i]);
		scale_to_1(found, c.nr);
		for (int i = 0; i < c.nr; i++)
			ck_assert_msg(fabs(log(found[i] / want[i])) < 0.2,
				      "SEED=%llu chain %d: place %d has %g, not %g",
				      (unsigned long long)seed, k, i, found[i],
				      want[i]);
		arena_fini(&arena);
	}
}
END_TEST

/* By 2 windows there and 20 back hardly anything is known; by 200 and 2000 it is. */
START_TEST(what_few_windows_connect_keeps_its_scale)
{
	struct window_step step[] = { { 0, 0, 5000, 5000 },
				      { 0, 1, 2, 2 },
				      { 1, 1, 5000, 5000 },
				      { 1, 0, 20, 20 } };
	static const double guess[] = { 0.1, 0.2, 0.3 };
	struct arena arena;
	double *few, *many;

	arena_init(&arena, 0);
	ck_assert_int_eq(window_balance_solve(step, NR(step), 3, NULL, &arena, &few),
			 0);
	step[1].n = step[1].weight = 200;
	step[3].n = step[3].weight = 2000;
	ck_assert_int_eq(window_balance_solve(step, NR(step), 3, NULL, &arena, &many),
			 0);
	ck_assert_double_eq_tol(many[0] - many[1], log(10), 0.1);
	ck_assert_double_gt(few[0] - few[1], 0.5);
	ck_assert_double_lt(few[0] - few[1], 0.95 * log(10));
	ck_assert_double_eq(few[2], 0);
	ck_assert_int_eq(window_balance_solve(step, 1, 3, guess, &arena, &few), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_double_eq(few[i], guess[i]);
	arena_fini(&arena);
}
END_TEST

static const struct {
	struct window_step step;
	int err;
} odd[] = {
	{ { 0, 1, 1, 1 }, 0 },
	{ { 0, 0, 1, 1 }, 0 },
	{ { 0, 1, 0, 0 }, 0 },
	{ { 0, 1, 1, 0 }, 0 },
	{ { 2, 1, 1, 1 }, -EINVAL },
	{ { 0, 2, 1, 1 }, -EINVAL },
	{ { 0, 1, -1, 1 }, -EINVAL },
	{ { 0, 1, NAN, 1 }, -EINVAL },
	{ { 0, 1, INFINITY, 1 }, -EINVAL },
	{ { 0, 1, 1, NAN }, -EINVAL },
	{ { 0, 1, 1, -1 }, -EINVAL },
};

START_TEST(a_step_alone_says_nothing)
{
	struct arena arena;
	double *log_factor;

	arena_init(&arena, 0);
	ck_assert_int_eq(window_balance_solve(&odd[_i].step, 1, 2, NULL, &arena,
					      &log_factor),
			 odd[_i].err);
	if (!odd[_i].err)
		ck_assert(log_factor[0] == 0 && log_factor[1] == 0);
	arena_fini(&arena);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("balance");
	TCase *t = tcase_create("balance");

	tcase_add_test(t, weighed_starts_are_what_a_step_leaves_as_it_is);
	tcase_add_test(t, what_few_windows_connect_keeps_its_scale);
	tcase_add_loop_test(t, a_step_alone_says_nothing, 0, NR(odd));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
