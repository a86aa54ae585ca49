/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bias.c: classes are what the definition says of sums over their instructions, which
 * are added up here one by one, and planted biases are found.
 */
#include "config.h"

#include "analysis/bias.h"

#include <math.h>
#include <string.h>

#include "t/unit/flow_make.h"

#define GRAPHS    3000
#define STALLS    3
#define INSNS     3 /* in each block */
#define MAX_INSNS (FLOW_MAX * INSNS)

struct problem {
	struct arena arena;
	struct equiv eq;
	double samples[MAX_INSNS], retired[MAX_INSNS], count[STALLS][MAX_INSNS];
	struct freq_stall stall[STALLS];
	struct freq_events events;
	struct freq_input in;
};

/* Whole numbers of samples, of periods that differ; some graphs count no memory. */
static void make_problem(struct problem *q, uint64_t *state)
{
	const uint64_t retired = 2 + unit_random(state) % 80;
	const uint64_t happened = 1 + unit_random(state) % 20;
	struct cfg *cfg;

	memset(q, 0, sizeof(*q));
	arena_init(&q->arena, 0);
	cfg = cfg_make_random(&q->arena, state, 10, true);
	cfg->nr_insns = cfg->exit * INSNS;
	for (int b = 0; b < cfg->exit; b++) {
		cfg->block[b].first_insn = b * INSNS;
		cfg->block[b].nr_insns = INSNS;
	}
	q->events = (struct freq_events){ .retired = q->retired,
					  .period = 10,
					  .stall = q->stall,
					  .nr_stalls = STALLS };
	for (int k = 0; k < STALLS; k++)
		q->stall[k] = (struct freq_stall){
			.events = q->count[k],
			.period = 1 + (double)(unit_random(state) % 4),
			.cycles = 10 + 20 * k,
			.weight = k ? flow_make_uniform(state) : 1,
			.memory = k == 2 && unit_random(state) % 2
		};
	for (int i = 0; i < cfg->nr_insns; i++) {
		q->samples[i] = (double)(unit_random(state) % 100);
		q->retired[i] = 10 * (double)(unit_random(state) % retired);
		for (int k = 0; k < STALLS; k++)
			q->count[k][i] = q->stall[k].period *
					 (double)(unit_random(state) % happened);
	}
	q->in = (struct freq_input){ .cfg = cfg,
				     .samples = q->samples,
				     .period_cycles = 10,
				     .events = &q->events };
	ck_assert_int_eq(equiv_build(cfg, &q->arena, &q->eq), 0);
}

/* Samples of the class times what each stands for, to a power: the sum, its variance.
 */
static double sum(const struct problem *q, int class, const double *amount,
		  double period, double each, int power)
{
	double found = 0;

	for (int b = 0; b < q->in.cfg->exit; b++)
		for (int i = b * INSNS; i < (b + 1) * INSNS; i++)
			if (q->eq.block[b] == class)
				found += amount[i] / period * pow(period * each, power);
	return found;
}

static enum freq_bias expected(const struct problem *q, int class)
{
	const double c = sum(q, class, q->samples, 1, 10, 1);
	const double c2 = sum(q, class, q->samples, 1, 10, 2);
	const double r = sum(q, class, q->retired, 10, 1, 1);
	const double r2 = sum(q, class, q->retired, 10, 1, 2);
	double a = 0, a2 = 0, b = 0, b2 = 0;
	bool memory = false;

	for (int k = 0; k < STALLS; k++) {
		const struct freq_stall *s = &q->stall[k];
		const double each = s->cycles * s->weight;

		b += sum(q, class, q->count[k], s->period, s->cycles, 1);
		b2 += sum(q, class, q->count[k], s->period, s->cycles, 2);
		a += sum(q, class, q->count[k], s->period, each, 1);
		a2 += sum(q, class, q->count[k], s->period, each, 2);
		memory |= s->memory;
	}
	if (c <= 0)
		return FREQ_AS_SAMPLED;
	if (memory && c - r - b - 2 * r > 3 * sqrt(c2 + 9 * r2 + b2))
		return FREQ_UNDER_SAMPLED;
	if (a - (c - r) > 3 * sqrt(a2 + c2 + r2) &&
	    a - 0.7 * c > 3 * sqrt(a2 + 0.49 * c2))
		return FREQ_OVER_SAMPLED;
	return FREQ_AS_SAMPLED;
}

