/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freq.c: all passes together, on procedures whose executions are known.
 */
#include "config.h"

#include "analysis/freq/freq.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/freq/estimate.h"
#include "analysis/windows/window_weights.h"
#include "t/unit/flow_make.h"

#define PROCEDURES 400
#define INSNS      4 /* in each block */
#define PERIOD     1000.0

struct procedure {
	struct arena arena;
	struct cfg *cfg;
	double block[FLOW_MAX], edge[64]; /* executions */
	double samples[FLOW_MAX * INSNS];
	struct count outcomes[FLOW_MAX * INSNS];
	struct freq_input in;
};

/* A count with that mean, as samples come: normal is near enough to Poisson here. */
static double sample(double mean, uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += flow_make_uniform(state);
	return fmax(floor(mean + sum * sqrt(mean) + 0.5), 0);
}

/*
 * Runs that many times. Blocks of more than one instruction stall, up to ten times
 * their least time, in one of them; jumps are sampled as any other instruction.
 */
static void make_procedure(struct procedure *q, uint64_t *state, double runs,
			   bool stalls)
{
	double p[64], source[FLOW_MAX] = { runs };

	memset(q, 0, sizeof(*q));
	arena_init(&q->arena, 0);
	q->cfg = cfg_make_random(&q->arena, state, 12, true);
	flow_make_probabilities(q->cfg, state, p);
	flow_make(q->cfg, p, source, q->block, q->edge);
	q->cfg->nr_insns = q->cfg->exit * INSNS;
	for (int b = 0; b < q->cfg->exit; b++) {
		struct cfg_block *block = &q->cfg->block[b];
		int last = b * INSNS + INSNS - 1, slow = b * INSNS + 1;

		block->first_insn = b * INSNS;
		block->nr_insns = INSNS;
		for (int i = b * INSNS; i <= last; i++) {
			double cycles = ESTIMATE_ISSUE;

			if (i == slow && stalls)
				cycles += 20 * flow_make_uniform(state);
			q->samples[i] = sample(q->block[b] * cycles / PERIOD, state);
		}
		for (int n = 0; block->nr_out == 2 && n < q->samples[last]; n++) {
			int e = block->first_out +
				(q->cfg->edge[block->first_out].kind != EDGE_TAKEN);
			bool taken = flow_make_uniform(state) < p[e];

			q->outcomes[last].taken += taken;
			q->outcomes[last].not_taken += !taken;
		}
	}
	q->in = (struct freq_input){
		.cfg = q->cfg,
		.samples = q->samples,
		.outcomes = q->outcomes,
		.period_cycles = PERIOD,
	};
}

static void check_conserved(const struct cfg *cfg, const struct freq *f,
			    unsigned long long seed)
{
	for (int b = 0; b < cfg->exit; b++) {
		double out = 0, in = 0;

		for (int i = 0; i < cfg->block[b].nr_out; i++)
			out += f->edge[cfg->block[b].first_out + i];
		for (int i = 0; i < cfg->block[b].nr_in; i++)
			in += f->edge[cfg->in[cfg->block[b].first_in + i]];
		ck_assert_msg(fabs(out - f->block[b]) <= 1e-9 * f->block[b] &&
				      (!b || fabs(in - out) <= 1e-9 * out),
			      "SEED=%#llx block %d", seed, b);
	}
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The procedure's common factor, which shape says nothing of. */
static double factor_of(const struct procedure *q, const struct freq *f)
{
	double ratio[FLOW_MAX];

	for (int b = 0; b < q->cfg->exit; b++)
		ratio[b] = f->block[b] / q->block[b];
	qsort(ratio, q->cfg->exit, sizeof(*ratio), by_value);
	return ratio[q->cfg->exit / 2];
}

/* "high" is a promise: nine of ten are within 15 %. And it is given. */
START_TEST(high_confidence_is_kept)
{
	uint64_t state = unit_seed();
	unsigned long long first = state;
	int high = 0, right = 0, all = 0;

	for (int n = 0; n < PROCEDURES; n++) {
		unsigned long long seed = state;
		struct procedure q;
		struct freq *f;
		double factor;

		make_procedure(&q, &state, 1e3 * exp(7 * flow_make_uniform(&state)),
			       _i);
		ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &f), 0);
		check_conserved(q.cfg, f, seed);
		factor = factor_of(&q, f);
		for (int b = 0; b < q.cfg->exit; b++) {
			all++;
			if (f->shape[b] != CONFIDENCE_HIGH)
				continue;
			high++;
			right += fabs(f->block[b] / factor / q.block[b] - 1) < 0.15;
		}
		arena_fini(&q.arena);
	}
	ck_assert_msg(right >= 0.9 * high && high >= all / 4,
		      "SEED=%#llx: of %d blocks %d high, %d right", first, all, high,
		      right);
}
END_TEST

