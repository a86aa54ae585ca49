/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mispredicts.c - how often a branch is mispredicted, from its executions in windows
 *
 * For each length of history: the executions that have such a history, and what other
 * windows predict for each of them. As in TAGE the longest history that was seen before
 * predicts. The window itself is left out, so a history that was never seen before does
 * not count as predictable. The length with the fewest errors counts, as a predictor
 * would use it.
 *
 * What windows do not show are longer histories. Where all paths to the branch are a
 * few, again and again, a longer history may tell everything, and the low end is near
 * 0. Where paths hardly ever repeat, no table of a predictor holds them. The number of
 * different histories tells one from the other.
 *
 * Deviations from the paper: histories are the last taken jumps and their targets, not
 * outcomes; the two determine each other. Tables have no bounds. The constants were
 * chosen with t/accuracy/predict on the programs that ACCURACY.md names.
 */
#include "config.h"

#include "analysis/predict/mispredicts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/math/unseen.h"

#define CLASSES 16 /* outcomes that are told apart; the last one is all others */
#define NONE    CLASSES

#define LEAST_EVENTS  20 /* executions with a history of one length, for it to count */
#define LEAST_WINDOWS 5
#define LEAST_PART    0.2  /* of all executions: a smaller part may not be typical */
#define PRIOR         3    /* windows, added to each share when lengths are compared */
#define DEVIATIONS    1.3  /* of the interval, to both sides */
#define MORE          1.1  /* times the error: real tables are small */
#define RARELY        0.2  /* share that misses unseen, * sqrt(executions * windows) */
#define WARM          0.03 /* of the rarer outcomes, while the predictor learns */
#define LITTLE        0.02 /* part of the error that is left at least: paths repeat */
#define MUCH          0.7  /* ... paths do not repeat */
#define LIKELY_LITTLE 0.6  /* part of the error that is likely, in the same way */
#define LIKELY_MUCH   0.95
#define FEW_PATHS     5.0   /* log2 of different histories: a predictor knows all */
#define MANY_PATHS    10.0  /* it knows hardly any */
#define SURE          0.002 /* a lower end below this is 0 */

struct study {
	const struct branch_event *event;
	size_t nr;
	uint8_t *class;
	/*
	 * By kind of history: the class that other windows predict for an execution;
	 * NONE: this history was not seen, or says nothing.
	 */
	uint8_t *guess[BRANCH_HISTORY_NR];
	double distinct[BRANCH_HISTORY_NR]; /* histories that there are, about */
	int nr_kinds; /* of history; 1 if the outcome is always the same */
};

struct outcome_count {
	uint64_t outcome;
	uint64_t n;
};

static int by_outcome(const void *va, const void *vb)
{
	const struct outcome_count *a = va, *b = vb;

	return (a->outcome > b->outcome) - (a->outcome < b->outcome);
}

static int by_count(const void *va, const void *vb)
{
	const struct outcome_count *a = va, *b = vb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return by_outcome(va, vb);
}

/* Numbers the outcomes, the most frequent first. */
static int find_classes(struct study *s, struct arena *arena)
{
	struct outcome_count *o = arena_array(arena, s->nr, sizeof(*o));
	size_t nr = 0;

	if (!o)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		o[i] = (struct outcome_count){ s->event[i].outcome, 1 };
	qsort(o, s->nr, sizeof(*o), by_outcome);
	for (size_t i = 0; i < s->nr; i++) {
		if (nr && o[nr - 1].outcome == o[i].outcome)
			o[nr - 1].n++;
		else
			o[nr++] = o[i];
	}
	qsort(o, nr, sizeof(*o), by_count);
	for (size_t i = 0; i < s->nr; i++) {
		size_t c = 0;

		while (c < CLASSES - 1 && o[c].outcome != s->event[i].outcome)
			c++;
		s->class[i] = (uint8_t)c;
	}
	return 0;
}

struct tally {
	int64_t n[CLASSES];
};

/* The most frequent outcome without those of one window; NONE if several are. */
static uint8_t most_frequent(const struct tally *all, const struct tally *own)
{
	int64_t most = 0;
	uint8_t best = NONE;

	for (int c = 0; c < CLASSES - 1; c++) {
		const int64_t n = all->n[c] - own->n[c];

		if (n == most)
			best = NONE;
		if (n > most) {
			most = n;
			best = (uint8_t)c;
		}
	}
	return best;
}

