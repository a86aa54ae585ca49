/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow_repair.c: with exact branch probabilities its flow is exact, and where things
 * disagree no flow near its own costs less. Flows here are computed by elimination
 * in a full matrix.
 */
#include "config.h"

#include "analysis/freq/flow_repair.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/windows/window_weights.h"
#include "t/unit/flow_make.h"

#define GRAPHS     1000
#define MAX_BLOCKS 10
#define MAX_EDGES  32

struct problem {
	struct arena arena;
	struct cfg *cfg;
	struct flow flow;
	double p[MAX_EDGES], outcomes[FLOW_MAX], seen[FLOW_MAX], sd[FLOW_MAX];
	double mass[FLOW_MAX], unseen[FLOW_MAX];
	double block[FLOW_MAX], edge[MAX_EDGES]; /* the true flow */
	struct flow_repair_input in;
};

/* A graph with a flow of 1000 runs or so; nothing is seen of it yet. */
static void make_problem(struct problem *q, uint64_t *state)
{
	double source[FLOW_MAX] = { 1 + 1000 * flow_make_uniform(state) };

	memset(q, 0, sizeof(*q));
	arena_init(&q->arena, 0);
	q->cfg = cfg_make_random(&q->arena, state, MAX_BLOCKS, true);
	flow_make_probabilities(q->cfg, state, q->p);
	flow_make(q->cfg, q->p, source, q->block, q->edge);
	for (int b = 0; b < FLOW_MAX; b++) {
		q->outcomes[b] = INFINITY;
		q->sd[b] = 0.5;
		q->mass[b] = 1;
	}
	/* What is given for the exit is not used. */
	q->seen[q->cfg->exit] = q->unseen[q->cfg->exit] = q->mass[q->cfg->exit] = 1e6;
	q->in = (struct flow_repair_input){
		&q->flow, q->p, q->outcomes, q->seen, q->sd, q->mass, NULL, q->unseen,
	};
	ck_assert_int_eq(flow_build(q->cfg, &q->arena, &q->flow), 0);
}

START_TEST(exact_probabilities_and_one_anchor_give_exact_counts)
{
	uint64_t state = unit_seed();

	for (int n = 0; n < GRAPHS; n++) {
		unsigned long long seed = state;
		struct problem q;
		struct flow_repair r;
		int anchor;

		make_problem(&q, &state);
		anchor = (int)(unit_random(&state) % q.cfg->exit);
		q.seen[anchor] = q.block[anchor];
		ck_assert_int_eq(flow_repair_solve(&q.in, &q.arena, &r), 0);
		for (int b = 0; b < q.cfg->nr_blocks; b++)
			ck_assert_msg(fabs(r.block[b] - q.block[b]) <=
					      1e-6 * q.block[b],
				      "SEED=%#llx block %d: %g not %g", seed, b,
				      r.block[b], q.block[b]);
		for (int e = 0; e < q.cfg->nr_edges; e++)
			ck_assert_msg(fabs(r.edge[e] - q.edge[e]) <= 1e-6 * q.edge[e],
				      "SEED=%#llx edge %d: %g not %g", seed, e,
				      r.edge[e], q.edge[e]);
		arena_fini(&q.arena);
	}
}
END_TEST

static double cost_of(const struct problem *q, const double *p, double source,
		      double source0)
{
	double in[FLOW_MAX] = { source }, block[FLOW_MAX], edge[MAX_EDGES], z;
	double cost = pow(log(source / source0) / DOOR_SD, 2);

	flow_make(q->cfg, p, in, block, edge);
	for (int e = 0; e < q->cfg->nr_edges; e++) {
		int from = q->cfg->edge[e].from;

		if (q->cfg->block[from].nr_out > 1)
			cost += 2 * q->outcomes[from] * q->p[e] * log(q->p[e] / p[e]);
	}
	for (int b = 0; b < q->cfg->exit; b++) {
		cost += 2 * SHAPE * log1p(block[b] * q->unseen[b] / SHAPE);
		if (!q->seen[b])
			continue;
		z = log(q->seen[b] / block[b]) / q->sd[b] / HEAVY;
		cost += HEAVY * HEAVY * log1p(z * z);
	}
	return cost;
}

/* The source at the door before anything is fitted, by its definition in flow_repair.c.
 */