START_TEST(many_samples_give_the_shape)
{
	uint64_t state = unit_seed();

	for (int n = 0; n < 100; n++) {
		unsigned long long seed = state;
		struct procedure q;
		struct freq *f;
		double factor;

		make_procedure(&q, &state, 1e8, false);
		ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &f), 0);
		factor = factor_of(&q, f);
		for (int b = 0; b < q.cfg->nr_blocks; b++)
			if (q.block[b] > 1e6)
				ck_assert_msg(fabs(f->block[b] / factor / q.block[b] -
						   1) < 0.1,
					      "SEED=%#llx block %d: %g not %g", seed, b,
					      f->block[b] / factor, q.block[b]);
		arena_fini(&q.arena);
	}
}
END_TEST

/* Time that stalls is no execution: instructions as they retire tell better. */
START_TEST(instructions_tell_the_executions_where_time_stalls)
{
	double retired[FLOW_MAX * INSNS];
	uint64_t state = unit_seed();

	for (int n = 0; n < 30; n++) {
		const struct freq_retired events = { retired, PERIOD };
		unsigned long long seed = state;
		struct procedure q;
		struct freq *f;

		make_procedure(&q, &state, 1e7, true);
		for (int i = 0; i < q.cfg->nr_insns; i++)
			retired[i] =
				PERIOD * sample(q.block[i / INSNS] / PERIOD, &state);
		q.in.retired = &events;
		ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &f), 0);
		ck_assert(f->retired);
		check_conserved(q.cfg, f, seed);
		for (int b = 0; b < q.cfg->exit; b++)
			if (q.block[b] > 1e6)
				ck_assert_msg(fabs(f->block[b] / q.block[b] - 1) < 0.1,
					      "SEED=%#llx block %d: %g not %g", seed, b,
					      f->block[b], q.block[b]);
		arena_fini(&q.arena);
	}
}
END_TEST

START_TEST(no_instructions_sampled_leave_it_to_time)
{
	static const double none[FLOW_MAX * INSNS];
	const struct freq_retired events = { none, 0 };
	uint64_t state = unit_seed();
	struct freq *with, *without;
	struct procedure q;

	make_procedure(&q, &state, 1e6, true);
	ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &without), 0);
	q.in.retired = &events;
	ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &with), 0);
	ck_assert(!with->retired);
	for (int b = 0; b < q.cfg->nr_blocks; b++)
		ck_assert_double_eq(with->block[b], without->block[b]);
	arena_fini(&q.arena);
}
END_TEST

START_TEST(without_samples_nothing_is_claimed)
{
	uint64_t state = unit_seed();
	struct procedure q;
	struct freq *f;

	make_procedure(&q, &state, 1e6, false);
	memset(q.samples, 0, sizeof(q.samples));
	q.in.outcomes = NULL;
	ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &f), 0);
	ck_assert_int_eq(f->scale, CONFIDENCE_LOW);
	for (int b = 0; b < q.cfg->nr_blocks; b++) {
		ck_assert_double_eq(f->block[b], 0);
		ck_assert_int_eq(f->shape[b], CONFIDENCE_LOW);
	}
	arena_fini(&q.arena);
}
END_TEST

