/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale.c: on procedures whose executions are known, the intervals must hold them as
 * often as they say; and against the product of densities where there is a formula.
 */
#include "config.h"

#include "analysis/freq/scale.h"

#include <math.h>
#include <string.h>

#include "t/unit/flow_make.h"

#define PROCEDURES 600
#define PERIOD     1e6
#define NARROW     1.645 /* deviations to the end of a 90 % interval */

struct made {
	struct arena arena;
	struct cfg *cfg;
	double block[FLOW_MAX]; /* executions: the truth */
	double said[FLOW_MAX];  /* the same shape, of another scale */
	double sd[FLOW_MAX];
	double samples[FLOW_MAX]; /* an instruction each */
	double issue[FLOW_MAX], best[FLOW_MAX], usual[FLOW_MAX], worst[FLOW_MAX];
	bool calls[FLOW_MAX];
	struct scale_costs costs;
	struct scale_evidence evidence[FLOW_MAX];
	struct scale_input in;
	struct scale *scale;
};

static double normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += flow_make_uniform(state);
	return sum;
}

/*
 * Blocks of one instruction, executed by a random flow. Two programs of five have
 * nothing to wait for; the others take up to most times as long.
 */
static void make(struct made *m, uint64_t *state, double most)
{
	const double wrong = exp(2 * normal(state));
	const double slow = flow_make_uniform(state) < 0.4
				    ? exp(0.1 * normal(state))
				    : exp(log(most) * flow_make_uniform(state));
	double p[64], edge[64], source[FLOW_MAX] = { 1e9 };

	memset(m, 0, sizeof(*m));
	arena_init(&m->arena, 0);
	m->cfg = cfg_make_random(&m->arena, state, 10, true);
	flow_make_probabilities(m->cfg, state, p);
	flow_make(m->cfg, p, source, m->block, edge);
	m->cfg->nr_insns = m->cfg->exit;
	m->cfg->nr_parts = 1;
	m->cfg->part[1] = m->cfg->exit;
	for (int b = 0; b < m->cfg->exit; b++) {
		double cycles;

		m->cfg->block[b].first_insn = b;
		m->cfg->block[b].nr_insns = 1;
		m->cfg->block[b].start = 16 * (uint64_t)b;
		m->cfg->block[b].end = 16 * (uint64_t)b + 16;
		m->issue[b] = 0.125;
		m->usual[b] = 1 + 4 * flow_make_uniform(state);
		m->best[b] = 0.75 * m->usual[b];
		m->worst[b] = m->usual[b] * most;
		cycles = m->block[b] * m->usual[b] * slow * exp(0.1 * normal(state));
		m->samples[b] = cycles / PERIOD;
		m->samples[b] += sqrt(m->samples[b]) * normal(state);
		m->samples[b] = fmax(round(m->samples[b]), 0);
		m->said[b] = m->block[b] * wrong;
	}
	m->costs =
		(struct scale_costs){ m->issue, m->best, m->usual, m->worst, m->calls };
	m->in = (struct scale_input){ .cfg = m->cfg,
				      .block = m->said,
				      .block_sd = m->sd,
				      .samples = m->samples,
				      .period_cycles = PERIOD,
				      .costs = &m->costs,
				      .evidence = m->evidence };
}

/* Measures a block's executions, off by a deviation that the interval states. */
static void measure(struct made *m, uint64_t *state, int b, double sd)
{
	const double n = m->block[b] * exp(sd * normal(state));

	m->evidence[m->in.nr_evidence++] = (struct scale_evidence){
		.offset = m->cfg->block[b].start,
		.kind = SCALE_EXECUTIONS,
		.low = n * exp(-NARROW * sd),
		.likely = n,
		.high = n * exp(NARROW * sd),
		.source = "test",
	};
}

static int busiest(const struct made *m)
{
	int most = 0;

	for (int b = 1; b < m->cfg->exit; b++)
		if (m->samples[b] > m->samples[most])
			most = b;
	return most;
}

static struct freq_interval solve(struct made *m, int b)
{
	ck_assert_int_eq(scale_find(&m->in, &m->arena, &m->scale), 0);
	return m->scale->block[b];
}

