/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/trace/pairs.h"
#include "base/err.h"
#include "t/unit/unit.h"

#define NR_OPS 400
#define MANY   4000 /* what the ends lack of partners is little of it */
#define NR_PCS 12
#define PC(n)  (0x1000 + 4 * (uint64_t)(n))

static uint64_t below(uint64_t *state, uint64_t n)
{
	return unit_random(state) % n;
}

/* Fetched in order, two a cycle at most, all else as it comes. */
static void make_ops(struct trace_op *op, int nr, uint64_t *state)
{
	uint64_t cycle = 100;

	for (int i = 0; i < nr; i++) {
		const uint64_t pc = below(state, NR_PCS);

		cycle += below(state, 2);
		op[i] = (struct trace_op){ .id = i + 1,
					   .pc = PC(pc),
					   .fetched = cycle };
		op[i].issued = below(state, 9) ? cycle + 1 + below(state, 3 + pc) : 0;
		op[i].completed = (op[i].issued ? op[i].issued : cycle) +
				  below(state, 1 + 2 * pc);
		op[i].committed =
			op[i].issued && below(state, 8) ? op[i].completed + 1 : 0;
	}
}

static struct pairs *shuffled(struct trace_op *op, int nr, uint64_t *state)
{
	struct pairs *p = pairs_new();

	for (int i = nr - 1; i >= 0; i--) {
		const int k = below(state, i + 1);
		const struct trace_op other = op[k];

		op[k] = op[i];
		op[i] = other;
		ck_assert_int_eq(pairs_add(p, &op[i]), 0);
	}
	return p;
}

/* Each operation against each other one. */
static void count_all(const struct trace_op *op, uint64_t pc, struct pairs_row *out)
{
	*out = (struct pairs_row){ .pc = pc };
	for (int i = 0; i < NR_OPS; i++) {
		if (op[i].pc != pc)
			continue;
		out->fetched++;
		out->retired += op[i].committed > 0;
		out->latency += op[i].completed - op[i].fetched;
		for (int k = 0; k < NR_OPS; k++)
			out->useful += k != i && op[k].committed &&
				       op[k].issued >= op[i].fetched &&
				       op[k].issued < op[i].completed;
	}
}

START_TEST(the_sum_over_the_window_is_that_over_all_pairs)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct trace_op op[NR_OPS];

	for (int round = 0; round < 30; round++) {
		struct pairs_result got;
		struct pairs_row want;
		struct pairs *p;

		make_ops(op, NR_OPS, &state);
		p = shuffled(op, NR_OPS, &state);
		ck_assert_int_eq(pairs_exact(p, &got), 0);
		ck_assert_uint_eq(got.operations, NR_OPS);
		for (size_t i = 0; i < got.nr; i++) {
			count_all(op, got.row[i].pc, &want);
			ck_assert_msg(got.row[i].fetched == want.fetched &&
					      got.row[i].retired == want.retired &&
					      got.row[i].latency == want.latency &&
					      got.row[i].useful == want.useful,
				      "seed %" PRIu64, seed);
			ck_assert_double_eq(got.row[i].wasted,
					    want.latency * got.width - want.useful);
		}
		free(got.row);
		pairs_free(p);
	}
}
END_TEST

/* The mean of many estimates, in its own standard errors, from what is exact. */
static double off_by(const double *estimate, int nr, double exact)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < nr; i++) {
		sum += estimate[i];
		squares += estimate[i] * estimate[i];
	}
	return fabs(sum / nr - exact) /
	       (sqrt((squares / nr - sum / nr * (sum / nr)) / nr) + 1e-9);
}

#define NR_ROUNDS 500

START_TEST(random_pairs_tell_what_all_do)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	static double wasted[NR_PCS][NR_ROUNDS], useful[NR_PCS][NR_ROUNDS];
	struct pairs_result exact, got;
	static struct trace_op op[MANY];
	struct pairs *p;

	make_ops(op, MANY, &state);
	p = shuffled(op, MANY, &state);
	ck_assert_int_eq(pairs_exact(p, &exact), 0);
	for (int round = 0; round < NR_ROUNDS; round++) {
		ck_assert_int_eq(pairs_estimate(p, 7, unit_random(&state), &got), 0);
		ck_assert_uint_eq(got.nr, exact.nr);
		for (size_t i = 0; i < got.nr; i++) {
			wasted[i][round] = got.row[i].wasted;
			useful[i][round] = got.row[i].useful;
		}
		free(got.row);
	}
	for (size_t i = 0; i < exact.nr; i++) {
		const struct pairs_row *row = &exact.row[i];

		ck_assert_msg(off_by(wasted[i], NR_ROUNDS, row->wasted) < 6,
			      "seed %" PRIu64 " wasted %zu", seed, i);
		ck_assert_msg(off_by(useful[i], NR_ROUNDS, row->useful) < 6,
			      "seed %" PRIu64 " useful %zu", seed, i);
	}
	free(exact.row);
	pairs_free(p);
}
END_TEST

/*
 * Two of width two: the first waits 10 cycles while nothing else issues, the second
 * behind it waits as long while it and two others do.
 */
START_TEST(slots_are_wasted_where_others_do_not_issue)
{
	static const struct trace_op op[] = {
		{ 1, 0x10, 100, 101, 101, 110, 111, 0 },
		{ 2, 0x20, 200, 201, 201, 210, 211, 0 },
		{ 3, 0x30, 200, 201, 202, 203, 211, 0 },
		{ 4, 0x30, 201, 202, 202, 203, 0, 0 }, /* thrown away */
		{ 5, 0x30, 202, 203, 205, 206, 212, 0 },
	};
	struct pairs *p = pairs_new();
	struct pairs_result r;

	for (size_t i = 0; i < NR(op); i++)
		pairs_add(p, &op[i]);
	ck_assert_int_eq(pairs_exact(p, &r), 0);
	ck_assert_uint_eq(r.width, 2);
	ck_assert_uint_eq(r.nr, 3);
	ck_assert_double_eq(r.row[0].wasted, 20);
	ck_assert_double_eq(r.row[1].useful, 2);
	ck_assert_double_eq(r.row[1].wasted, 18);
	ck_assert_double_eq(r.row[2].fetched, 3);
	ck_assert_double_eq(r.row[2].retired, 2);
	free(r.row);
	pairs_free(p);
}
END_TEST

START_TEST(a_trace_in_which_nothing_issues_is_empty)
{
	struct pairs *p = pairs_new();
	struct pairs_result r;

	ck_assert_int_eq(pairs_exact(p, &r), -CPI_EEMPTY);
	pairs_add(p, &(struct trace_op){ .id = 1, .fetched = 5 });
	ck_assert_int_eq(pairs_estimate(p, 10, 1, &r), -CPI_EEMPTY);
	pairs_free(p);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("pairs");
	TCase *tc = tcase_create("pairs");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, the_sum_over_the_window_is_that_over_all_pairs);
	tcase_add_test(tc, random_pairs_tell_what_all_do);
	tcase_add_test(tc, slots_are_wasted_where_others_do_not_issue);
	tcase_add_test(tc, a_trace_in_which_nothing_issues_is_empty);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