START_TEST(the_scale_of_time_alone_is_low)
{
	uint64_t state = unit_seed();
	struct procedure q;
	struct freq *f;

	make_procedure(&q, &state, 1e6, false);
	ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &f), 0);
	ck_assert_int_eq(f->scale, CONFIDENCE_LOW);
	arena_fini(&q.arena);
}
END_TEST

static const struct {
	double samples, period;
} bad[] = {
	{ -1, 1 }, { NAN, 1 }, { INFINITY, 1 }, { 1, 0 },
	{ 1, -1 }, { 1, NAN }, { 1, INFINITY },
};

START_TEST(numbers_that_are_none_are_refused)
{
	uint64_t state = unit_seed();
	struct freq *f = NULL;
	struct procedure q;

	make_procedure(&q, &state, 1e6, false);
	q.samples[0] = bad[_i].samples;
	q.in.period_cycles = bad[_i].period;
	ck_assert_int_eq(freq_estimate(&q.in, &q.arena, NULL, &f), -EINVAL);
	ck_assert_ptr_null(f);
	arena_fini(&q.arena);
}
END_TEST

/* No code looks so, but a hostile image may: there are estimates all the same. */
START_TEST(a_tangle_gets_estimates_without_a_flow)
{
	const int nr = 12000;
	uint64_t state = 1;
	struct cfg_edge *edge;
	struct arena arena;
	struct cfg *cfg;
	double *ones;
	struct freq *f;
	int nr_edges = 0;

	arena_init(&arena, 0);
	edge = arena_array(&arena, 3 * nr, sizeof(*edge));
	ones = arena_array(&arena, nr, sizeof(*ones));
	cfg = arena_alloc(&arena, sizeof(*cfg));
	cfg->block = arena_array(&arena, nr, sizeof(*cfg->block));
	cfg->in = arena_array(&arena, 3 * nr, sizeof(*cfg->in));
	cfg->edge = edge;
	cfg->nr_blocks = nr;
	cfg->exit = cfg->nr_insns = nr - 1;
	for (int b = 0; b < nr; b++) {
		ones[b] = 1;
		cfg->block[b].first_insn = b;
		cfg->block[b].nr_insns = b < cfg->exit;
		cfg->block[b].first_out = nr_edges;
		cfg->block[b].nr_out = b < cfg->exit ? 3 : 0;
		for (int i = 0; i < cfg->block[b].nr_out; i++, nr_edges++) {
			int to = (int)(unit_random(&state) % nr);

			edge[nr_edges] = (struct cfg_edge){ b, to, EDGE_INDIRECT };
			cfg->block[to].nr_in++;
		}
	}
	cfg->nr_edges = nr_edges;
	for (int b = 1; b < nr; b++)
		cfg->block[b].first_in =
			cfg->block[b - 1].first_in + cfg->block[b - 1].nr_in;
	for (int b = 0; b < nr; b++)
		cfg->block[b].nr_in = 0;
	for (int e = 0; e < nr_edges; e++) {
		struct cfg_block *to = &cfg->block[edge[e].to];

		cfg->in[to->first_in + to->nr_in++] = e;
	}
	struct freq_input in = { .cfg = cfg, .samples = ones, .period_cycles = 1 };
	ck_assert_int_eq(freq_estimate(&in, &arena, NULL, &f), 0);
	ck_assert_double_gt(f->block[0], 0);
	arena_fini(&arena);
}
END_TEST