/* Whether the factor that is right is in an interval. */
static bool holds(const struct made *m, int b, const struct freq_interval *f)
{
	const double right = m->block[b] / m->said[b];

	return f->low <= right && right <= f->high;
}

/*
 * Measured over four seeds, 600 procedures each: 0.80 to 0.84 of the first programs,
 * 0.89 to 0.93 of the next two, 0.95 to 0.97 of those with a measurement off by 0.1,
 * and 0.89 to 0.92 of the last two. The first ones are below 0.9 as four in ten of them
 * are made to run at their usual speed, half of these faster, which the model holds for
 * unlikely. Those with a good measurement are above, as the joint estimate adds an
 * error of 0.06 to each interval.
 */
static const struct {
	double most; /* the worst case over the usual one */
	double sd;   /* of a measurement; 0: none */
	double low, high;
} programs[] = {
	{ 1.5, 0, 0.8, 0.9 },    /* nothing to wait for */
	{ 30, 0, 0.85, 0.97 },   /* something from the next caches */
	{ 1000, 0, 0.85, 0.97 }, /* memory */
	{ 1000, 0.1, 0.9, 0.99 }, { 1000, 0.5, 0.85, 0.95 }, { 30, 0.3, 0.85, 0.95 },
};

START_TEST(nine_in_ten_intervals_hold_the_truth)
{
	uint64_t state = (uint64_t)(22 + _i) * 0x9e3779b97f4a7c15u;
	double held = 0, all = 0;

	for (int i = 0; i < PROCEDURES; i++) {
		struct made m;
		struct freq_interval f;
		int b;

		make(&m, &state, programs[_i].most);
		b = busiest(&m);
		if (programs[_i].sd > 0)
			measure(&m, &state, b, programs[_i].sd);
		f = solve(&m, b);
		if (m.samples[b] >= 50) {
			held += holds(&m, b, &f);
			all++;
		}
		arena_fini(&m.arena);
	}
	ck_assert_double_gt(all, PROCEDURES / 2.0);
	ck_assert_msg(held / all >= programs[_i].low && held / all <= programs[_i].high,
		      "%g of %g", held, all);
}
END_TEST

/* Without costs: normal densities, whose product is known. */
START_TEST(evidence_is_joined_by_likelihood)
{
	uint64_t state = (uint64_t)(7) * 0x9e3779b97f4a7c15u;
	struct made m;
	struct freq_interval f;
	double mean, sd;

	make(&m, &state, 1);
	m.in.costs = NULL;
	for (int b = 0; b < m.cfg->exit; b++)
		m.said[b] = 1000;
	m.evidence[0] = (struct scale_evidence){ m.cfg->block[0].start,
						 SCALE_EXECUTIONS,
						 1000 * exp(-NARROW * 0.2),
						 1000 * exp(NARROW * 0.2),
						 1000,
						 "a" };
	m.evidence[1] = (struct scale_evidence){ m.cfg->block[0].start,
						 SCALE_EXECUTIONS,
						 1500 * exp(-NARROW * 0.4),
						 1500 * exp(NARROW * 0.4),
						 1500,
						 "b" };
	m.in.nr_evidence = 2;
	f = solve(&m, 0);
	/* Each end is known up to 0.06, too. */
	mean = (log(1.5) / (0.16 + 0.0036)) /
	       (1 / (0.04 + 0.0036) + 1 / (0.16 + 0.0036));
	sd = 1 / sqrt(1 / (0.04 + 0.0036) + 1 / (0.16 + 0.0036));
	ck_assert_double_eq_tol(log(f.likely), mean, 0.02);
	ck_assert_double_eq_tol(log(f.high / f.low), 2 * NARROW * sd, 0.04);
	arena_fini(&m.arena);
}
END_TEST