struct sorted {
	uint32_t context, event;
};

static int by_context(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

/* Guesses for the executions v[0 … nr), which have the same history. */
static void guess_group(struct study *s, const struct sorted *v, size_t nr,
			uint8_t *guess)
{
	struct tally all = { 0 };

	for (size_t i = 0; i < nr; i++) {
		const struct branch_event *e = &s->event[v[i].event];

		all.n[s->class[v[i].event]] += e->copies;
	}
	for (size_t i = 0, next; i < nr; i = next) {
		const uint32_t window = s->event[v[i].event].window;
		struct tally own = { 0 };
		uint8_t class;

		for (next = i; next < nr && s->event[v[next].event].window == window;
		     next++)
			own.n[s->class[v[next].event]] += 1;
		class = most_frequent(&all, &own);
		for (size_t k = i; k < next; k++)
			guess[v[k].event] = class;
	}
}

static int guess_all(struct study *s, int kind, struct arena *arena)
{
	struct sorted *v = arena_array(arena, s->nr + 1, sizeof(*v));
	double once = 0, twice = 0;
	size_t nr = 0;

	s->guess[kind] = arena_array(arena, s->nr + 1, sizeof(**s->guess));
	if (!v || !s->guess[kind])
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		s->guess[kind][i] = NONE;
		if (s->event[i].context[kind])
			v[nr++] = (struct sorted){ s->event[i].context[kind],
						   (uint32_t)i };
	}
	qsort(v, nr, sizeof(*v), by_context);
	for (size_t i = 0, next; i < nr; i = next) {
		uint64_t times = 0;

		for (next = i; next < nr && v[next].context == v[i].context; next++)
			times += s->event[v[next].event].copies;
		guess_group(s, &v[i], next - i, s->guess[kind]);
		s->distinct[kind]++;
		once += times == 1;
		twice += times == 2;
	}
	s->distinct[kind] += unseen_kinds(once, twice);
	return 0;
}

/* Whether the longest known history, up to this one, predicts the wrong outcome. */
static bool is_wrong(const struct study *s, size_t i, int kind)
{
	for (int k = kind; k >= 0; k--) {
		if (s->guess[k][i] != NONE)
			return s->guess[k][i] != s->class[i];
	}
	return true;
}

/* Of the executions that have a history of one kind. */
struct errors {
	uint64_t executions;
	double windows;          /* of equal weight, which would say as much */
	double share, deviation; /* of the share; windows are independent */
	uint64_t seen;           /* executions whose history other windows have, too */
	double seen_share;       /* the same of these */
};

/* Σ weight × (wrong - share) of the window that begins with event i; *next: behind it.
 */
static double sum_window(const struct study *s, size_t i, int kind, double share,
			 size_t *next, double *weight)
{
	const struct branch_event *e = s->event;
	double sum = 0;

	*weight = 0;
	for (*next = i; *next < s->nr && e[*next].window == e[i].window; ++*next) {
		if (!e[*next].context[kind])
			continue;
		*weight += e[*next].weight;
		sum += e[*next].weight * (is_wrong(s, *next, kind) - share);
	}
	return sum;
}

static struct errors find_errors(const struct study *s, int kind)
{
	double wrong = 0, all = 0, weights = 0, squares = 0, seen = 0, weight;
	struct errors out = { 0 };

	for (size_t i = 0, next; i < s->nr; i = next) {
		wrong += sum_window(s, i, kind, 0, &next, &weight);
		all += weight;
		weights += weight * weight / s->event[i].copies;
	}
	out.windows = weights > 0 ? all * all / weights : 0;
	out.share = all > 0 ? wrong / all : 1;
	for (size_t i = 0, next; i < s->nr; i = next) {
		const double sum = sum_window(s, i, kind, out.share, &next, &weight);

		squares += sum * sum / s->event[i].copies;
	}
	for (size_t i = 0; i < s->nr; i++) {
		const struct branch_event *e = &s->event[i];

		out.executions += e->context[kind] ? e->copies : 0;
		if (s->guess[kind][i] == NONE)
			continue;
		out.seen += e->copies;
		seen += e->weight;
		out.seen_share += e->weight * (s->guess[kind][i] != s->class[i]);
	}
	out.seen_share = seen > 0 ? out.seen_share / seen : 1;
	out.deviation = all > 0 ? sqrt(squares) / all : 0;
	return out;
}

