/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/freq/pace.h"

#include <math.h>

#include "t/unit/random.h"
#include "t/unit/unit.h"

#define BEGIN     0x100
#define END       0x200
#define AT        0x110
#define SAMPLE_NS 1e6

struct loop {
	struct edges *pace, *start;
	double at[END]; /* samples by offset */
};

static void begin(struct loop *l)
{
	*l = (struct loop){ edges_new(), edges_new(), { 0 } };
	ck_assert(l->pace && l->start);
}

static void end(struct loop *l)
{
	edges_free(l->pace);
	edges_free(l->start);
}

/* A pair that began at an offset; class 0: that of its speed. */
static void add(struct loop *l, uint64_t from, uint64_t ns, uint64_t ran,
		uint32_t class)
{
	struct edge e = { .from = AT,
			  .to = class ? class : edges_pace_class(ns, ran),
			  .n = ran + 1,
			  .cycles = ns,
			  .nr_timed = 1 };

	ck_assert_int_eq(edges_add(l->pace, &e), 0);
	if (e.to > EDGES_PACE_NONE)
		return;
	e.to = from;
	ck_assert_int_eq(edges_add(l->start, &e), 0);
}

static double samples_at(void *ctx, uint64_t offset)
{
	const struct loop *l = ctx;

	return offset < END ? l->at[offset] : 0;
}

/* What is found of the instruction at AT; whether anything is. */
static bool find(struct loop *l, struct pace *out)
{
	const struct pace_input in = { .pace = l->pace,
				       .start = l->start,
				       .samples = samples_at,
				       .sample_ns = SAMPLE_NS,
				       .ctx = l,
				       .begin = BEGIN,
				       .end = END };
	struct arena arena;
	struct pace *found;
	size_t nr;

	arena_init(&arena, 0);
	ck_assert_int_eq(pace_find(&in, &arena, &found, &nr), 0);
	ck_assert_uint_le(nr, 1);
	if (nr)
		*out = found[0];
	arena_fini(&arena);
	return nr;
}

START_TEST(classes_are_eight_to_an_octave)
{
	ck_assert_uint_eq(edges_pace_class(1, 1), 80);
	ck_assert_uint_eq(edges_pace_class(2000, 1000), 88);
	ck_assert_uint_eq(edges_pace_class(1000, 2000), 72);
	ck_assert_uint_eq(edges_pace_class(1, 1u << 20), 0);
	ck_assert_uint_eq(edges_pace_class(UINT64_MAX, 1), EDGES_PACE_CLASSES - 1);
	ck_assert_uint_eq(edges_pace_class(1000, 0), EDGES_PACE_NONE);
}
END_TEST

START_TEST(time_of_one_execution_is_measured)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x112] = 600;
	l.at[0x118] = 400;
	for (int i = 0; i < 50; i++)
		add(&l, i % 5 < 3 ? 0x112 : 0x118, 1000000, 250000, 0);
	ck_assert(find(&l, &p));
	ck_assert_double_eq_tol(p.ns, 4, 1e-9);
	ck_assert_double_eq_tol(p.likely, 4, 1e-9);
	ck_assert_uint_eq(p.first, 0x112);
	ck_assert_uint_eq(p.last, 0x118);
	ck_assert(p.low < p.likely && p.likely < p.high && p.high / p.low < 1.25);
	ck_assert_uint_eq(p.nr_pairs, 50);
	end(&l);
}
END_TEST

/* Pairs that are added to fifty good ones, and whether they spoil them. */
static const struct {
	uint32_t class;
	int nr;
	int octaves; /* over which the good ones are spread */
	bool found;
} others[] = {
	{ EDGES_PACE_DISAGREES, 4, 1, true },   { EDGES_PACE_DISAGREES, 4, 6, true },
	{ EDGES_PACE_DISAGREES, 30, 6, false }, { EDGES_PACE_LEFT, 4, 6, true },
	{ EDGES_PACE_LEFT, 30, 6, false },      { EDGES_PACE_BELOW, 200, 1, true },
	{ EDGES_PACE_DISAGREES, 60, 1, true },  { EDGES_PACE_DISAGREES, 60, 2, false },
	{ EDGES_PACE_DISAGREES, 90, 1, false }, { EDGES_PACE_DISAGREES, 12, 1, true },
	{ EDGES_PACE_DISAGREES, 12, 6, false }, { EDGES_PACE_LEFT, 12, 6, true },
};