/* A scanner of many states, of which windows saw the first ones: 100 and 50 times. */
START_TEST(what_was_not_seen_draws_nothing_up)
{
	enum { STATES = 600, END = STATES, EXIT };
	struct cfg_edge edge[2 * STATES + 1];
	double samples[EXIT] = { 10, 5 };
	double passed[EXIT + 1] = { 100, 50 }, edges[2 * STATES + 1] = { 50, 50 };
	const double *error[EXIT + 1] = { NULL };
	const struct freq_windows windows = { .block = passed,
					      .edge = edges,
					      .worth = passed,
					      .error = error,
					      .one = 1 };
	struct count outcomes[EXIT] = { { 0 } };
	struct arena arena;
	struct cfg *cfg;
	struct freq *f;

	passed[END] = 50;
	outcomes[0].taken = outcomes[0].not_taken = 50;
	arena_init(&arena, 0);
	for (int b = 0; b < STATES; b++) {
		edge[2 * b] = (struct cfg_edge){ b, b + 1, EDGE_FALL };
		edge[2 * b + 1] = (struct cfg_edge){ b, END, EDGE_TAKEN };
	}
	edge[2 * STATES] = (struct cfg_edge){ END, EXIT, EDGE_RETURN };
	cfg = cfg_make(&arena, EXIT + 1, edge, 2 * STATES + 1);
	cfg->nr_insns = EXIT;
	for (int b = 0; b < EXIT; b++) {
		cfg->block[b].first_insn = b;
		cfg->block[b].nr_insns = 1;
	}
	struct freq_input in = { .cfg = cfg,
				 .samples = samples,
				 .outcomes = outcomes,
				 .windows = &windows,
				 .period_cycles = 1 };
	ck_assert_int_eq(freq_estimate(&in, &arena, NULL, &f), 0);
	ck_assert_double_gt(f->block[0], 30);
	ck_assert_double_lt(f->block[0], 300);
	ck_assert_double_gt(f->block[1], 0.3 * f->block[0]);
	ck_assert_double_lt(f->block[1], 0.8 * f->block[0]);
	ck_assert_double_lt(f->block[STATES - 1], 0.01 * f->block[0]);
	arena_fini(&arena);
}
END_TEST

/*
 * Windows say badly how often a loop runs that has most of the time: so the other
 * blocks, which they compare well with each other, are known badly beside it.
 */
START_TEST(confidence_is_that_beside_the_code_with_the_time)
{
	enum { ENTRY, LEFT, RIGHT, JOIN, LOOP, EXIT, BLOCKS };
	const struct cfg_edge edge[] = {
		{ ENTRY, LEFT, EDGE_FALL },  { ENTRY, RIGHT, EDGE_TAKEN },
		{ LEFT, JOIN, EDGE_TAKEN },  { RIGHT, JOIN, EDGE_FALL },
		{ JOIN, LOOP, EDGE_FALL },   { LOOP, LOOP, EDGE_TAKEN },
		{ LOOP, EXIT, EDGE_RETURN },
	};
	double samples[EXIT] = { 400, 200, 200, 400, 40000 };
	const double passed[BLOCKS] = { 400, 200, 200, 400, 4000, 400 };
	const double edges[NR(edge)] = { 200, 200, 200, 200, 400, 3600, 400 };
	double badly[WINDOW_WEIGHTS_DRAWS];
	const double *error[BLOCKS] = { [LOOP] = badly };
	const struct freq_windows windows = { .block = passed,
					      .edge = edges,
					      .worth = passed,
					      .error = error,
					      .one = 1 };
	struct count outcomes[EXIT] = { { 0 } };
	struct arena arena;
	struct cfg *cfg;
	struct freq *f;

	for (int i = 0; i < WINDOW_WEIGHTS_DRAWS; i++)
		badly[i] = i % 2 ? 0.4 : -0.4;
	arena_init(&arena, 0);
	cfg = cfg_make(&arena, BLOCKS, edge, NR(edge));
	cfg->nr_insns = EXIT;
	for (int b = 0; b < EXIT; b++) {
		cfg->block[b].first_insn = b;
		cfg->block[b].nr_insns = 1;
	}
	struct freq_input in = { .cfg = cfg,
				 .samples = samples,
				 .outcomes = outcomes,
				 .windows = &windows,
				 .period_cycles = 1 };
	ck_assert_int_eq(freq_estimate(&in, &arena, NULL, &f), 0);
	ck_assert_int_eq(f->shape[LOOP], CONFIDENCE_HIGH);
	ck_assert_int_lt(f->shape[ENTRY], CONFIDENCE_HIGH);
	arena_fini(&arena);
}
END_TEST