static double first_source(const struct problem *q)
{
	double in[FLOW_MAX] = { 1 }, block[FLOW_MAX], edge[MAX_EDGES];
	double low = log(q->seen[0]), high = -INFINITY, best = 1, least = INFINITY;

	flow_make(q->cfg, q->p, in, block, edge);
	for (int b = 0; b < q->cfg->exit; b++) {
		if (!q->seen[b])
			continue;
		low = fmin(low, log(q->seen[b] / block[b]));
		high = fmax(high, log(q->seen[b] / block[b]));
	}
	for (int i = 0; i <= 100 && low <= high; i++) {
		const double by = exp(low + (high - low) * i / 100);
		const double cost = cost_of(q, q->p, by, by);

		if (cost < least) {
			least = cost;
			best = by;
		}
	}
	return best;
}

/* Moves what repair found a little, at random; keeps sums of 1. */
static void jitter(const struct problem *q, const struct flow_repair *r, double step,
		   uint64_t *state, double *p, double *source)
{
	*source = r->block[0];
	for (int i = 0; i < q->cfg->block[0].nr_in; i++)
		*source -= r->edge[q->cfg->in[q->cfg->block[0].first_in + i]];
	*source *= exp(step * (flow_make_uniform(state) - 0.5));
	for (int b = 0; b < q->cfg->exit; b++) {
		int first = q->cfg->block[b].first_out;
		int end = first + q->cfg->block[b].nr_out;
		double sum = 0;

		for (int e = first; e < end; e++) {
			p[e] = r->edge[e] / r->block[b] *
			       exp(step * (flow_make_uniform(state) - 0.5));
			sum += p[e];
		}
		for (int e = first; e < end; e++)
			p[e] /= sum;
	}
}

static void check_moved(const struct problem *q, const struct flow_repair *r,
			unsigned long long seed)
{
	double moved = 0, seen = 0;

	for (int b = 0; b < q->cfg->exit; b++) {
		moved += q->seen[b] > 0 ? fabs(q->seen[b] - r->block[b]) : 0;
		seen += q->seen[b];
	}
	ck_assert_msg(fabs(r->moved - moved / seen) <= 1e-9 * moved / seen,
		      "SEED=%#llx: moved %g, not %g", seed, r->moved, moved / seen);
}

/* Contradictions: half of the blocks were seen, by up to e times too often or seldom.
 */
static void make_contradictions(struct problem *q, bool with_unseen, uint64_t *state)
{
	make_problem(q, state);
	for (int b = 0; b < q->cfg->exit; b++) {
		double off = 2 * flow_make_uniform(state) - 1;

		q->outcomes[b] = 1 + 100 * flow_make_uniform(state);
		q->sd[b] = 0.1 + flow_make_uniform(state);
		if (!b || unit_random(state) % 2)
			q->seen[b] = q->block[b] * exp(off);
		else if (with_unseen)
			q->unseen[b] = flow_make_uniform(state) / 100;
	}
}

START_TEST(no_flow_nearby_costs_less)
{
	static const double step[] = { 0.01, 0.1 };
	uint64_t state = unit_seed();

	for (int n = 0; n < GRAPHS / 4; n++) {
		double p[MAX_EDGES], source, source0, found;
		unsigned long long seed = state;
		struct problem q;
		struct flow_repair r;

		make_contradictions(&q, n % 3, &state);
		ck_assert_int_eq(flow_repair_solve(&q.in, &q.arena, &r), 0);
		check_moved(&q, &r, seed);
		source0 = first_source(&q);
		jitter(&q, &r, 0, &state, p, &source);
		found = cost_of(&q, p, source, source0);
		for (int i = 0; i < 300; i++) {
			double cost;

			jitter(&q, &r, step[i % 2], &state, p, &source);
			cost = cost_of(&q, p, source, source0);
			ck_assert_msg(cost > found - 1e-2 * (1 + found),
				      "SEED=%#llx: %g, but found %g", seed, cost,
				      found);
		}
		arena_fini(&q.arena);
	}
}
END_TEST

/*
 * The oracle of deviations: unknowns are the logarithm of the source, and the logit of
 * each branch of two ways. How they move log f is found by moving them a little.
 */
struct linear {
	int nr, branch[FLOW_MAX];         /* unknown 0 is the source */
	double block[FLOW_MAX][FLOW_MAX]; /* by unknown and block */
	double edge[MAX_EDGES][FLOW_MAX]; /* by edge and unknown */
	double information[FLOW_MAX][FLOW_MAX], common[FLOW_MAX];
};

static void probabilities_of(const struct problem *q, const struct flow_repair *r,
			     double *p)
{
	for (int e = 0; e < q->cfg->nr_edges; e++)
		p[e] = r->edge[e] / r->block[q->cfg->edge[e].from];
}

