/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.c - how often loops ran, from pairs of samples
 *
 * Speed is a ratio of two sums, executions and ns of all pairs, so that pairs in
 * which the instruction did not run count as well. Its error is that of a ratio
 * estimate, from the classes' residuals. Pairs begin at random samples, like all
 * others. So the loop's samples are those at the addresses where its pairs began,
 * plus some at addresses where no pair has begun yet. The Good-Turing estimate of
 * the latter's share is (addresses with exactly one pair) / (pairs).
 */
#include "config.h"

#include "analysis/freq/pace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#define MOST_LEFT  0.3   /* share of pairs that are no measurement ... */
#define MOST_LOST  0.6   /* ... if the others agree with each other: ... */
#define AGREEING   0.8   /* ... this share of them, ... */
#define AGREE_IN   4     /* ... in so many classes in a row, half an octave */
#define SYSTEMATIC 0.05  /* deviation of the logarithm, whatever pairs say */
#define NARROW     1.645 /* deviations from the middle of a 90 % interval to its end */
#define LEAST_OWN  20    /* pairs that began in the loop's own procedure */

/* The pairs of one instruction. */
struct pace_sums {
	double pairs, executions, ns;
	double below, bad; /* pairs */
	double error;      /* relative, of executions / ns */
};

/* The places where they began. */
struct pace_starts {
	double pairs, own, single;
	double samples; /* at own places */
	double all;     /* at all */
};

static double executions_of(const struct edge *e)
{
	return (double)(e->n - e->nr_timed);
}

static void add_cell(struct pace_sums *s, const struct edge *e)
{
	const double pairs = (double)e->nr_timed;

	if (e->to == EDGES_PACE_BELOW) {
		s->below += pairs;
	} else if (e->to > EDGES_PACE_NONE) {
		s->bad += pairs;
	} else {
		s->pairs += pairs;
		s->executions += executions_of(e);
		s->ns += (double)e->cycles;
	}
}

/* The error of the ratio of two sums, from what is left of each class. */
static double ratio_error(const struct pace_sums *s, const struct edge *e, size_t nr)
{
	const double speed = s->executions / s->ns;
	double squares = 0;

	for (size_t i = 0; i < nr; i++) {
		const double left = executions_of(&e[i]) - speed * (double)e[i].cycles;

		if (e[i].to <= EDGES_PACE_NONE && e[i].nr_timed)
			squares += left * left / (double)e[i].nr_timed;
	}
	return sqrt(squares * s->pairs / (s->pairs - 1)) / s->executions;
}

/*
 * Whether nearly all pairs tell the same speed. Those that were left and entered again
 * without a contradiction would be spread over octaves.
 */
static bool pairs_agree(const struct pace_sums *s, const struct edge *e, size_t nr)
{
	double most = 0;

	for (size_t i = 0; i < nr; i++) {
		double sum = 0;

		for (size_t k = i; k < nr && e[k].to < e[i].to + AGREE_IN; k++)
			sum += e[k].to < EDGES_PACE_NONE ? (double)e[k].nr_timed : 0;
		most = fmax(most, sum);
	}
	return most >= AGREEING * s->pairs;
}

/* False: too few pairs, or too many that are no measurement. */
static bool add_up(const struct edge *e, size_t nr, struct pace_sums *out)
{
	double all;

	*out = (struct pace_sums){ 0 };
	for (size_t i = 0; i < nr; i++)
		add_cell(out, &e[i]);
	all = out->pairs + out->below + out->bad;
	if (out->pairs < PACE_PAIRS || !(out->ns > 0) || !(out->executions > 0) ||
	    out->bad > MOST_LOST * all ||
	    (out->bad > MOST_LEFT * all && !pairs_agree(out, e, nr)))
		return false;
	out->error = ratio_error(out, e, nr);
	return true;
}

static void find_starts(const struct pace_input *in, const struct edge *e, size_t nr,
			uint64_t at, struct pace_starts *out)
{
	*out = (struct pace_starts){ 0 };
	for (size_t i = edges_first_from(e, nr, at); i < nr && e[i].from == at; i++) {
		const double pairs = (double)e[i].nr_timed;
		const double samples =
			e[i].to == UINT64_MAX ? 0 : in->samples(in->ctx, e[i].to);

		out->pairs += pairs;
		out->all += samples;
		if (e[i].to < in->begin || e[i].to >= in->end)
			continue;
		out->own += pairs;
		out->samples += samples;
		out->single += pairs == 1;
	}
}

/* The share of the loop's pairs that began in known places and ended in the loop. */
static double known_share(const struct pace_sums *s, const struct pace_starts *t)
{
	const double seen = t->own > t->single ? 1 - t->single / t->own : 0.5;

	return seen * s->pairs / (s->pairs + s->below);
}

static void measure(const struct pace_input *in, const struct pace_sums *s,
		    const struct pace_starts *t, struct pace *out)
{
	const double speed = s->executions / s->ns;
	const double known = known_share(s, t);
	double samples, error;

	out->ns = 1 / speed;
	out->nr_pairs = (uint64_t)s->pairs;
	if (t->own < LEAST_OWN || !(t->samples > 0)) {
		samples = (t->all + 3 * sqrt(t->all + 1)) / known;
		out->high = samples * in->sample_ns * speed *
			    exp(NARROW * hypot(s->error, SYSTEMATIC));
		return;
	}
	samples = t->samples / known * t->pairs / t->own;
	error = s->error * s->error + SYSTEMATIC * SYSTEMATIC + 1 / t->samples +
		(1 - known) * (1 - known) / 4;
	error += (1 - t->own / t->pairs) / t->own;
	error += pow(s->bad / (s->pairs + s->bad), 4) / 4;
	out->likely = samples * in->sample_ns * speed;
	out->low = out->likely * exp(-NARROW * sqrt(error));
	out->high = out->likely * exp(NARROW * sqrt(error));
}

static size_t end_of(const struct edge *e, size_t nr, size_t i)
{
	size_t end = i;

	while (end < nr && e[end].from == e[i].from)
		end++;
	return end;
}

/* The pairs of one instruction; false: they tell nothing. */
static bool find_one(const struct pace_input *in, const struct edge *cell, size_t nr,
		     const struct edge *start, size_t nr_starts, struct pace *out)
{
	struct pace_starts starts;
	struct pace_sums sums;

	if (!add_up(cell, nr, &sums))
		return false;
	find_starts(in, start, nr_starts, cell->from, &starts);
	if (!(starts.pairs > 0))
		return false;
	*out = (struct pace){ .offset = cell->from };
	measure(in, &sums, &starts, out);
	return true;
}

int pace_find(const struct pace_input *in, struct arena *arena, struct pace **out,
	      size_t *nr)
{
	size_t nr_cells = 0, nr_starts = 0, nr_found = 0, first, last;
	const struct edge *cell = edges_sorted(in->pace, &nr_cells);
	const struct edge *start = edges_sorted(in->start, &nr_starts);
	struct pace *found;

	first = edges_first_from(cell, nr_cells, in->begin);
	last = edges_first_from(cell, nr_cells, in->end);
	found = arena_array(arena, last - first + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	for (size_t i = first, end; i < last; i = end) {
		end = end_of(cell, last, i);
		nr_found += find_one(in, &cell[i], end - i, start, nr_starts,
				     &found[nr_found]);
	}
	*out = found;
	*nr = nr_found;
	return 0;
}
