/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/math/callscale.h"

#include <errno.h>
#include <math.h>

#include "t/unit/random.h"
#include "t/unit/unit.h"

#define MOST   24
#define CALLS  (3 * MOST)
#define GRAPHS 200

static const struct callscale_prior prior = { .sd = 0.35, .entries = 4 };

struct graph {
	struct callscale_procedure procedure[MOST];
	struct callscale_call call[CALLS];
	int nr, nr_calls;
};

static void make_graph(struct graph *g, uint64_t *state)
{
	g->nr = 1 + unit_random(state) % MOST;
	g->nr_calls = unit_random(state) % (3 * g->nr);
	for (int i = 0; i < g->nr; i++)
		g->procedure[i] = (struct callscale_procedure){
			.samples = random_poisson(state, 20),
			.entries = exp(2 * random_normal(state)),
			.seen = (double)(unit_random(state) % 40),
			.guess = 0.3 * random_normal(state),
		};
	for (int i = 0; i < g->nr_calls; i++)
		g->call[i] = (struct callscale_call){
			.caller = unit_random(state) % g->nr,
			.callee = unit_random(state) % g->nr,
			.calls = exp(2 * random_normal(state)),
		};
}

/* Gauss-Jordan, of a positive definite matrix: no pivot is sought. */
static void solve_dense(double a[MOST][MOST], double *b, int n)
{
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < n; i++) {
			const double f = i == k ? 0 : a[i][k] / a[k][k];

			for (int j = k; j < n; j++)
				a[i][j] -= f * a[k][j];
			b[i] -= f * b[k];
		}
	}
	for (int k = 0; k < n; k++)
		b[k] /= a[k][k];
}

/* The row of callee to, where d is; false when it has none. */
static bool row_of(const struct graph *g, int to, const double *d, double *row,
		   double *right, double *weight)
{
	const struct callscale_procedure *p = &g->procedure[to];
	double sum = 0, variance = 0.05 * 0.05 + 1 / (p->seen + 0.5), off, far;

	for (int i = 0; i < g->nr; i++)
		row[i] = 0;
	for (int i = 0; i < g->nr_calls; i++) {
		const struct callscale_call *c = &g->call[i];

		if (c->callee != to)
			continue;
		row[c->caller] += c->calls * exp(d[c->caller]);
		sum += c->calls * exp(d[c->caller]);
	}
	if (!(sum > 0) || p->seen < prior.entries)
		return false;
	for (int i = 0; i < g->nr; i++)
		row[i] /= sum;
	row[to] -= 1;
	off = log(sum / p->entries) - d[to];
	far = off / (3 * sqrt(variance) + 0.3);
	*weight = 1 / variance / (1 + far * far);
	*right = -off;
	for (int i = 0; i < g->nr; i++)
		*right += row[i] * d[i];
	return true;
}

/* What is known of a factor without its calls: its mean, and one over its variance. */
static double prior_of(const struct callscale_procedure *p, double *mean)
{
	const double own = prior.sd * prior.sd + 1 / (p->samples + 0.5);

	*mean = p->guess;
	return 1 / own;
}

/* The same rounds, with the whole matrix. */
static void find_dense(const struct graph *g, double *d)
{
	double before[MOST], mean[MOST];

	for (int i = 0; i < g->nr; i++) {
		before[i] = prior_of(&g->procedure[i], &mean[i]);
		d[i] = mean[i];
	}
	for (int round = 0; round < 12; round++) {
		double a[MOST][MOST] = { { 0 } }, b[MOST] = { 0 }, row[MOST];
		double right, weight;

		for (int i = 0; i < g->nr; i++) {
			a[i][i] = before[i];
			b[i] = before[i] * mean[i];
		}
		for (int to = 0; to < g->nr; to++) {
			if (!row_of(g, to, d, row, &right, &weight))
				continue;
			for (int i = 0; i < g->nr; i++) {
				b[i] += weight * row[i] * right;
				for (int j = 0; j < g->nr; j++)
					a[i][j] += weight * row[i] * row[j];
			}
		}
		solve_dense(a, b, g->nr);
		for (int i = 0; i < g->nr; i++)
			d[i] += 0.8 * fmin(fmax(b[i] - d[i], -1), 1);
	}
}