static void differentiate(const struct problem *q, const struct flow_repair *r,
			  struct linear *l)
{
	const double step = 1e-4;

	for (int k = 0; k < l->nr; k++) {
		double flow[2][FLOW_MAX], edge[2][MAX_EDGES];

		for (int side = 0; side < 2; side++) {
			const double by = side ? step : -step;
			double p[MAX_EDGES], source[FLOW_MAX] = { 1 };

			probabilities_of(q, r, p);
			if (k) {
				const int e = q->cfg->block[l->branch[k]].first_out;

				p[e] = p[e] * exp(by) / (p[e] * exp(by) + p[e + 1]);
				p[e + 1] = 1 - p[e];
			} else {
				source[0] = exp(by);
			}
			flow_make(q->cfg, p, source, flow[side], edge[side]);
		}
		for (int b = 0; b < q->cfg->exit; b++)
			l->block[k][b] = log(flow[1][b] / flow[0][b]) / (2 * step);
		for (int e = 0; e < q->cfg->nr_edges; e++)
			l->edge[e][k] = log(edge[1][e] / edge[0][e]) / (2 * step);
	}
}

/* What a block's sightings tell of log f. */
static double information_of(const struct problem *q, const struct flow_repair *r,
			     int b)
{
	const double z = q->seen[b] > 0 ? log(q->seen[b] / r->block[b]) / q->sd[b] : 0;
	const double missing = q->unseen[b] * r->block[b];

	return (q->seen[b] > 0
			? 1 / (1 + z * z / (HEAVY * HEAVY)) / (q->sd[b] * q->sd[b])
			: 0) +
	       missing / (1 + missing / SHAPE);
}

static void inform(const struct problem *q, const struct flow_repair *r,
		   struct linear *l)
{
	double mass = 0, p[MAX_EDGES];

	probabilities_of(q, r, p);
	l->information[0][0] = 1 / (DOOR_SD * DOOR_SD);
	for (int k = 1; k < l->nr; k++) {
		const double one = p[q->cfg->block[l->branch[k]].first_out];

		l->information[k][k] = q->outcomes[l->branch[k]] * one * (1 - one);
	}
	for (int b = 0; b < q->cfg->exit; b++) {
		mass += q->mass[b];
		for (int i = 0; i < l->nr; i++)
			for (int k = 0; k < l->nr; k++)
				l->information[i][k] += information_of(q, r, b) *
							l->block[i][b] * l->block[k][b];
	}
	for (int k = 0; k < l->nr; k++)
		for (int b = 0; b < q->cfg->exit; b++)
			l->common[k] += q->mass[b] * l->block[k][b] / mass;
}

/* The variance of a sum of unknowns. */
static double variance_of(const struct linear *l, const double *factor)
{
	double a[FLOW_MAX][FLOW_MAX], x[FLOW_MAX], sum = 0;

	memcpy(a, l->information, sizeof(a));
	memcpy(x, factor, sizeof(x));
	flow_make_solve(l->nr, a, x);
	for (int k = 0; k < l->nr; k++)
		sum += x[k] * factor[k];
	return sum;
}

static void linear_init(struct linear *l, const struct problem *q,
			const struct flow_repair *r)
{
	*l = (struct linear){ .nr = 1 };
	for (int b = 0; b < q->cfg->exit; b++)
		if (q->cfg->block[b].nr_out == 2)
			l->branch[l->nr++] = b;
	differentiate(q, r, l);
	inform(q, r, l);
}

/* The mean of what repair says, as a share of the oracle's variance. */
struct ratio {
	double sum;
	int nr;
};

static void add_ratio(struct ratio *ratio, const struct linear *l,
		      const double moves[FLOW_MAX], double sd, unsigned long long seed)
{
	double factor[FLOW_MAX] = { 0 }, variance;

	for (int k = 0; k < l->nr; k++)
		factor[k] = moves[k] - l->common[k];
	variance = variance_of(l, factor);
	if (variance < 1e-4)
		return;
	ck_assert_msg(sd * sd > 0.04 * variance && sd * sd < 5 * variance,
		      "SEED=%#llx: deviation %g, not %g", seed, sd, sqrt(variance));
	ratio->sum += sd * sd / variance;
	ratio->nr++;
}

