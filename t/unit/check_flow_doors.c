/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_repair.c of procedures with several doors: no change of one branch or door costs
 * less than its flow, it needs few rounds for it, and each deviation is that of the
 * same draws in a full matrix. Flows here are computed by elimination.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "analysis/freq/flow_repair.h"
#include "analysis/windows/window_weights.h"
#include "t/unit/flow_make.h"

#define GRAPHS       200
#define MAX_BLOCKS   8
#define MAX_EDGES    16
#define MAX_UNKNOWNS (MAX_EDGES + FLOW_MAX)

/* Other constants of flow_repair.c. */
#define SCALES 100
#define WAYS   0.2

struct problem {
	struct arena arena;
	struct cfg *cfg;
	struct flow flow;
	double p[MAX_EDGES], outcomes[FLOW_MAX], seen[FLOW_MAX], sd[FLOW_MAX];
	double mass[FLOW_MAX], unseen[FLOW_MAX];
	double draw[FLOW_MAX][WINDOW_WEIGHTS_DRAWS];
	const double *error[FLOW_MAX];
	struct flow_repair_input in;
};

/* What the repair found, or a flow beside it. */
struct state {
	double p[MAX_EDGES], source[FLOW_MAX], block[FLOW_MAX], edge[MAX_EDGES];
};

static void see_block(struct problem *q, int b, double flow, uint64_t *seed)
{
	q->outcomes[b] =
		unit_random(seed) % 4 ? 1 + 100 * flow_make_uniform(seed) : INFINITY;
	q->sd[b] = 0.1 + 2 * flow_make_uniform(seed);
	q->mass[b] = flow_make_uniform(seed);
	if (unit_random(seed) % 2)
		q->seen[b] = flow * exp(4 * flow_make_uniform(seed) - 2);
	else if (unit_random(seed) % 2)
		q->unseen[b] = flow_make_uniform(seed) / 100;
	if (unit_random(seed) % 2)
		return;
	for (int i = 0; i < WINDOW_WEIGHTS_DRAWS; i++)
		q->draw[b][i] = flow_make_uniform(seed) - 0.5;
	q->error[b] = q->draw[b];
}

/* with_errors: blocks share errors, as those of windows do. */
static void make_problem(struct problem *q, bool with_errors, uint64_t *seed)
{
	double source[FLOW_MAX] = { 0 }, block[FLOW_MAX], edge[MAX_EDGES];

	memset(q, 0, sizeof(*q));
	arena_init(&q->arena, 0);
	q->cfg = cfg_make_random(&q->arena, seed, MAX_BLOCKS, true);
	flow_make_probabilities(q->cfg, seed, q->p);
	for (int b = 0; b < q->cfg->exit; b++) {
		q->cfg->block[b].landing_pad = b && unit_random(seed) % 3 == 0;
		if (!b || q->cfg->block[b].landing_pad)
			source[b] = exp(6 * flow_make_uniform(seed));
	}
	flow_make(q->cfg, q->p, source, block, edge);
	for (int b = 0; b < q->cfg->exit; b++)
		see_block(q, b, block[b], seed);
	q->in = (struct flow_repair_input){ &q->flow, q->p,    q->outcomes, q->seen,
					    q->sd,    q->mass, NULL,        q->unseen };
	if (with_errors)
		q->in.error = q->error;
	ck_assert_int_eq(flow_build(q->cfg, &q->arena, &q->flow), 0);
}

/* Sources are what flows out of a block and not into it. */
static void state_init(struct state *s, const struct problem *q,
		       const struct flow_repair *r)
{
	memset(s, 0, sizeof(*s));
	for (int b = 0; b < q->cfg->exit; b++)
		s->source[b] = q->flow.door[b] ? r->block[b] : 0;
	for (int e = 0; e < q->cfg->nr_edges; e++) {
		const struct cfg_edge *edge = &q->cfg->edge[e];

		s->p[e] = r->edge[e] / r->block[edge->from];
		if (q->flow.door[edge->to])
			s->source[edge->to] -= r->edge[e];
	}
	flow_make(q->cfg, s->p, s->source, s->block, s->edge);
}