START_TEST(factors_are_those_of_the_whole_matrix)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed;
	struct graph g;
	double want[MOST], *d;

	for (int k = 0; k < GRAPHS; k++) {
		struct arena arena;

		arena_init(&arena, 0);
		make_graph(&g, &state);
		find_dense(&g, want);
		ck_assert_int_eq(callscale_find(&prior, g.procedure, g.nr, g.call,
						g.nr_calls, &arena, &d),
				 0);
		for (int i = 0; i < g.nr; i++)
			ck_assert_msg(fabs(d[i] - want[i]) < 1e-6,
				      "SEED=%llu graph %d: factor %d is %g, not %g",
				      (unsigned long long)seed, k, i, d[i], want[i]);
		arena_fini(&arena);
	}
}
END_TEST

/* main calls a and b alike; b is held to run twice as often as it does. */
START_TEST(what_is_called_alike_is_entered_alike)
{
	struct callscale_procedure p[] = { { 1e4, 1, 1000, 0 },
					   { 1e4, 10, 1000, 0 },
					   { 1e4, 20, 1000, 0 } };
	struct callscale_call call[] = { { 0, 2, 10 }, { 0, 1, 10 } };
	struct arena arena;
	double *d;

	arena_init(&arena, 0);
	ck_assert_int_eq(callscale_find(&prior, p, 3, call, 2, &arena, &d), 0);
	ck_assert_double_eq_tol(10 * exp(d[1]) / (20 * exp(d[2])), 1, 0.1);
	ck_assert_double_lt(fabs(d[0]), fabs(d[2]));
	arena_fini(&arena);
}
END_TEST

START_TEST(what_was_seldom_entered_keeps_its_scale)
{
	struct callscale_procedure p[] = { { 1e4, 1, 1000, 0 },
					   { 1e4, 20, prior.entries - 1, 0 } };
	struct callscale_call call[] = { { 0, 1, 10 } };
	struct arena arena;
	double *d;

	arena_init(&arena, 0);
	ck_assert_int_eq(callscale_find(&prior, p, 2, call, 1, &arena, &d), 0);
	ck_assert_double_eq(d[0], 0);
	ck_assert_double_eq(d[1], 0);
	arena_fini(&arena);
}
END_TEST

static const struct {
	struct callscale_procedure procedure;
	struct callscale_call call;
} wrong[] = {
	{ { -1, 1, 1, 0 }, { 0, 0, 1 } },       { { 1, NAN, 1, 0 }, { 0, 0, 1 } },
	{ { 1, 1, INFINITY, 0 }, { 0, 0, 1 } }, { { 1, 1, 1, NAN }, { 0, 0, 1 } },
	{ { 1, 1, 1, 0 }, { 1, 0, 1 } },        { { 1, 1, 1, 0 }, { 0, -1, 1 } },
	{ { 1, 1, 1, 0 }, { 0, 0, NAN } },
};

START_TEST(numbers_that_are_none_are_refused)
{
	struct callscale_call call = wrong[_i].call;
	struct arena arena;
	double *d;

	arena_init(&arena, 0);
	ck_assert_int_eq(callscale_find(&prior, &wrong[_i].procedure, 1, &call, 1,
					&arena, &d),
			 -EINVAL);
	arena_fini(&arena);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("callscale");
	TCase *tcase = tcase_create("callscale");

	tcase_add_test(tcase, factors_are_those_of_the_whole_matrix);
	tcase_add_test(tcase, what_is_called_alike_is_entered_alike);
	tcase_add_test(tcase, what_was_seldom_entered_keeps_its_scale);
	tcase_add_loop_test(tcase, numbers_that_are_none_are_refused, 0, NR(wrong));
	suite_add_tcase(suite, tcase);
	return suite;
}

UNIT_MAIN(make_suite)
