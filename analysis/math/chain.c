/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States are eliminated one by one: when state k is eliminated, a step i → k → j
 * becomes a step i → j. The probability of leaving a state is the sum of its other
 * steps, never 1 minus the probability of staying (Grassmann, Taksar, Heyman,
 * "Regenerative analysis and steady state distributions for Markov chains", Operations
 * Research 33, 1985). So no digits cancel, and a loop that is left once in 10⁹
 * iterations is as exact as any other. The next state is the one that adds the fewest
 * arcs (Markowitz); control flow of code needs few. The order and the new arcs depend
 * only on the graph, and are computed once.
 *
 * I1  When k is eliminated, arcs into and out of k join it to later states only.
 * I2  Arcs from a state to itself are not kept.
 */
#include "config.h"

#include "analysis/math/chain.h"

#include <errno.h>
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"

#define NONE       (-1)
#define NR_BUCKETS 4096
#define MAX_WORK   (1L << 26) /* arcs looked at in one elimination */

struct chain_arc {
	int from, to;
	int next_out, next_in; /* among those of later states, see I1 */
	int next_row;          /* among all from the same state */
	double p;
};

struct state {
	int out, in, row; /* first arcs */
	int nr_out, nr_in;
	int bucket, next, prev; /* of those that cost as much */
	bool gone;
	/* Probabilities when it is eliminated: to end the walk; to leave the state. */
	double leave, stay_not;
};

struct chain {
	struct chain_arc *arc;
	int nr_arcs, max_arcs;
	struct state *state;
	int nr_states;
	int *order;
	int *step_arc; /* of each step, or NONE from a state to itself */
	int nr_steps;
	int *mark; /* by state: the arc there from the state that is looked at */
};

struct ordering {
	struct chain *chain;
	struct arena *arena;
	int bucket[NR_BUCKETS];
	int lowest; /* no bucket below has states */
	long work;
};