static double cost_of_block(const struct problem *q, int b, double flow)
{
	double cost = 2 * SHAPE * log1p(flow * q->unseen[b] / SHAPE), z;

	if (!q->seen[b])
		return cost;
	z = log(q->seen[b] / flow) / q->sd[b] / HEAVY;
	return cost + HEAVY * HEAVY * log1p(z * z);
}

static double cost_of(const struct problem *q, const double *source0, struct state *s)
{
	double cost = 0;

	flow_make(q->cfg, s->p, s->source, s->block, s->edge);
	for (int e = 0; e < q->cfg->nr_edges; e++) {
		const double n = q->outcomes[q->cfg->edge[e].from];

		if (isfinite(n))
			cost += 2 * n * q->p[e] * log(q->p[e] / s->p[e]);
	}
	for (int b = 0; b < q->cfg->exit; b++) {
		if (q->flow.door[b])
			cost += pow(log(s->source[b] / source0[b]) / DOOR_SD, 2);
		cost += cost_of_block(q, b, s->block[b]);
	}
	return cost;
}

/* The sources before anything is fitted, by their definition in flow_repair.c. */
static void first_sources(const struct problem *q, double *source)
{
	double block[FLOW_MAX], edge[MAX_EDGES], known = INFINITY, best = 1;
	double low = 0, high = -INFINITY, least = INFINITY;

	for (int b = 0; b < q->cfg->exit; b++)
		known = q->seen[b] > 0 ? fmin(known, q->seen[b]) : known;
	for (int b = 0; b < q->cfg->exit; b++)
		if (q->flow.door[b])
			source[b] = q->seen[b] > 0    ? q->seen[b]
				    : isfinite(known) ? known
						      : 1;
	flow_make(q->cfg, q->p, source, block, edge);
	for (int b = 0; b < q->cfg->exit; b++) {
		if (q->seen[b] > 0) {
			low = fmin(low, log(q->seen[b] / block[b]));
			high = fmax(high, log(q->seen[b] / block[b]));
		}
	}
	for (int i = 0; i <= SCALES && low <= high; i++) {
		const double by = exp(low + (high - low) * i / SCALES);
		double cost = 0;

		for (int b = 0; b < q->cfg->exit; b++)
			cost += cost_of_block(q, b, by * block[b]);
		if (cost < least) {
			least = cost;
			best = by;
		}
	}
	for (int b = 0; b < q->cfg->exit; b++)
		source[b] *= best;
}

/* Changes unknown k: the way out of block k, or the door k - FLOW_MAX. False: none. */
static bool change(const struct problem *q, int k, double by, struct state *s)
{
	const struct cfg_block *block = &q->cfg->block[k % FLOW_MAX];
	const int e = block->first_out;

	if (k >= FLOW_MAX) {
		s->source[k - FLOW_MAX] *= exp(by * DOOR_SD);
		return q->flow.door[k - FLOW_MAX];
	}
	if (block->nr_out != 2 || isinf(q->outcomes[k]))
		return false;
	by /= sqrt(q->outcomes[k] * s->p[e] * s->p[e + 1]);
	s->p[e] = s->p[e] * exp(by) / (s->p[e] * exp(by) + s->p[e + 1]);
	s->p[e + 1] = 1 - s->p[e];
	return true;
}

/* By how much less a flow would cost in which one unknown differs. */
static double excess_of(const struct problem *q, const struct flow_repair *r)
{
	static const double step[] = { -1, -0.3, -0.1, 0.1, 0.3, 1 };
	double source0[FLOW_MAX] = { 0 }, excess = 0, found;
	struct state s, other;

	first_sources(q, source0);
	state_init(&s, q, r);
	found = cost_of(q, source0, &s);
	for (int k = 0; k < FLOW_MAX + q->cfg->exit; k++) {
		if (k % FLOW_MAX >= q->cfg->exit)
			continue;
		for (size_t i = 0; i < NR(step); i++) {
			other = s;
			if (change(q, k, step[i], &other))
				excess = fmax(excess,
					      found - cost_of(q, source0, &other));
		}
	}
	return excess / (1 + found);
}