/* 40 loops in each other, each never seen to end: 10^13 rounds to the power of 40. */
START_TEST(numbers_without_bound_are_not_given)
{
	const int depth = 40, nr = 2 * depth + 1;
	struct count outcomes[2 * 40] = { { 0 } };
	struct cfg_edge edge[3 * 40];
	double ones[2 * 40];
	struct arena arena;
	struct freq *f;
	int nr_edges = 0;

	for (int b = 0; b < 2 * depth; b++) {
		ones[b] = 1;
		edge[nr_edges++] = (struct cfg_edge){ b, b + 1, EDGE_FALL };
		if (b < depth)
			continue;
		edge[nr_edges++] =
			(struct cfg_edge){ b, 2 * depth - 1 - b, EDGE_TAKEN };
		outcomes[b].taken = 1000000000;
	}
	arena_init(&arena, 0);
	struct freq_input in = { .cfg = cfg_make(&arena, nr, edge, nr_edges),
				 .samples = ones,
				 .outcomes = outcomes,
				 .period_cycles = 1 };
	ck_assert_int_eq(freq_estimate(&in, &arena, NULL, &f), 0);
	for (int b = 0; b < nr; b++)
		ck_assert(isfinite(f->block[b]) && f->block[b] >= 0);
	arena_fini(&arena);
}
END_TEST

START_TEST(each_pass_dumps_itself)
{
	static const char *const pass[] = { "equiv: ", "estimate: ", "propagate: ",
					    "branchprob: ", "repair: " };
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_FALL },
						{ 0, 2, EDGE_TAKEN },
						{ 1, 2, EDGE_RETURN } };
	static const double samples[] = { 5, 7 };
	struct freq_input in = { .samples = samples, .period_cycles = 1 };
	struct buf debug = { 0 };
	struct arena arena;
	struct freq *f;

	arena_init(&arena, 0);
	in.cfg = cfg_make(&arena, 3, edge, NR(edge));
	ck_assert_int_eq(freq_estimate(&in, &arena, &debug, &f), 0);
	for (size_t i = 0; i < NR(pass); i++)
		ck_assert_ptr_nonnull(strstr(buf_str(&debug), pass[i]));
	buf_fini(&debug);
	arena_fini(&arena);
}
END_TEST

START_TEST(a_full_arena_is_no_crash_wherever_it_fills)
{
	uint64_t state = unit_seed();
	struct procedure q;
	struct freq *f;
	int fits = 0;

	make_procedure(&q, &state, 1e6, true);
	for (size_t limit = 256; limit < 1 << 20; limit += 1 + limit / 8) {
		struct arena small;
		int err;

		arena_init(&small, limit);
		err = freq_estimate(&q.in, &small, NULL, &f);
		ck_assert(err == 0 || err == -ENOMEM);
		fits += !err;
		arena_fini(&small);
	}
	ck_assert_int_gt(fits, 0);
	arena_fini(&q.arena);
}
END_TEST

static Suite *freq_suite(void)
{
	Suite *s = suite_create("freq");
	TCase *t = tcase_create("freq");

	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, high_confidence_is_kept, 0, 2);
	tcase_add_test(t, many_samples_give_the_shape);
	tcase_add_test(t, instructions_tell_the_executions_where_time_stalls);
	tcase_add_test(t, no_instructions_sampled_leave_it_to_time);
	tcase_add_test(t, without_samples_nothing_is_claimed);
	tcase_add_test(t, the_scale_of_time_alone_is_low);
	tcase_add_loop_test(t, numbers_that_are_none_are_refused, 0, (int)NR(bad));
	tcase_add_test(t, a_tangle_gets_estimates_without_a_flow);
	tcase_add_test(t, what_was_not_seen_draws_nothing_up);
	tcase_add_test(t, confidence_is_that_beside_the_code_with_the_time);
	tcase_add_test(t, numbers_without_bound_are_not_given);
	tcase_add_test(t, each_pass_dumps_itself);
	tcase_add_test(t, a_full_arena_is_no_crash_wherever_it_fills);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(freq_suite)