START_TEST(what_is_faster_than_the_best_case_is_not_believed)
{
	uint64_t state = (uint64_t)(9) * 0x9e3779b97f4a7c15u;

	for (int i = 0; i < 100; i++) {
		struct made m;
		struct freq_interval f;
		double time, best;
		int b;

		make(&m, &state, 1000);
		b = busiest(&m);
		/* Evidence that cannot be: a hundred times too many executions. */
		measure(&m, &state, b, 0.05);
		m.evidence[0].low *= 100;
		m.evidence[0].likely *= 100;
		m.evidence[0].high *= 100;
		f = solve(&m, b);
		time = best = 0;
		for (int k = 0; k < m.cfg->exit; k++) {
			time += m.samples[k] * PERIOD;
			best += m.said[k] * f.likely * m.issue[k];
		}
		ck_assert_double_le(best, 1.2 * time);
		arena_fini(&m.arena);
	}
}
END_TEST

START_TEST(without_evidence_nothing_is_known)
{
	uint64_t state = (uint64_t)(3) * 0x9e3779b97f4a7c15u;
	struct made m;
	struct freq_interval f;

	make(&m, &state, 10);
	m.in.costs = NULL;
	m.evidence[0] = (struct scale_evidence){
		m.cfg->block[0].start, SCALE_EXECUTIONS, 3, 2, 1, "no"
	};
	m.evidence[1] = (struct scale_evidence){ UINT64_MAX, SCALE_EXECUTIONS, 1, 3,
						 2,          "elsewhere" };
	m.evidence[2] = (struct scale_evidence){
		m.cfg->block[0].start, SCALE_CYCLES, 0, INFINITY, 0, "nothing"
	};
	m.evidence[3] = (struct scale_evidence){
		m.cfg->block[0].start, SCALE_CYCLES, NAN, NAN, NAN, "no numbers"
	};
	m.in.nr_evidence = 4;
	f = solve(&m, 0);
	ck_assert(!m.scale->evident);
	ck_assert_double_eq(f.low, 0);
	ck_assert_double_eq(f.likely, 1);
	ck_assert(isinf(f.high));
	ck_assert(!freq_interval_known(&f));
	arena_fini(&m.arena);
}
END_TEST

START_TEST(a_bound_bounds_on_one_side)
{
	uint64_t state = (uint64_t)(4) * 0x9e3779b97f4a7c15u;
	struct made m;
	struct freq_interval f;

	make(&m, &state, 10);
	m.in.costs = NULL;
	m.said[0] = 100;
	m.evidence[0] = (struct scale_evidence){
		m.cfg->block[0].start, SCALE_EXECUTIONS, 0, 1000, 0, "at most"
	};
	m.in.nr_evidence = 1;
	f = solve(&m, 0);
	ck_assert_double_eq(f.low, 0);
	ck_assert_double_le(f.high, 12);
	arena_fini(&m.arena);
}
END_TEST

START_TEST(a_prior_ties_the_procedure_to_others)
{
	uint64_t state = (uint64_t)(5) * 0x9e3779b97f4a7c15u;
	double prior[SCALE_POINTS];
	struct made m;
	struct freq_interval f;

	make(&m, &state, 10);
	m.in.costs = NULL;
	for (int i = 0; i < SCALE_POINTS; i++) {
		const double z = (SCALE_FROM + SCALE_STEP * i - log(0.01)) / 0.3;

		prior[i] = -z * z / 2;
	}
	m.in.prior = prior;
	f = solve(&m, m.cfg->exit);
	ck_assert(f.low <= 0.01 && f.high >= 0.01 && f.high < 1);
	arena_fini(&m.arena);
}
END_TEST

static Suite *scale_suite(void)
{
	Suite *s = suite_create("scale");
	TCase *t = tcase_create("scale");

	tcase_set_timeout(t, 0);
	tcase_add_loop_test(t, nine_in_ten_intervals_hold_the_truth, 0,
			    sizeof(programs) / sizeof(programs[0]));
	tcase_add_test(t, evidence_is_joined_by_likelihood);
	tcase_add_test(t, what_is_faster_than_the_best_case_is_not_believed);
	tcase_add_test(t, without_evidence_nothing_is_known);
	tcase_add_test(t, a_bound_bounds_on_one_side);
	tcase_add_test(t, a_prior_ties_the_procedure_to_others);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(scale_suite)