START_TEST(no_change_of_a_branch_or_door_costs_less)
{
	uint64_t seed = unit_seed();
	double sum = 0;
	int rounds = 0;

	for (int n = 0; n < GRAPHS; n++) {
		const unsigned long long from = seed;
		struct flow_repair r;
		struct problem q;
		double excess;

		make_problem(&q, false, &seed);
		ck_assert_int_eq(flow_repair_solve(&q.in, &q.arena, &r), 0);
		excess = excess_of(&q, &r);
		ck_assert_msg(excess < 0.05, "SEED=%#llx: %g", from, excess);
		sum += excess;
		rounds += r.rounds;
		arena_fini(&q.arena);
	}
	if (getenv("SHOW"))
		printf("# excess %g rounds %g\n", sum / GRAPHS, rounds * 1.0 / GRAPHS);
	ck_assert_double_lt(sum / GRAPHS, 1e-3);
	ck_assert_int_lt(rounds, 3 * GRAPHS);
}
END_TEST

/* The matrix of flow_repair.c: unknowns are edges, then blocks as doors. */
struct matrix {
	int nr;
	double way[MAX_EDGES][MAX_UNKNOWNS];  /* of log p, by unknown */
	double block[FLOW_MAX][MAX_UNKNOWNS]; /* of the flow, by unknown */
	double weight[FLOW_MAX];
	double a[MAX_UNKNOWNS][MAX_UNKNOWNS];
};

/* By how much an unknown changes the probabilities and the flow. */
static void add_column(const struct problem *q, const struct state *s, int i,
		       struct matrix *m)
{
	double source[FLOW_MAX] = { 0 }, block[FLOW_MAX], edge[MAX_EDGES];

	if (i >= q->cfg->nr_edges) {
		source[i - q->cfg->nr_edges] =
			s->source[i - q->cfg->nr_edges] * DOOR_SD;
	} else {
		const int from = q->cfg->edge[i].from;
		const struct cfg_block *b = &q->cfg->block[from];

		for (int e = b->first_out; e < b->first_out + b->nr_out; e++) {
			const double p = s->p[e], root = sqrt(p * s->p[i]);

			if (b->nr_out > 1)
				m->way[e][i] =
					((e == i) - root) / sqrt(p * q->outcomes[from]);
			source[q->cfg->edge[e].to] += s->edge[e] * m->way[e][i];
		}
	}
	flow_make(q->cfg, s->p, source, block, edge);
	for (int b = 0; b < q->cfg->exit; b++)
		m->block[b][i] = block[b];
}

static void matrix_init(struct matrix *m, const struct problem *q,
			const struct state *s)
{
	memset(m, 0, sizeof(*m));
	m->nr = q->cfg->nr_edges + q->cfg->nr_blocks;
	for (int i = 0; i < m->nr; i++) {
		add_column(q, s, i, m);
		m->a[i][i] = 1;
	}
	for (int b = 0; b < q->cfg->exit; b++) {
		const double f = s->block[b], missing = f * q->unseen[b];
		const double z =
			q->seen[b] > 0 ? log(q->seen[b] / f) / q->sd[b] / HEAVY : 0;

		if (q->seen[b] > 0)
			m->weight[b] = 1 / (1 + z * z) / pow(q->sd[b] * f, 2);
		m->weight[b] += missing / (1 + missing / SHAPE) / (f * f);
		for (int i = 0; i < m->nr; i++)
			for (int k = 0; k < m->nr; k++)
				m->a[i][k] +=
					m->weight[b] * m->block[b][i] * m->block[b][k];
	}
}

/* The sum of 12 uniform numbers of xorshift64* (Vigna 2016). */
static double normal(uint64_t *x)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*x ^= *x >> 12;
		*x ^= *x << 25;
		*x ^= *x >> 27;
		sum += (double)((*x * 0x2545f4914f6cdd1dULL) >> 11) * 0x1p-53;
	}
	return sum;
}

/* By Gauss, without pivots: the matrix is positive definite. */
static void solve(const struct matrix *m, double *x)
{
	static double a[MAX_UNKNOWNS][MAX_UNKNOWNS];

	memcpy(a, m->a, sizeof(a));
	for (int k = 0; k < m->nr; k++)
		for (int i = k + 1; i < m->nr; i++) {
			const double by = a[i][k] / a[k][k];

			for (int j = k; j < m->nr; j++)
				a[i][j] -= by * a[k][j];
			x[i] -= by * x[k];
		}
	for (int k = m->nr - 1; k >= 0; k--) {
		for (int j = k + 1; j < m->nr; j++)
			x[k] -= a[k][j] * x[j];
		x[k] /= a[k][k];
	}
}

