/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.c - how often loops ran, from pairs of samples
 *
 * Speed is a ratio of two sums, executions and ns of all pairs, so that pairs in which
 * the instruction did not run count as well. Its error is that of a ratio estimate,
 * from the classes' residuals.
 *
 * If a loop calls procedures, a part of its time is spent in them. Pairs begin at
 * random moments, as samples are taken. So the share of the pairs that began in the
 * called procedures is that part. There are few pairs, so the samples at the places
 * where pairs began are used as well; other callers may have caused some of them.
 */
#include "config.h"

#include "analysis/freq/pace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "analysis/math/interval.h"

/* Shares of all pairs. Bad pairs contradict the loop or ended outside of it. */
#define MOST_LEFT  0.3 /* if more are bad, the good ones must agree within AGREE_IN */
#define MOST_WRONG 0.1 /* the same for contradicting ones, and NEARLY_IN */
#define MOST_LOST  0.6 /* bad ones; if more, the instruction is left out */
/* Pairs agree if this share of the good ones is in so many classes in a row. */
#define AGREEING   0.8
#define AGREE_IN   4     /* half an octave */
#define NEARLY_IN  16    /* two octaves */
#define SYSTEMATIC 0.05  /* deviation of the logarithm, whatever pairs say */
#define STEADY_NS  5e8   /* how long a loop that waits for memory keeps its speed */
#define NARROW     1.645 /* deviations from the middle of a 90 % interval to its end */
#define LEAST_OWN  8     /* pairs that began in the loop's own procedure */
#define AWAY       3     /* octaves; if a pair is so much longer, other code ran, too */
#define OTHERS     0.2   /* deviation of a callee's samples: other callers have some */

/* The pairs of one instruction. */
struct pace_sums {
	double pairs, executions, ns;
	double below; /* pairs that ended in a procedure that the loop calls */
	double bad;   /* pairs that contradict the loop or ended elsewhere */
	double wrong; /* those of them that contradict the loop */
	double error; /* relative, of executions / ns */
	int octave;   /* of ns that pairs usually take */
};

/* The places where they began. */
struct pace_starts {
	uint64_t first, last;         /* of the own ones */
	double own, below, elsewhere; /* pairs; below is in the same image */
	double own_samples, below_samples;
};

/* A share with its error. */
struct share {
	double of, sd;
};

static double executions_of(const struct edge *e)
{
	return (double)(e->n - e->nr_timed);
}

/* How long the pairs of a cell took on average, as a power of two. */
static int octave_of(const struct edge *e)
{
	const uint64_t ns = e->nr_timed ? e->cycles / e->nr_timed : 0;

	return ns ? 63 - __builtin_clzll(ns) : 0;
}

/* Half of the pairs took at most that long. */
static int usual_octave(const struct edge *e, size_t nr)
{
	double by_octave[64] = { 0 }, all = 0, sum = 0;
	int octave = -1;

	for (size_t i = 0; i < nr; i++) {
		by_octave[octave_of(&e[i])] += (double)e[i].nr_timed;
		all += (double)e[i].nr_timed;
	}
	while (octave < 63 && 2 * sum < all)
		sum += by_octave[++octave];
	return octave;
}

/* False: the CPU was away, so the time is not the loop's. */
static bool is_usual(const struct pace_sums *s, const struct edge *e)
{
	return octave_of(e) < s->octave + AWAY;
}

static void add_cell(struct pace_sums *s, const struct edge *e)
{
	const double pairs = (double)e->nr_timed;

	if (!is_usual(s, e))
		return;
	if (e->to == EDGES_PACE_BELOW) {
		s->below += pairs;
	} else if (e->to > EDGES_PACE_NONE) {
		s->bad += pairs;
		s->wrong += e->to == EDGES_PACE_DISAGREES ? pairs : 0;
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

		if (e[i].to <= EDGES_PACE_NONE && e[i].nr_timed && is_usual(s, &e[i]))
			squares += left * left / (double)e[i].nr_timed;
	}
	return sqrt(squares * s->pairs / (s->pairs - 1)) / s->executions;
}

/*
 * Whether nearly all pairs are in so many classes in a row. Pairs in which the loop was
 * left and entered again, but whose change looks valid, would be spread over octaves.
 */