/* What the share may well be: that of few windows is chance. */
static double pessimistic(const struct errors *e, double without)
{
	const double n = e->windows;

	return (e->share * n + without * PRIOR) / (n + PRIOR) + 2 * e->deviation;
}

/*
 * The errors of the kind of history that predicts best; *least: the smallest share of
 * errors of executions whose history was seen before, of any kind.
 */
static struct errors find_best(const struct study *s, double *least)
{
	const struct errors without = find_errors(s, 0);
	struct errors best = without;

	*least = 1;
	for (int kind = 0; kind < s->nr_kinds; kind++) {
		const struct errors e = find_errors(s, kind);

		if (e.seen >= LEAST_EVENTS)
			*least = fmin(*least, e.seen_share);
		if (e.executions < LEAST_EVENTS || e.windows < LEAST_WINDOWS ||
		    (double)e.executions < LEAST_PART * (double)without.executions)
			continue;
		if (pessimistic(&e, without.share) < pessimistic(&best, without.share))
			best = e;
	}
	return best;
}

/* 0: a predictor may know all histories; 1: it cannot. */
static double find_disorder(const struct study *s, uint64_t executions)
{
	double most = 1;

	for (int kind = 0; kind < BRANCH_HISTORY_NR_LENGTHS; kind++)
		most = fmax(most, s->distinct[kind]);
	most = log2(fmin(most, 2 * (double)executions));
	return fmin(fmax((most - FEW_PATHS) / (MANY_PATHS - FEW_PATHS), 0), 1);
}

static double between(double low, double high, double part)
{
	return low * (1 - part) + high * part;
}

static void set_shares(const struct study *s, struct mispredicts *out)
{
	double least;
	struct errors e = find_best(s, &least);
	const double disorder = find_disorder(s, out->executions);
	const double chance = RARELY / sqrt((double)e.executions * fmax(e.windows, 1));

	e.share = fmin(e.share, out->rarer);
	out->likely = between(LIKELY_LITTLE, LIKELY_MUCH, disorder) * e.share +
		      WARM * out->rarer;
	out->low = between(LITTLE, MUCH, disorder) *
		   fmax(fmin(e.share, least) - DEVIATIONS * e.deviation, 0);
	if (out->low < SURE)
		out->low = 0;
	out->high = MORE * (e.share + DEVIATIONS * e.deviation) + WARM * out->rarer +
		    chance;
	out->high = fmin(out->high, 1);
	out->likely = fmin(fmax(out->likely, out->low), out->high);
}

/* The share of executions with another outcome than the most frequent one. */
static double find_rarer(const struct study *s)
{
	double weight[CLASSES] = { 0 }, all = 0, most = 0;

	for (size_t i = 0; i < s->nr; i++) {
		weight[s->class[i]] += s->event[i].weight;
		all += s->event[i].weight;
	}
	for (int c = 0; c < CLASSES - 1; c++)
		most = fmax(most, weight[c]);
	return all > 0 ? 1 - most / all : 0;
}

int mispredicts_estimate(const struct branch_event *event, size_t nr,
			 struct arena *arena, struct mispredicts *out)
{
	struct study s = { .event = event, .nr = nr };
	struct mispredicts m = { 0 };
	int err;

	for (size_t i = 0; i < nr; i++) {
		m.executions += event[i].copies;
		if (!i || event[i].window != event[i - 1].window)
			m.windows += event[i].copies;
	}
	*out = (struct mispredicts){ 0 };
	if (m.executions < MISPREDICTS_LEAST || m.windows < 2)
		return 0;
	s.class = arena_array(arena, nr, sizeof(*s.class));
	if (!s.class)
		return -ENOMEM;
	err = find_classes(&s, arena);
	s.nr_kinds = 1;
	for (size_t i = 0; i < nr; i++)
		s.nr_kinds = s.class[i] ? BRANCH_HISTORY_NR : s.nr_kinds;
	for (int kind = 0; kind < s.nr_kinds && !err; kind++)
		err = guess_all(&s, kind, arena);
	if (err)
		return err;
	m.rarer = find_rarer(&s);
	set_shares(&s, &m);
	*out = m;
	return 0;
}