START_TEST(pairs_that_count_nothing)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x112] = 1000;
	for (int i = 0; i < 50; i++)
		add(&l, 0x112, 1000000, 250000 >> i % others[_i].octaves, 0);
	for (int i = 0; i < others[_i].nr; i++)
		add(&l, 0x112, 1000000, 0, others[_i].class);
	ck_assert(find(&l, &p) == others[_i].found);
	/* Of five pairs four end in what it calls: its own time is a fifth. */
	if (others[_i].class == EDGES_PACE_BELOW)
		ck_assert_double_eq_tol(p.likely, 4 / 5.0, 1e-9);
	end(&l);
}
END_TEST

/* Of two in five samples and one in five pairs: the share is in between. */
START_TEST(a_small_procedure_takes_a_part_of_the_time)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x112] = 600;
	l.at[0x50] = 400;
	for (int i = 0; i < 50; i++)
		add(&l, i % 5 ? 0x112 : 0x50, 1000000, 250000, 0);
	ck_assert(find(&l, &p));
	ck_assert_double_eq_tol(p.ns, 4, 1e-9);
	ck_assert(p.likely > 4 * 0.6 && p.likely < 4 * 0.8);
	ck_assert(p.low < 2.6 && p.high > 3.1);
	end(&l);
}
END_TEST

/* One pair in five began in the callee, of which no sample is selected. */
START_TEST(a_callee_without_samples_leaves_the_share_of_pairs)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x112] = 1000;
	for (int i = 0; i < 50; i++)
		add(&l, i % 5 ? 0x112 : 0x50, 1000000, 250000, 0);
	ck_assert(find(&l, &p));
	ck_assert(p.likely > 4 * 0.6 && p.likely < 4);
	ck_assert(p.low > 0 && p.low < p.likely && p.high > p.likely);
	end(&l);
}
END_TEST

START_TEST(a_pair_while_the_cpu_was_away_does_not_count)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x112] = 1000;
	for (int i = 0; i < 50; i++)
		add(&l, 0x112, 1000000, 250000, 0);
	add(&l, 0x112, 90000000, 300000, 0);
	ck_assert(find(&l, &p));
	ck_assert_double_eq_tol(p.ns, 4, 1e-9);
	ck_assert_uint_eq(p.nr_pairs, 50);
	end(&l);
}
END_TEST

/*
 * Pairs of half a second's samples share what others did to the speed of memory then;
 * those of 1000 seconds do not.
 */
START_TEST(spread_averages_out_over_time_only)
{
	struct loop l;
	struct pace one, long_run;

	begin(&l);
	l.at[0x112] = 500;
	for (int i = 0; i < 400; i++)
		add(&l, 0x112, 1000000, i % 2 ? 150000 : 300000, 0);
	ck_assert(find(&l, &one));
	l.at[0x112] = 1e6;
	ck_assert(find(&l, &long_run));
	ck_assert_double_eq_tol(one.likely, long_run.likely, 1e-9);
	ck_assert_double_gt(one.high / one.low, 2);
	ck_assert_double_lt(long_run.high / long_run.low, 1.25);
	end(&l);
}
END_TEST

START_TEST(few_pairs_tell_nothing)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x112] = 1000;
	for (int i = 0; i < PACE_PAIRS - 1; i++)
		add(&l, 0x112, 1000000, 250000, 0);
	ck_assert(!find(&l, &p));
	end(&l);
}
END_TEST

START_TEST(a_loop_that_is_elsewhere_has_an_upper_bound)
{
	struct loop l;
	struct pace p;

	begin(&l);
	l.at[0x50] = 1000; /* of a procedure that others may call as well */
	for (int i = 0; i < 50; i++)
		add(&l, 0x50, 1000000, 250000, 0);
	ck_assert(find(&l, &p));
	ck_assert(p.likely == 0 && p.low == 0);
	ck_assert(p.high > 0 && p.high < 0.5); /* of 4 ns */
	ck_assert_double_gt(p.at_most, 1000 * SAMPLE_NS / 4);
	end(&l);
}
END_TEST

/*
 * No pair began in the loop's own code, but some samples are there: the part of the
 * time that it takes is at most theirs.
 */