/* Of 16 draws each: single deviations are rough, and the mean of all is not. */
START_TEST(deviations_are_those_of_the_full_matrix)
{
	struct ratio blocks = { 0 }, edges = { 0 };
	uint64_t state = unit_seed();

	for (int n = 0; n < GRAPHS / 2; n++) {
		const unsigned long long seed = state;
		struct problem q;
		struct flow_repair r;
		struct linear l;

		make_contradictions(&q, n % 3, &state);
		for (int b = 0; b < q.cfg->exit; b++) {
			q.mass[b] = flow_make_uniform(&state);
			if (q.cfg->block[b].nr_out < 2)
				q.outcomes[b] = INFINITY;
		}
		ck_assert_int_eq(flow_repair_solve(&q.in, &q.arena, &r), 0);
		linear_init(&l, &q, &r);
		for (int b = 0; b < q.cfg->exit; b++) {
			double moves[FLOW_MAX] = { 0 };

			for (int k = 0; k < l.nr; k++)
				moves[k] = l.block[k][b];
			add_ratio(&blocks, &l, moves, r.block_sd[b], seed);
		}
		for (int e = 0; e < q.cfg->nr_edges; e++)
			add_ratio(&edges, &l, l.edge[e], r.edge_sd[e], seed);
		arena_fini(&q.arena);
	}
	ck_assert_int_gt(blocks.nr, GRAPHS / 2);
	ck_assert_double_eq_tol(blocks.sum / blocks.nr, 1, 0.1);
	ck_assert_double_eq_tol(edges.sum / edges.nr, 1, 0.1);
}
END_TEST

/* Each allocation fails once. */
START_TEST(what_does_not_fit_is_not_solved)
{
	uint64_t state = unit_seed();
	struct flow_repair r = { 0 };
	struct arena memory;
	struct problem q;
	int nr_failed = 0, err;

	make_problem(&q, &state);
	for (size_t limit = 16;; limit += 16) {
		arena_init(&memory, limit);
		err = flow_repair_solve(&q.in, &memory, &r);
		if (!err)
			break;
		ck_assert_int_eq(err, -ENOMEM);
		ck_assert_ptr_null(r.block);
		arena_fini(&memory);
		nr_failed++;
	}
	ck_assert_ptr_nonnull(r.block);
	ck_assert_int_gt(nr_failed, 17);
	arena_fini(&memory);
	arena_fini(&q.arena);
}
END_TEST

/* 0 → 1 or 2 → 3: what was seen contradicts itself, and 2 is known better than 1. */
START_TEST(what_is_known_well_moves_least)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL }, { 0, 2, EDGE_TAKEN },  { 1, 3, EDGE_TAKEN },
		{ 2, 3, EDGE_FALL }, { 3, 4, EDGE_RETURN },
	};
	static const double p[] = { 0.5, 0.5, 1, 1, 1 };
	static const double outcomes[] = { 2, INFINITY, INFINITY, INFINITY, INFINITY };
	static const double seen[] = { 100, 80, 40, 100, 0 };
	static const double sd[] = { 0.02, 0.5, 0.05, 0.02, 1 };
	static const double mass[] = { 1, 1, 1, 1, 0 };
	struct flow_repair_input in = { NULL, p, outcomes, seen, sd, mass, NULL, NULL };
	struct arena arena;
	struct flow flow;
	struct flow_repair r;

	arena_init(&arena, 0);
	ck_assert_int_eq(flow_build(cfg_make(&arena, 5, edge, 5), &arena, &flow), 0);
	in.flow = &flow;
	ck_assert_int_eq(flow_repair_solve(&in, &arena, &r), 0);
	ck_assert_double_eq_tol(r.block[0], 100, 2);
	ck_assert_double_eq_tol(r.block[2], 40, 2);
	ck_assert_double_eq_tol(r.block[1] + r.block[2], r.block[0], 1e-9);
	ck_assert_double_lt(r.block_sd[2], 0.1);
	ck_assert_double_gt(r.moved, 0);
	arena_fini(&arena);
}
END_TEST

/* Of 0 → 1 or 2 → 3, 1 and 2 were seen alike; nobody knows the way. */
static const struct {
	double shared, own; /* error of all, and of block 1 beside that */
	double least, most; /* deviation of block 1 */
} errors[] = {
	{ 0, 0, 0, 0.03 },
	{ 0.5, 0, 0, 0.03 }, /* the procedure's factor is not in it */
	{ 0, 0.5, 0.2, 0.5 },
	{ 0.5, 0.5, 0.2, 0.5 },
};

