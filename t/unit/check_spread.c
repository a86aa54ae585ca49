/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/math/spread.h"

#include <math.h>
#include <string.h>

#include "t/unit/random.h"
#include "t/unit/unit.h"

#define MAX_RUNS 40
#define NR_ROWS  60

/* What was drawn: counts by row and run. */
struct sample {
	size_t nr_runs;
	double exposure[MAX_RUNS], n[NR_ROWS][MAX_RUNS];
	struct spread spread[NR_ROWS];
	struct spread_runs runs;
};

/* Rows of rates from 4 to 4000 whose rate varies by cv from run to run. */
static void draw(uint64_t *state, struct sample *s, size_t nr_runs, double cv)
{
	memset(s, 0, sizeof(*s));
	s->nr_runs = nr_runs;
	for (size_t k = 0; k < nr_runs; k++) {
		s->exposure[k] = 0.5 + random_uniform(state);
		spread_runs_add(&s->runs, s->exposure[k]);
	}
	for (size_t i = 0; i < NR_ROWS; i++) {
		const double rate = 4 * pow(1000, (double)i / NR_ROWS);

		for (size_t k = 0; k < nr_runs; k++) {
			const double mean =
				s->exposure[k] * rate * exp(cv * random_normal(state));

			s->n[i][k] = random_poisson(state, mean);
			spread_add(&s->spread[i], s->n[i][k] / s->exposure[k],
				   s->n[i][k], s->exposure[k]);
		}
	}
}

/* Two passes over the values, in long double. */
START_TEST(moments_are_those_of_the_values)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct spread s = { 0 };
	double v[MAX_RUNS];
	long double sum = 0, squares = 0, min = INFINITY, max = -INFINITY;
	const size_t nr = 2 + unit_random(&state) % (MAX_RUNS - 2);

	for (size_t i = 0; i < nr; i++) {
		v[i] = 1e6 + random_uniform(&state);
		spread_add(&s, v[i], 1, 1);
		sum += v[i];
		min = fminl(min, v[i]);
		max = fmaxl(max, v[i]);
	}
	for (size_t i = 0; i < nr; i++)
		squares += (v[i] - sum / nr) * (v[i] - sum / nr);
	ck_assert_msg(fabsl(s.mean - sum / nr) < 1e-9 * s.mean &&
			      fabsl(spread_deviation(&s) - sqrtl(squares / (nr - 1))) <
				      1e-9L &&
			      s.min == (double)min && s.max == (double)max &&
			      fabsl(spread_range(&s) - (max - min) / sum) < 1e-15L,
		      "seed %llu", (unsigned long long)seed);
}
END_TEST

START_TEST(one_value_has_no_deviation)
{
	struct spread s = { 0 };

	spread_add(&s, 3, 3, 1);
	ck_assert(isnan(spread_deviation(&s)));
	ck_assert(spread_range(&s) == 0);
}
END_TEST

/* X² from its definition. */
START_TEST(dispersion_is_chi_squared_over_its_degrees)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct spread_test out[NR_ROWS];
	struct sample s;
	double cv;

	draw(&state, &s, 2 + unit_random(&state) % (MAX_RUNS - 2), 0.1);
	ck_assert_int_eq(spread_test(s.spread, NR_ROWS, &s.runs, 0.05, out, &cv), 0);
	for (size_t i = 0; i < NR_ROWS; i++) {
		double count = 0, exposure = 0, x = 0;

		for (size_t k = 0; k < s.nr_runs; k++) {
			count += s.n[i][k];
			exposure += s.exposure[k];
		}
		for (size_t k = 0; k < s.nr_runs; k++) {
			const double mean = count / exposure * s.exposure[k];

			x += (s.n[i][k] - mean) * (s.n[i][k] - mean) / mean;
		}
		x /= s.nr_runs - 1.0;
		if (out[i].excess != SPREAD_UNTESTED)
			ck_assert_msg(fabs(out[i].ratio - x) < 1e-6 * (1 + x),
				      "seed %llu, row %zu: %g, not %g",
				      (unsigned long long)seed, i, out[i].ratio, x);
	}
}
END_TEST

/*
 * Of 400 sets of rows that only sampling scatters, the one in twenty that may have any
 * mark: more than 37 would come once in 10000 times.
 */
START_TEST(chance_is_seldom_marked)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct spread_test out[NR_ROWS];
	struct sample s;
	int nr_marked = 0;
	double cv;

	for (int set = 0; set < 400; set++) {
		bool any = false;

		draw(&state, &s, 8, 0);
		ck_assert_int_eq(
			spread_test(s.spread, NR_ROWS, &s.runs, 0.05, out, &cv), 0);
		for (size_t i = 0; i < NR_ROWS; i++)
			any |= out[i].excess > SPREAD_CHANCE;
		nr_marked += any;
	}
	ck_assert_msg(nr_marked <= 37, "seed %llu: %d", (unsigned long long)seed,
		      nr_marked);
}
END_TEST

/* All rows vary by a tenth; one of them by more. */
START_TEST(what_varies_more_than_others_is_marked)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	const size_t odd = NR_ROWS - 1;
	struct spread_test out[NR_ROWS];
	struct sample s;
	double cv;

	draw(&state, &s, 30, 0.1);
	memset(&s.spread[odd], 0, sizeof(s.spread[odd]));
	for (size_t k = 0; k < s.nr_runs; k++) {
		s.n[odd][k] = s.exposure[k] * (k % 2 ? 1000 : 3000);
		spread_add(&s.spread[odd], s.n[odd][k] / s.exposure[k], s.n[odd][k],
			   s.exposure[k]);
	}
	ck_assert_int_eq(spread_test(s.spread, NR_ROWS, &s.runs, 0.05, out, &cv), 0);
	ck_assert_msg(cv > 0.08 && cv < 0.12, "seed %llu: cv %g",
		      (unsigned long long)seed, cv);
	ck_assert_int_eq(out[odd].excess, SPREAD_RUNS);
	ck_assert_msg(out[odd - 1].excess == SPREAD_SAMPLING, "seed %llu: %d",
		      (unsigned long long)seed, out[odd - 1].excess);
}
END_TEST

static Suite *spread_suite(void)
{
	Suite *s = suite_create("spread");
	TCase *t = tcase_create("spread");

	tcase_add_loop_test(t, moments_are_those_of_the_values, 0, 50);
	tcase_add_test(t, one_value_has_no_deviation);
	tcase_add_loop_test(t, dispersion_is_chi_squared_over_its_degrees, 0, 50);
	tcase_add_test(t, chance_is_seldom_marked);
	tcase_add_test(t, what_varies_more_than_others_is_marked);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(spread_suite)