static int add_arc(struct chain *c, struct arena *arena, int from, int to)
{
	struct chain_arc *grown;

	if (c->nr_arcs == c->max_arcs) {
		int max = c->max_arcs ? 2 * c->max_arcs : 16;

		grown = arena_array(arena, max, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		if (c->nr_arcs)
			memcpy(grown, c->arc, c->nr_arcs * sizeof(*grown));
		c->arc = grown;
		c->max_arcs = max;
	}
	c->arc[c->nr_arcs] = (struct chain_arc){ .from = from,
						 .to = to,
						 .next_out = c->state[from].out,
						 .next_in = c->state[to].in,
						 .next_row = c->state[from].row };
	c->state[from].out = c->state[from].row = c->nr_arcs;
	c->state[to].in = c->nr_arcs;
	c->state[from].nr_out++;
	c->state[to].nr_in++;
	c->mark[to] = c->nr_arcs++;
	return 0;
}

/* Sets mark[j] to the arc from state i to j, for all j; or back. Returns how many. */
static long mark_row(struct chain *c, int i, bool set)
{
	long nr = 0;

	for (int a = c->state[i].row; a != NONE; a = c->arc[a].next_row, nr++)
		c->mark[c->arc[a].to] = set ? a : NONE;
	return nr;
}

static int cost_bucket(const struct state *s)
{
	long cost = (long)s->nr_in * s->nr_out;

	return cost < NR_BUCKETS ? (int)cost : NR_BUCKETS - 1;
}

static void bucket_remove(struct ordering *o, int k)
{
	struct state *state = o->chain->state, *s = &state[k];

	if (s->prev != NONE)
		state[s->prev].next = s->next;
	else
		o->bucket[s->bucket] = s->next;
	if (s->next != NONE)
		state[s->next].prev = s->prev;
}

static void bucket_add(struct ordering *o, int k)
{
	struct state *state = o->chain->state, *s = &state[k];

	s->bucket = cost_bucket(s);
	s->prev = NONE;
	s->next = o->bucket[s->bucket];
	if (s->next != NONE)
		state[s->next].prev = k;
	o->bucket[s->bucket] = k;
	if (s->bucket < o->lowest)
		o->lowest = s->bucket;
}

static void bucket_move(struct ordering *o, int k)
{
	if (cost_bucket(&o->chain->state[k]) == o->chain->state[k].bucket)
		return;
	bucket_remove(o, k);
	bucket_add(o, k);
}

/* Drops the arcs of states that are gone from k's lists. */
static void purge(struct chain *c, int k)
{
	int *link = &c->state[k].out;

	while (*link != NONE) {
		struct chain_arc *a = &c->arc[*link];

		if (c->state[a->to].gone)
			*link = a->next_out;
		else
			link = &a->next_out;
	}
	link = &c->state[k].in;
	while (*link != NONE) {
		struct chain_arc *a = &c->arc[*link];

		if (c->state[a->from].gone)
			*link = a->next_in;
		else
			link = &a->next_in;
	}
}

/* Adds the arcs from i that replace i → k → j. */
static int bypass(struct ordering *o, int i, int k)
{
	struct chain *c = o->chain;
	int err = 0;

	o->work += mark_row(c, i, true);
	for (int a = c->state[k].out; !err && a != NONE; a = c->arc[a].next_out) {
		int j = c->arc[a].to;

		o->work++;
		if (j == i || c->mark[j] != NONE)
			continue;
		err = add_arc(c, o->arena, i, j);
		if (!err)
			bucket_move(o, j);
	}
	mark_row(c, i, false);
	c->state[i].nr_out--;
	bucket_move(o, i);
	return err;
}

static int eliminate(struct ordering *o, int k)
{
	struct chain *c = o->chain;
	int err = 0;

	bucket_remove(o, k);
	purge(c, k);
	c->state[k].gone = true;
	for (int a = c->state[k].in; !err && a != NONE; a = c->arc[a].next_in)
		err = bypass(o, c->arc[a].from, k);
	for (int a = c->state[k].out; a != NONE; a = c->arc[a].next_out) {
		c->state[c->arc[a].to].nr_in--;
		bucket_move(o, c->arc[a].to);
	}
	return err ? err : o->work > MAX_WORK ? -CPI_ELIMIT : 0;
}

static int order_states(struct chain *c, struct arena *arena)
{
	struct ordering *o = arena_alloc(arena, sizeof(*o));
	int err = 0;

	if (!o)
		return -ENOMEM;
	*o = (struct ordering){ .chain = c, .arena = arena };
	for (int b = 0; b < NR_BUCKETS; b++)
		o->bucket[b] = NONE;
	for (int k = c->nr_states - 1; k >= 0; k--)
		bucket_add(o, k);
	o->lowest = 0;
	for (int n = 0; !err && n < c->nr_states; n++) {
		while (o->bucket[o->lowest] == NONE)
			o->lowest++;
		c->order[n] = o->bucket[o->lowest];
		err = eliminate(o, c->order[n]);
	}
	return err;
}

/* Steps between the same two states share an arc. */
static int add_steps(struct chain *c, struct arena *arena,
		     const struct chain_step *step)
{
	int err = 0, first = 0;

	for (int s = 0; !err && s < c->nr_steps; s++) {
		if (step[s].from != step[first].from) {
			mark_row(c, step[first].from, false);
			first = s;
		}
		c->step_arc[s] = NONE;
		if (step[s].from == step[s].to)
			continue;
		if (c->mark[step[s].to] == NONE)
			err = add_arc(c, arena, step[s].from, step[s].to);
		c->step_arc[s] = c->mark[step[s].to];
	}
	if (c->nr_steps)
		mark_row(c, step[first].from, false);
	return err;
}

int chain_build(int nr_states, const struct chain_step *step, int nr_steps,
		struct arena *arena, struct chain **out)
{
	struct chain *c = arena_alloc(arena, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->nr_states = nr_states;
	c->nr_steps = nr_steps;
	c->state = arena_array(arena, nr_states, sizeof(*c->state));
	c->order = arena_array(arena, nr_states, sizeof(*c->order));
	c->mark = arena_array(arena, nr_states, sizeof(*c->mark));
	c->step_arc = arena_array(arena, nr_steps, sizeof(*c->step_arc));
	if (!c->state || !c->order || !c->mark || !c->step_arc)
		return -ENOMEM;
	for (int k = 0; k < nr_states; k++) {
		c->state[k] = (struct state){ .out = NONE, .in = NONE, .row = NONE };
		c->mark[k] = NONE;
	}
	err = add_steps(c, arena, step);
	if (!err)
		err = order_states(c, arena);
	if (!err)
		*out = c;
	return err;
}

/* The walks i → k → … go on from i. */
static void pass_on(struct chain *c, const struct chain_arc *in, const struct state *k)
{
	double p = in->p / k->stay_not;

	mark_row(c, in->from, true);
	c->state[in->from].leave += p * k->leave;
	for (int a = k->out; a != NONE; a = c->arc[a].next_out)
		if (c->arc[a].to != in->from)
			c->arc[c->mark[c->arc[a].to]].p += p * c->arc[a].p;
	mark_row(c, in->from, false);
}

void chain_factor(struct chain *c, const double *step, const double *leave)
{
	for (int a = 0; a < c->nr_arcs; a++)
		c->arc[a].p = 0;
	for (int s = 0; s < c->nr_steps; s++)
		if (c->step_arc[s] != NONE)
			c->arc[c->step_arc[s]].p += step[s];
	for (int k = 0; k < c->nr_states; k++)
		c->state[k].leave = leave[k];
	for (int n = 0; n < c->nr_states; n++) {
		struct state *k = &c->state[c->order[n]];

		k->stay_not = k->leave;
		for (int a = k->out; a != NONE; a = c->arc[a].next_out)
			k->stay_not += c->arc[a].p;
		if (k->stay_not < DBL_MIN)
			k->stay_not = DBL_MIN;
		for (int a = k->in; a != NONE; a = c->arc[a].next_in)
			pass_on(c, &c->arc[a], k);
	}
}

void chain_visits(const struct chain *c, const double *source, double *v)
{
	if (v != source)
		memcpy(v, source, c->nr_states * sizeof(*v));
	for (int n = 0; n < c->nr_states; n++) {
		const struct state *k = &c->state[c->order[n]];
		double each = v[c->order[n]] / k->stay_not;

		for (int a = k->out; a != NONE; a = c->arc[a].next_out)
			v[c->arc[a].to] += each * c->arc[a].p;
	}
	for (int n = c->nr_states - 1; n >= 0; n--) {
		const struct state *k = &c->state[c->order[n]];

		for (int a = k->in; a != NONE; a = c->arc[a].next_in)
			v[c->order[n]] += v[c->arc[a].from] * c->arc[a].p;
		v[c->order[n]] /= k->stay_not;
	}
}

void chain_values(const struct chain *c, const double *reward, double *v)
{
	if (v != reward)
		memcpy(v, reward, c->nr_states * sizeof(*v));
	for (int n = 0; n < c->nr_states; n++) {
		const struct state *k = &c->state[c->order[n]];
		double each = v[c->order[n]] / k->stay_not;

		for (int a = k->in; a != NONE; a = c->arc[a].next_in)
			v[c->arc[a].from] += each * c->arc[a].p;
	}
	for (int n = c->nr_states - 1; n >= 0; n--) {
		const struct state *k = &c->state[c->order[n]];

		for (int a = k->out; a != NONE; a = c->arc[a].next_out)
			v[c->order[n]] += c->arc[a].p * v[c->arc[a].to];
		v[c->order[n]] /= k->stay_not;
	}
}