START_TEST(an_error_counts_where_blocks_do_not_share_it)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL }, { 0, 2, EDGE_TAKEN },  { 1, 3, EDGE_TAKEN },
		{ 2, 3, EDGE_FALL }, { 3, 4, EDGE_RETURN },
	};
	static const double p[] = { 0.5, 0.5, 1, 1, 1 };
	static const double outcomes[] = { 0.1, INFINITY, INFINITY, INFINITY,
					   INFINITY };
	static const double seen[] = { 0, 50, 50, 0, 0 };
	static const double sd[] = { 1, 0.01, 0.01, 1, 1 };
	static const double mass[] = { 0, 1, 1, 0, 0 };
	double draw[2][WINDOW_WEIGHTS_DRAWS];
	const double *const error[] = { NULL, draw[0], draw[1], NULL, NULL };
	struct flow_repair_input in = {
		NULL, p, outcomes, seen, sd, mass, error, NULL
	};
	struct arena arena;
	struct flow flow;
	struct flow_repair r;

	arena_init(&arena, 0);
	for (int i = 0; i < WINDOW_WEIGHTS_DRAWS; i++) {
		const double sign = i % 2 ? 1 : -1;

		draw[1][i] = sign * errors[_i].shared;
		draw[0][i] = draw[1][i] + sign * errors[_i].own;
	}
	ck_assert_int_eq(flow_build(cfg_make(&arena, 5, edge, 5), &arena, &flow), 0);
	in.flow = &flow;
	ck_assert_int_eq(flow_repair_solve(&in, &arena, &r), 0);
	ck_assert_double_ge(r.block_sd[1], errors[_i].least);
	ck_assert_double_le(r.block_sd[1], errors[_i].most);
	arena_fini(&arena);
}
END_TEST

/* Blocks behind one another: from each one control may also leave to LAST. */
enum { CHAIN_MAX = 100, CHAIN_BLOCKS = CHAIN_MAX + 3 };

struct chain {
	int nr; /* of these blocks, behind block 0 */
	struct cfg_edge edge[2 * CHAIN_MAX + 2];
	double p[2 * CHAIN_MAX + 2], outcomes[CHAIN_BLOCKS], seen[CHAIN_BLOCKS];
	double sd[CHAIN_BLOCKS], mass[CHAIN_BLOCKS], unseen[CHAIN_BLOCKS];
	struct arena arena;
	struct flow flow;
	struct flow_repair_input in;
};

/* on: the probability with which control goes on to the next block. */
static void chain_init(struct chain *c, int nr, double on)
{
	const int last = nr + 1, end = nr + 2;

	*c = (struct chain){ .nr = nr };
	c->in = (struct flow_repair_input){ NULL,  c->p,    c->outcomes, c->seen,
					    c->sd, c->mass, NULL,        c->unseen };
	for (int b = 0; b <= end; b++)
		c->outcomes[b] = c->sd[b] = 1;
	for (int b = 0; b <= nr; b++) {
		c->edge[2 * b] = (struct cfg_edge){ b, b + 1, EDGE_FALL };
		c->edge[2 * b + 1] = (struct cfg_edge){ b, last, EDGE_TAKEN };
		c->p[2 * b] = on;
		c->p[2 * b + 1] = 1 - on;
	}
	c->edge[2 * nr + 1] = (struct cfg_edge){ last, end, EDGE_RETURN };
	c->p[2 * nr] = c->p[2 * nr + 1] = 1;
}

static void chain_solve(struct chain *c, struct flow_repair *r)
{
	arena_init(&c->arena, 0);
	ck_assert_int_eq(flow_build(cfg_make(&c->arena, c->nr + 3, c->edge,
					     2 * c->nr + 2),
				    &c->arena, &c->flow),
			 0);
	c->in.flow = &c->flow;
	ck_assert_int_eq(flow_repair_solve(&c->in, &c->arena, r), 0);
}

/*
 * Behind one another 100 blocks, each of which could be reached from the first alone,
 * and of which each would have been seen once in its every execution, but was not.
 */
START_TEST(many_that_were_not_seen_run_seldom_together)
{
	struct flow_repair r;
	struct chain c;

	chain_init(&c, CHAIN_MAX, 0.5);
	for (int b = 1; b <= CHAIN_MAX; b++)
		c.unseen[b] = 1;
	c.seen[0] = 100;
	c.mass[0] = 1;
	c.sd[0] = 0.1;
	chain_solve(&c, &r);
	ck_assert_double_eq_tol(r.block[0], 100, 30);
	ck_assert_double_lt(r.block[1], 10); /* without: half of the first one's */
	arena_fini(&c.arena);
}
END_TEST