static void draw(const struct problem *q, const struct state *s, const struct matrix *m,
		 int number, uint64_t *x, double *u)
{
	double v[FLOW_MAX];

	for (int b = 0; b < q->cfg->nr_blocks; b++) {
		v[b] = normal(x) * sqrt(m->weight[b]);
		if (q->in.error && q->error[b])
			v[b] += m->weight[b] * s->block[b] * q->draw[b][number];
	}
	for (int i = 0; i < m->nr; i++) {
		const double n = i < q->cfg->nr_edges
					 ? q->outcomes[q->cfg->edge[i].from]
					 : INFINITY;

		u[i] = normal(x);
		if (q->in.error && isfinite(n))
			u[i] *= sqrt(1 + n * WAYS * WAYS);
		for (int b = 0; b < q->cfg->exit; b++)
			u[i] += m->block[b][i] * v[b];
	}
	solve(m, u);
}

/* Mean squares of relative changes, without the common one. */
static void expect_squares(const struct problem *q, const struct state *s,
			   double *block, double *edge)
{
	static struct matrix m;
	uint64_t x = 0x9e3779b97f4a7c15ULL;
	double u[MAX_UNKNOWNS];

	matrix_init(&m, q, s);
	for (int n = 0; n < WINDOW_WEIGHTS_DRAWS; n++) {
		double change[FLOW_MAX] = { 0 }, common = 0, mass = 0;

		draw(q, s, &m, n, &x, u);
		for (int b = 0; b < q->cfg->exit; b++) {
			for (int i = 0; i < m.nr; i++)
				change[b] += m.block[b][i] * u[i] / s->block[b];
			common += q->mass[b] * change[b];
			mass += q->mass[b];
		}
		for (int b = 0; b < q->cfg->exit; b++) {
			change[b] -= common / mass;
			block[b] += change[b] * change[b] / WINDOW_WEIGHTS_DRAWS;
		}
		for (int e = 0; e < q->cfg->nr_edges; e++) {
			double both = change[q->cfg->edge[e].from];

			for (int i = 0; i < m.nr; i++)
				both += m.way[e][i] * u[i];
			edge[e] += both * both / WINDOW_WEIGHTS_DRAWS;
		}
	}
}

/* Conjugate gradients end with a residual of 1 %: single deviations may differ by more.
 */
START_TEST(deviations_are_those_of_the_same_draws)
{
	uint64_t seed = unit_seed();
	double sum = 0, worst = 0;
	int nr = 0;

	for (int n = 0; n < GRAPHS; n++) {
		double block[FLOW_MAX] = { 0 }, edge[MAX_EDGES] = { 0 };
		struct flow_repair r;
		struct problem q;
		struct state s;

		make_problem(&q, n % 2, &seed);
		ck_assert_int_eq(flow_repair_solve(&q.in, &q.arena, &r), 0);
		state_init(&s, &q, &r);
		expect_squares(&q, &s, block, edge);
		for (int b = 0; b < q.cfg->exit; b++, nr++) {
			const double off = fabs(r.block_sd[b] - sqrt(block[b])) /
					   (0.01 + sqrt(block[b]));

			sum += off;
			worst = fmax(worst, off);
		}
		for (int e = 0; e < q.cfg->nr_edges; e++, nr++) {
			const double off = fabs(r.edge_sd[e] - sqrt(edge[e])) /
					   (0.01 + sqrt(edge[e]));

			sum += off;
			worst = fmax(worst, off);
		}
		ck_assert_double_eq(r.block_sd[q.cfg->exit], 0);
		arena_fini(&q.arena);
	}
	if (getenv("SHOW"))
		printf("# off %g worst %g\n", sum / nr, worst);
	ck_assert_double_lt(sum / nr, 0.01);
	ck_assert_double_lt(worst, 0.4);
}
END_TEST

static Suite *doors_suite(void)
{
	Suite *s = suite_create("doors");
	TCase *t = tcase_create("doors");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, no_change_of_a_branch_or_door_costs_less);
	tcase_add_test(t, deviations_are_those_of_the_same_draws);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(doors_suite)