START_TEST(classes_are_those_of_the_definition)
{
	uint64_t state = unit_seed();
	int nr[3] = { 0 };

	for (int n = 0; n < GRAPHS; n++) {
		unsigned long long seed = state;
		struct problem q;
		struct bias *bias;

		make_problem(&q, &state);
		ck_assert_int_eq(bias_find(&q.in, &q.eq, &q.arena, &bias), 0);
		for (int b = 0; b < q.in.cfg->exit; b++) {
			const int c = q.eq.block[b];

			ck_assert_msg(bias[c].kind == expected(&q, c),
				      "SEED=%#llx class %d: %s", seed, c,
				      freq_bias_str(bias[c].kind));
			nr[bias[c].kind]++;
		}
		arena_fini(&q.arena);
	}
	for (int k = 0; k < 3; k++)
		ck_assert_int_gt(nr[k], GRAPHS / 100);
}
END_TEST

/* One block: cycles and instructions a thousand times, mispredictions, memory. */
static const struct {
	double cycles, retired, mispredicted, memory;
	bool counts_memory;
	enum freq_bias want;
} planted[] = {
	{ 10, 8, 0, 0, true, FREQ_AS_SAMPLED },
	{ 20, 8, 1.8, 0, true, FREQ_OVER_SAMPLED }, /* 15.8 of 20 cycles */
	{ 20, 8, 1.5, 0, true, FREQ_AS_SAMPLED },   /* 13.2: not enough of them */
	{ 40, 8, 0, 0, true, FREQ_UNDER_SAMPLED },  /* nothing explains 32 */
	{ 40, 8, 0, 0, false, FREQ_AS_SAMPLED },    /* ... but memory may */
	{ 40, 8, 0, 0.15, true, FREQ_AS_SAMPLED },  /* ... and does */
	{ 40, 14, 0, 0, true, FREQ_AS_SAMPLED },    /* less than twice beyond */
	{ 0, 8, 1, 0, true, FREQ_AS_SAMPLED },      /* nobody measured time */
};

START_TEST(planted_biases_are_found)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_RETURN } };
	const struct bias_event *branch = bias_event("branch-misses");
	const struct bias_event *memory = bias_event("cache-misses");
	const double samples = 1000 * planted[_i].cycles / 10;
	const double retired = 1000 * planted[_i].retired;
	const double misses = 1000 * planted[_i].mispredicted;
	const double far = 1000 * planted[_i].memory;
	const struct freq_stall stall[] = {
		{ &misses, 1, branch->cycles, branch->weight, branch->memory },
		{ &far, 1, memory->cycles, memory->weight, memory->memory },
	};
	const struct freq_events events = { &retired, 10, stall,
					    1 + planted[_i].counts_memory };
	struct freq_input in = { .samples = &samples,
				 .period_cycles = 10,
				 .events = &events };
	struct arena arena;
	struct bias *bias;
	struct equiv eq;

	arena_init(&arena, 0);
	in.cfg = cfg_make(&arena, 2, edge, 1);
	ck_assert_int_eq(equiv_build(in.cfg, &arena, &eq), 0);
	ck_assert_int_eq(bias_find(&in, &eq, &arena, &bias), 0);
	ck_assert_int_eq(bias[eq.block[0]].kind, planted[_i].want);
	arena_fini(&arena);
}
END_TEST

START_TEST(few_samples_decide_nothing)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_RETURN } };
	static const double samples = 4, retired = 800, misses = 100;
	static const struct freq_stall stall = { &misses, 100, 16, 1, false };
	static const struct freq_events events = { &retired, 400, &stall, 1 };
	struct freq_input in = { .samples = &samples,
				 .period_cycles = 500,
				 .events = &events };
	struct arena arena;
	struct bias *bias;
	struct equiv eq;

	arena_init(&arena, 0);
	in.cfg = cfg_make(&arena, 2, edge, 1);
	ck_assert_int_eq(equiv_build(in.cfg, &arena, &eq), 0);
	ck_assert_int_eq(bias_find(&in, &eq, &arena, &bias), 0);
	ck_assert_int_eq(bias[eq.block[0]].kind, FREQ_AS_SAMPLED);
	arena_fini(&arena);
}
END_TEST

START_TEST(events_are_known_by_their_whole_name)
{
	ck_assert_ptr_nonnull(bias_event("branch-misses"));
	ck_assert_ptr_nonnull(bias_event("dTLB-load-misses"));
	ck_assert_ptr_null(bias_event("branch-misses:u"));
	ck_assert_ptr_null(bias_event("instructions"));
	ck_assert_ptr_null(bias_event(""));
}
END_TEST

static Suite *bias_suite(void)
{
	Suite *s = suite_create("bias");
	TCase *t = tcase_create("bias");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, classes_are_those_of_the_definition);
	tcase_add_loop_test(t, planted_biases_are_found, 0,
			    sizeof(planted) / sizeof(planted[0]));
	tcase_add_test(t, few_samples_decide_nothing);
	tcase_add_test(t, events_are_known_by_their_whole_name);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(bias_suite)