static bool pairs_agree(const struct pace_sums *s, const struct edge *e, size_t nr,
			uint64_t classes)
{
	double most = 0;

	for (size_t i = 0; i < nr; i++) {
		double sum = 0;

		for (size_t k = i; k < nr && e[k].to < e[i].to + classes; k++)
			sum += e[k].to < EDGES_PACE_NONE ? (double)e[k].nr_timed : 0;
		most = fmax(most, sum);
	}
	return most >= AGREEING * s->pairs;
}

/*
 * Pairs that contradict a loop show that a run of the loop may end between two samples.
 * If a run is shorter than a pair, about as many pairs look valid by chance, and give
 * speeds that are too low by octaves.
 */
static bool are_trusted(const struct pace_sums *s, const struct edge *e, size_t nr)
{
	const double all = s->pairs + s->below + s->bad;

	if (s->bad > MOST_LOST * all)
		return false;
	if (s->bad > MOST_LEFT * all)
		return pairs_agree(s, e, nr, AGREE_IN);
	return s->wrong <= MOST_WRONG * all || pairs_agree(s, e, nr, NEARLY_IN);
}

/* False: too few pairs, or too many that are no measurement. */
static bool add_up(const struct edge *e, size_t nr, struct pace_sums *out)
{
	*out = (struct pace_sums){ .octave = usual_octave(e, nr) };
	for (size_t i = 0; i < nr; i++)
		add_cell(out, &e[i]);
	if (out->pairs < PACE_PAIRS || !(out->ns > 0) || !(out->executions > 0) ||
	    !are_trusted(out, e, nr))
		return false;
	out->error = ratio_error(out, e, nr);
	return true;
}

static void add_start(const struct pace_input *in, const struct edge *e,
		      struct pace_starts *out)
{
	const double pairs = (double)e->nr_timed;

	if (e->to == UINT64_MAX) {
		out->elsewhere += pairs;
	} else if (e->to < in->begin || e->to >= in->end) {
		out->below += pairs;
		out->below_samples += in->samples(in->ctx, e->to);
	} else {
		out->first = out->own > 0 ? out->first : e->to;
		out->last = e->to;
		out->own += pairs;
		out->own_samples += in->samples(in->ctx, e->to);
	}
}

static void find_starts(const struct pace_input *in, const struct edge *e, size_t nr,
			uint64_t at, struct pace_starts *out)
{
	*out = (struct pace_starts){ 0 };
	for (size_t i = edges_first_from(e, nr, at); i < nr && e[i].from == at; i++)
		add_start(in, &e[i], out);
}

/* The share of n in n + other, with its standard deviation. */
static struct share share_beside(double n, double other)
{
	const double all = n + other;

	return (struct share){ n / all, sqrt(n * other / all) / all };
}

/* The share of own code in the time of own code and callees of the same image. */
static struct share share_of_own(const struct pace_starts *t)
{
	struct share pairs = share_beside(t->own, t->below), samples;
	double weight, other;

	if (!(t->below > 0) || !(t->own_samples > 0) || !(t->below_samples > 0))
		return pairs;
	samples = share_beside(t->own_samples, t->below_samples);
	samples.sd = hypot(samples.sd, OTHERS * (1 - samples.of));
	pairs.sd = fmax(pairs.sd,
			sqrt(samples.of * (1 - samples.of) / (t->own + t->below)));
	weight = 1 / (pairs.sd * pairs.sd);
	other = 1 / (samples.sd * samples.sd);
	return (struct share){ (weight * pairs.of + other * samples.of) /
				       (weight + other),
			       1 / sqrt(weight + other) };
}

/* The share of the loop's time in the procedure's own code. */
static struct share find_own(const struct pace_sums *s, const struct pace_starts *t)
{
	const struct share part[] = {
		share_of_own(t), share_beside(t->own + t->below, t->elsewhere),
		share_beside(s->pairs, s->below), /* of their ends */
	};
	double of = 1, error = 0;

	for (int i = 0; i < 3; i++) {
		of *= part[i].of;
		error += pow(part[i].sd / part[i].of, 2);
	}
	return (struct share){ of, of * sqrt(error) };
}

/*
 * Other threads and machines change the speed of memory for longer than a pair lasts.
 * So pairs that are near each other agree, and their spread averages out only over the
 * time that was sampled.
 */