/*
 * A block was seen at the end of a way that looks impossible. Those on the usual way
 * would have been seen at each execution.
 */
START_TEST(a_block_that_looks_impossible_does_not_raise_the_flow)
{
	enum { NR = 4 };
	struct flow_repair r;
	struct chain c;

	chain_init(&c, NR, 1e-9);
	for (int b = 0; b < CHAIN_BLOCKS; b++) {
		c.outcomes[b] = INFINITY;
		c.unseen[b] = b < NR || b == NR + 1;
	}
	c.seen[NR] = c.mass[NR] = 1;
	chain_solve(&c, &r);
	ck_assert_double_lt(r.block[0], 1000);
	arena_fini(&c.arena);
}
END_TEST

/* A block was seen behind so many unlikely branches that its flow is 0 as a double. */
START_TEST(a_block_behind_a_flow_of_zero_does_not_count)
{
	enum { NR = 40 };
	struct flow_repair r;
	struct chain c;

	chain_init(&c, NR, 1e-12);
	for (int b = 0; b < CHAIN_BLOCKS; b++)
		c.outcomes[b] = INFINITY;
	c.seen[0] = c.seen[NR] = c.mass[0] = c.mass[NR] = 10;
	chain_solve(&c, &r);
	ck_assert_double_eq(r.block[NR], 0);
	ck_assert_double_eq_tol(r.block[0], 10, 1e-6);
	ck_assert_double_eq_tol(r.moved, 0, 1e-6);
	for (int b = 0; b <= NR; b++)
		ck_assert(isfinite(r.block_sd[b]));
	arena_fini(&c.arena);
}
END_TEST

START_TEST(the_dump_has_each_block_and_edge)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_RETURN } };
	static const double p[] = { 1 }, outcomes[] = { INFINITY, INFINITY };
	static const double seen[] = { 8, 0 }, sd[] = { 0.5, 1 }, mass[] = { 1, 0 };
	struct flow_repair_input in = { NULL, p, outcomes, seen, sd, mass, NULL, NULL };
	struct buf out = { 0 };
	struct arena arena;
	struct flow flow;
	struct flow_repair r;

	arena_init(&arena, 0);
	ck_assert_int_eq(flow_build(cfg_make(&arena, 2, edge, 1), &arena, &flow), 0);
	in.flow = &flow;
	ck_assert_int_eq(flow_repair_solve(&in, &arena, &r), 0);
	flow_repair_dump(&in, &r, &out);
	ck_assert_str_eq(buf_str(&out), "repair: 0 rounds, moved 0\n"
					"repair: block 0 seen 8 frequency 8 ± 0 door\n"
					"repair: block 1 seen 0 frequency 8 ± 0\n"
					"repair: edge 0 -> 1 8 of 1 ± 0\n");
	buf_fini(&out);
	arena_fini(&arena);
}
END_TEST

START_TEST(nothing_seen_is_still_a_flow)
{
	uint64_t state = unit_seed();
	struct problem q;
	struct flow_repair r;

	make_problem(&q, &state);
	ck_assert_int_eq(flow_repair_solve(&q.in, &q.arena, &r), 0);
	for (int b = 0; b < q.cfg->nr_blocks; b++)
		ck_assert(isfinite(r.block[b]) && r.block[b] >= 0);
	arena_fini(&q.arena);
}
END_TEST

static Suite *repair_suite(void)
{
	Suite *s = suite_create("repair");
	TCase *t = tcase_create("repair");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, exact_probabilities_and_one_anchor_give_exact_counts);
	tcase_add_test(t, no_flow_nearby_costs_less);
	tcase_add_test(t, deviations_are_those_of_the_full_matrix);
	tcase_add_test(t, what_does_not_fit_is_not_solved);
	tcase_add_test(t, what_is_known_well_moves_least);
	tcase_add_loop_test(t, an_error_counts_where_blocks_do_not_share_it, 0,
			    NR(errors));
	tcase_add_test(t, many_that_were_not_seen_run_seldom_together);
	tcase_add_test(t, a_block_that_looks_impossible_does_not_raise_the_flow);
	tcase_add_test(t, a_block_behind_a_flow_of_zero_does_not_count);
	tcase_add_test(t, the_dump_has_each_block_and_edge);
	tcase_add_test(t, nothing_seen_is_still_a_flow);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(repair_suite)