START_TEST(samples_bound_the_own_part_without_pairs)
{
	struct loop l;
	struct pace few, some;

	begin(&l);
	l.at[0x50] = 3800;
	for (int i = 0; i < 100; i++)
		add(&l, 0x50, 1000000, 250000, 0);
	ck_assert(find(&l, &few));
	l.at[0x112] = 200;
	ck_assert(find(&l, &some));
	ck_assert_double_lt(few.high, 4 * 0.04);
	ck_assert_double_gt(some.high, 4 * 0.05);
	ck_assert_double_lt(some.high, 4 * 0.06);
	end(&l);
}
END_TEST

static double count_call(void *ctx, uint64_t offset)
{
	int *calls = ctx;

	(*calls)++;
	return offset == 0x50 ? 3800 : 1;
}

/* Each of 20 instructions needs the samples of the procedure, which are summed once. */
START_TEST(samples_of_the_procedure_are_summed_once)
{
	int calls = 0;
	struct loop l;
	struct pace_input in = { .samples = count_call,
				 .sample_ns = SAMPLE_NS,
				 .ctx = &calls,
				 .begin = BEGIN,
				 .end = END };
	struct arena arena;
	struct pace *found;
	size_t nr;

	begin(&l);
	for (uint64_t at = AT; at < AT + 20; at++) {
		struct edge e = { .from = at,
				  .to = edges_pace_class(1000000, 250000),
				  .n = 250001,
				  .cycles = 1000000,
				  .nr_timed = 1 };

		for (int i = 0; i < 100; i++)
			ck_assert_int_eq(edges_add(l.pace, &e), 0);
		e.to = 0x50;
		for (int i = 0; i < 100; i++)
			ck_assert_int_eq(edges_add(l.start, &e), 0);
	}
	in.pace = l.pace;
	in.start = l.start;
	arena_init(&arena, 0);
	ck_assert_int_eq(pace_find(&in, &arena, &found, &nr), 0);
	ck_assert_uint_eq(nr, 20);
	for (size_t i = 0; i < nr; i++)
		ck_assert_double_eq(found[i].high, found[0].high);
	ck_assert_int_ge(calls, END - BEGIN);
	ck_assert_int_lt(calls, 2 * (END - BEGIN));
	arena_fini(&arena);
	end(&l);
}
END_TEST

#define LOOPS 400

/* Of loops at random speeds, the interval holds the truth nine times of ten. */
START_TEST(intervals_hold_the_truth)
{
	uint64_t seed = unit_seed();
	int held = 0, nr = 0;

	for (int k = 0; k < LOOPS; k++) {
		const double ns = exp(8 * unit_random(&seed) / (double)UINT64_MAX - 1);
		const double spread = 0.3 * unit_random(&seed) / (double)UINT64_MAX;
		double truth = 0;
		struct loop l;
		struct pace p;

		begin(&l);
		for (int i = 0; i < 2000; i++) {
			const double now = ns * exp(spread * random_normal(&seed));
			const uint64_t off = 0x110 + 4 * (unit_random(&seed) % 6);

			l.at[off]++;
			truth += SAMPLE_NS / now;
			if (i % 50)
				continue;
			const uint64_t time = 20000 + unit_random(&seed) % 2000000;
			const double phase = unit_random(&seed) / (double)UINT64_MAX;

			add(&l, off, time, (uint64_t)((double)time / now + phase), 0);
		}
		if (find(&l, &p)) {
			nr++;
			held += p.low <= 2000 * SAMPLE_NS / truth &&
				2000 * SAMPLE_NS / truth <= p.high;
		}
		end(&l);
	}
	ck_assert_int_gt(nr, LOOPS * 9 / 10);
	ck_assert_double_gt((double)held / nr, 0.85);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("pace");
	TCase *t = tcase_create("pace");

	tcase_add_test(t, classes_are_eight_to_an_octave);
	tcase_add_test(t, time_of_one_execution_is_measured);
	tcase_add_loop_test(t, pairs_that_count_nothing, 0, NR(others));
	tcase_add_test(t, a_small_procedure_takes_a_part_of_the_time);
	tcase_add_test(t, a_callee_without_samples_leaves_the_share_of_pairs);
	tcase_add_test(t, a_pair_while_the_cpu_was_away_does_not_count);
	tcase_add_test(t, spread_averages_out_over_time_only);
	tcase_add_test(t, few_pairs_tell_nothing);
	tcase_add_test(t, a_loop_that_is_elsewhere_has_an_upper_bound);
	tcase_add_test(t, samples_bound_the_own_part_without_pairs);
	tcase_add_test(t, samples_of_the_procedure_are_summed_once);
	tcase_add_test(t, intervals_hold_the_truth);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
