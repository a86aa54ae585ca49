/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/anchored.h"

#include <math.h>

#include "t/unit/random.h"
#include "t/unit/unit.h"

#define HITS   32
#define LIMIT  20e6 /* ns of CPU time, at which a visit ends */
#define HIT_NS 5000.0
#define TRIALS 400

/* A program that calls something at two rates by turns, a phase as long as the other.
 */
struct program {
	double rate[2]; /* per second */
	double phase_ns;
};

static double exponential(uint64_t *state)
{
	return -log(1 - random_uniform(state));
}

/* Adds a visit that begins anywhere; hits come at random. */
static void visit(const struct program *p, uint64_t *state, double hit_ns,
		  struct anchor_sums *sums)
{
	double at = random_uniform(state) * 2 * p->phase_ns, ran = 0, rate;
	int hits = 0;

	while (hits < HITS) {
		const int phase = fmod(at, 2 * p->phase_ns) >= p->phase_ns;
		const double left = p->phase_ns - fmod(at, p->phase_ns);
		const double next = exponential(state) / p->rate[phase] * 1e9;
		const double step = fmin(fmin(next, left), LIMIT - ran);

		at += step;
		ran += step;
		hits += step == next;
		if (ran >= LIMIT)
			break;
	}
	rate = hits / ran * 1e9;
	sums->visits++;
	sums->hits += hits;
	sums->running_ns += (uint64_t)(ran + hits * hit_ns);
	sums->hit_ns += (uint64_t)(hits * HIT_NS);
	sums->rate += rate;
	sums->squares += rate * rate;
}

static const struct {
	struct program program;
	int visits;
} programs[] = {
	{ { { 1e3, 1e3 }, 1e6 }, 10 }, /* ended by time */
	{ { { 1e5, 1e5 }, 1e6 }, 10 }, /* ended by hits */
	{ { { 1e5, 2e4 }, 1e8 }, 40 }, /* visits are far shorter than phases */
	{ { { 2e4, 5e3 }, 1e5 }, 20 }, /* ... and far longer */
	{ { { 1e5, 1e5 }, 1e6 }, 2 },
};

/* Of a Gaussian 4.6 % are outside of two deviations. */
START_TEST(the_truth_is_within_two_deviations_mostly)
{
	const struct program *p = &programs[_i].program;
	const double truth = (p->rate[0] + p->rate[1]) / 2 * 100;
	const uint64_t seed = unit_seed();
	uint64_t state = seed;
	int outside = 0, all = 0;
	double sum = 0;

	for (int k = 0; k < TRIALS; k++) {
		struct anchor_sums sums = { 0 };
		struct anchored a;

		for (int i = 0; i < programs[_i].visits; i++)
			visit(p, &state, HIT_NS, &sums);
		if (!anchored_estimate(&sums, 100, &a))
			continue;
		all++;
		sum += a.executions / truth;
		outside += fabs(log(a.executions / truth)) > 2 * sqrt(a.variance);
	}
	ck_assert_msg(outside < 0.12 * all, "SEED=%llu: %d of %d outside",
		      (unsigned long long)seed, outside, all);
	ck_assert_msg(all == TRIALS && fabs(sum / all - 1) < 0.1,
		      "SEED=%llu: mean %g of %d", (unsigned long long)seed, sum / all,
		      all);
}
END_TEST

static const struct anchor_sums nothing[] = {
	{ .visits = 0 },
	{ .visits = 1,
	  .hits = 100,
	  .running_ns = 1000000,
	  .rate = 1e5,
	  .squares = 1e10 },
	{ .visits = 9, .hits = ANCHORED_HITS - 1, .running_ns = 1000000, .rate = 1e5 },
	{ .visits = 9, .hits = 100, .running_ns = 10, .hit_ns = 10, .rate = 1e5 },
	{ .visits = 9, .hits = 100, .running_ns = 10, .hit_ns = 20, .rate = 1e5 },
	{ .visits = 9, .hits = 100, .running_ns = 10, .rate = 0 },
	{ .visits = 9, .hits = 100, .running_ns = 10, .rate = NAN },
	{ .visits = 9, .hits = 100, .running_ns = 10, .rate = 1, .squares = INFINITY },
};

START_TEST(little_or_nonsense_says_nothing)
{
	struct anchored a = { 1, 2, 3 };

	ck_assert(!anchored_estimate(&nothing[_i], 100, &a));
	ck_assert_double_eq(a.executions, 2);
}
END_TEST

START_TEST(where_hits_take_the_time_little_is_known)
{
	struct anchor_sums sums = { .visits = 100,
				    .hits = 3200,
				    .running_ns = 32000000,
				    .hit_ns = 16000000,
				    .rate = 100 * 2e5,
				    .squares = 100 * 4e10 };
	struct anchored half, most;

	ck_assert(anchored_estimate(&sums, 1, &half));
	ck_assert_double_eq_tol(half.executions, 2e5, 1);
	sums.hit_ns = 30000000;
	ck_assert(anchored_estimate(&sums, 1, &most));
	ck_assert_double_gt(most.variance, 10 * half.variance);
}
END_TEST

START_TEST(two_commands_add_up)
{
	struct anchored a = { 8, 300, 0.04 };
	const struct anchored b = { 8, 100, 0.16 };

	anchored_add(&a, &b);
	ck_assert_double_eq_tol(a.executions, 400, 1e-9);
	ck_assert_double_eq_tol(a.variance, (9 * 0.04 + 0.16) / 16, 1e-12);
}
END_TEST

/* The oracle: no more than half of the weight is on either side. */
START_TEST(what_is_common_is_the_weighted_median)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed;

	for (int k = 0; k < TRIALS; k++) {
		struct anchored_ratio r[20];
		const size_t nr = 1 + unit_random(&state) % NR(r);
		double below = 0, above = 0, all = 0, common;

		for (size_t i = 0; i < nr; i++)
			r[i] = (struct anchored_ratio){ random_normal(&state),
							random_uniform(&state) };
		common = anchored_common(r, nr);
		for (size_t i = 0; i < nr; i++) {
			const double weight = 1 / (r[i].variance + 0.35 * 0.35);

			all += weight;
			below += r[i].log < common ? weight : 0;
			above += r[i].log > common ? weight : 0;
		}
		ck_assert_msg(below <= all / 2 + 1e-9 && above <= all / 2 + 1e-9,
			      "SEED=%llu trial %d: %g below, %g above of %g",
			      (unsigned long long)seed, k, below, above, all);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("anchored");
	TCase *tcase = tcase_create("anchored");

	tcase_add_loop_test(tcase, the_truth_is_within_two_deviations_mostly, 0,
			    NR(programs));
	tcase_add_loop_test(tcase, little_or_nonsense_says_nothing, 0, NR(nothing));
	tcase_add_test(tcase, where_hits_take_the_time_little_is_known);
	tcase_add_test(tcase, two_commands_add_up);
	tcase_add_test(tcase, what_is_common_is_the_weighted_median);
	suite_add_tcase(suite, tcase);
	return suite;
}

UNIT_MAIN(make_suite)