static double slow_error(const struct pace_sums *s, double ns)
{
	return s->error * sqrt(s->pairs * fmin(STEADY_NS / fmax(ns, 1), 1));
}

/* All samples of the procedure. Kept in *sum, which is NAN before the first call. */
static double procedure_samples(const struct pace_input *in, double *sum)
{
	if (!isnan(*sum))
		return *sum;
	*sum = 0;
	for (uint64_t at = in->begin; at < in->end; at++)
		*sum += in->samples(in->ctx, at);
	return *sum;
}

/*
 * The upper bound of the own code's share, if hardly any pair began there. Samples may
 * be where no pair began: an interrupt comes when an instruction retires, and the
 * instructions of a loop around a call retire together with the callee's.
 */
static double most_own(const struct pace_input *in, const struct pace_starts *t,
		       double *all)
{
	const double pairs = t->own + t->below + t->elsewhere;
	const double samples = procedure_samples(in, all);
	double most = interval_share_at(t->own, pairs, NARROW).high;

	if (t->below_samples > 0)
		most = fmax(most, samples / (samples + t->below_samples));
	return most;
}

/* all: as in procedure_samples(). */
static void measure(const struct pace_input *in, const struct pace_sums *s,
		    const struct pace_starts *t, double *all, struct pace *out)
{
	const double speed = s->executions / s->ns;
	const double samples = t->own_samples + t->below_samples;
	struct share own;
	double error = hypot(hypot(s->error, slow_error(s, samples * in->sample_ns)),
			     SYSTEMATIC);

	out->ns = 1 / speed;
	out->nr_pairs = (uint64_t)s->pairs;
	if (t->own < LEAST_OWN) {
		out->at_most = (samples + 3 * sqrt(samples + 1)) * in->sample_ns *
			       speed * exp(NARROW * error) * (s->pairs + s->below) /
			       s->pairs;
		out->first = t->first;
		out->last = t->last;
		out->high = most_own(in, t, all) * out->ns * exp(NARROW * error);
		return;
	}
	own = find_own(s, t);
	error = hypot(error, own.sd / own.of);
	error = hypot(error, pow(s->bad / (s->pairs + s->bad), 2) / 2);
	out->first = t->first;
	out->last = t->last;
	out->likely = out->ns * own.of;
	out->low = out->likely * exp(-NARROW * error);
	out->high = out->likely * exp(NARROW * error);
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
		     const struct edge *start, size_t nr_starts, double *all,
		     struct pace *out)
{
	struct pace_starts starts;
	struct pace_sums sums;

	if (!add_up(cell, nr, &sums))
		return false;
	find_starts(in, start, nr_starts, cell->from, &starts);
	if (!(starts.own + starts.below > 0))
		return false;
	*out = (struct pace){ .offset = cell->from };
	measure(in, &sums, &starts, all, out);
	return true;
}

int pace_find(const struct pace_input *in, struct arena *arena, struct pace **out,
	      size_t *nr)
{
	size_t nr_cells = 0, nr_starts = 0, nr_found = 0, first, last;
	const struct edge *cell = edges_sorted(in->pace, &nr_cells);
	const struct edge *start = edges_sorted(in->start, &nr_starts);
	double all = NAN;
	struct pace *found;

	first = edges_first_from(cell, nr_cells, in->begin);
	last = edges_first_from(cell, nr_cells, in->end);
	found = arena_array(arena, last - first + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	for (size_t i = first, end; i < last; i = end) {
		end = end_of(cell, last, i);
		nr_found += find_one(in, &cell[i], end - i, start, nr_starts, &all,
				     &found[nr_found]);
	}
	*out = found;
	*nr = nr_found;
	return 0;
}

int pace_evidence(const struct pace *p, double cycles_per_ns,
		  struct scale_evidence out[2])
{
	out[0] = (struct scale_evidence){ .offset = p->offset,
					  .kind = SCALE_CYCLES,
					  .low = p->low * cycles_per_ns,
					  .likely = p->likely * cycles_per_ns,
					  .high = p->high * cycles_per_ns,
					  .first = p->first,
					  .last = p->last,
					  .source = "pairs of samples" };
	if (p->likely > 0)
		return 1;
	out[1] = (struct scale_evidence){ .offset = p->offset,
					  .kind = SCALE_EXECUTIONS,
					  .high = p->at_most,
					  .source = "pairs of samples" };
	return 2;
}
