/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.c - divides a change into a part of whole classes and one of single
 * instructions
 *
 * Within a class, the lowest ratios of B to A belong to the instructions that no
 * lengthened stall delays (SOSP'97 section 6.1.3 finds frequencies in this way). The
 * growth of these is due to frequency; the rest is due to stalls. A class whose ratios
 * differ by no more than chance grew as one.
 *
 * Executions are compared as logarithms with normal errors. Errors of the two sides are
 * taken for independent, although both sides have the same code: so the interval of the
 * ratio is too wide rather than too narrow.
 */
#include "config.h"

#include "analysis/freq/shape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/math/distribution.h"

/* Least samples of an instruction on both sides together. */
#define MIN_SAMPLES 20
/* Least instructions of a class with a shape. */
#define MIN_INSNS 3
/* Relative variation between runs of an instruction's samples, beyond chance. */
#define VARIATION 0.05
#define SURE      0.001
/* The part of a change that decides the verdict. */
#define MOST 0.6
/* The part of a class's samples that counts as the lowest ratios. */
#define LOW_PART 0.15
/* Deviations from which on ratios differ. */
#define DEVIATIONS 3
/* A class runs on one side only if the other one has at most this part of its samples.
 */
#define ADDED_PART 0.05
/*
 * Least steady samples on both sides together, and their least part of all samples of a
 * side: a few samples of other instructions may be blamed on them by mistake.
 */
#define MIN_STEADY  100
#define STEADY_PART 0.15
/* Deviations from the middle to an end: of a 90 % interval, and of a 95 % interval. */
#define SIDE_90 1.645
#define SIDE_95 1.96
/* Call sites grew like their callee if the logarithms differ by at most this part. */
#define AGREEMENT 0.4

/* The two sides of an instruction, swapped if it shrank; a is scaled. */
struct point {
	double a, b;
	int class;
	double steady_a, steady_b;
};

struct sum {
	double a, b;
};

static void sum_add(struct sum *s, const struct point *p)
{
	s->a += p->a;
	s->b += p->b;
}

static double ratio(struct sum s)
{
	return (s.b + 0.5) / (s.a + 0.5);
}

/* The standard deviation of the logarithm of a ratio. */
static double deviation(struct sum s)
{
	return sqrt(1 / (s.a + 0.5) + 1 / (s.b + 0.5) + VARIATION * VARIATION);
}

static int by_class_and_ratio(const void *va, const void *vb)
{
	const struct point *p = va, *q = vb;
	const double x = p->b * (q->a + 0.5), y = q->b * (p->a + 0.5);

	if (p->class != q->class)
		return p->class < q->class ? -1 : 1;
	return (x > y) - (x < y);
}

static bool is_tested(const struct point *p)
{
	return p->a + p->b >= MIN_SAMPLES;
}

/* Whether the ratios of a class differ by more than chance. */
static bool differs(const struct point *p, size_t nr, struct sum all, size_t nr_tested)
{
	double x = 0;

	for (size_t i = 0; i < nr; i++) {
		const double n = p[i].a + p[i].b, mean = n * all.b / (all.a + all.b);
		const double variance = mean * all.a / (all.a + all.b);
		const double beyond = VARIATION * variance;

		if (is_tested(&p[i]))
			x += (p[i].b - mean) * (p[i].b - mean) /
			     (variance + beyond * beyond);
	}
	return nr_tested > 1 && chi2_above(x, nr_tested - 1.0) < SURE;
}

/* The ratio of a class's instructions that grew least. */
static double low_ratio(const struct point *p, size_t nr, struct sum all)
{
	struct sum low = { 0, 0 };

	for (size_t i = 0; i < nr && low.a < LOW_PART * all.a; i++)
		sum_add(&low, &p[i]);
	return ratio(low);
}

struct shape_parts {
	double growth, stalls, uniform, added;
	struct sum grown;  /* of the classes that grew as one */
	struct sum rest;   /* of the classes that run on both sides */
	struct sum steady; /* of the steady instructions of all classes */
};

/* A logarithm with its deviation; sd 0: not known. */
struct estimate {
	double log, sd;
};

static void add_class(struct shape_parts *parts, const struct point *p, size_t nr)
{
	struct sum all = { 0, 0 };
	size_t nr_tested = 0;
	double growth, shared;

	for (size_t i = 0; i < nr; i++) {
		sum_add(&all, &p[i]);
		nr_tested += is_tested(&p[i]);
		parts->steady.a += p[i].steady_a;
		parts->steady.b += p[i].steady_b;
	}
	growth = all.b - all.a;
	parts->growth += growth;
	if (all.b >= MIN_SAMPLES && all.a <= ADDED_PART * all.b) {
		parts->added += growth;
	} else {
		parts->rest.a += all.a;
		parts->rest.b += all.b;
	}
	if (differs(p, nr, all, nr_tested)) {
		shared = all.a * fmax(0, low_ratio(p, nr, all) - 1);
		parts->stalls += growth - fmin(shared, fmax(growth, 0));
	} else if (nr_tested >= MIN_INSNS &&
		   log(ratio(all)) > DEVIATIONS * deviation(all)) {
		parts->uniform += growth;
		parts->grown.a += all.a;
		parts->grown.b += all.b;
	}
}

/* Whether code outside the grown classes grew by far less; then a loop grew. */
static bool others_stayed(const struct shape_parts *parts, struct sum all)
{
	const struct sum rest = { all.a - parts->grown.a, all.b - parts->grown.b };
	const double grown = log(ratio(parts->grown)), stayed = log(ratio(rest));
	const double sd = hypot(deviation(parts->grown), deviation(rest));

	return rest.a + rest.b >= MIN_SAMPLES && stayed < grown / 2 &&
	       grown - stayed > DEVIATIONS * sd;
}

/* Whether the calls in its callers grew by the same factor. */
static bool calls_grew(struct sum calls, struct sum grown)
{
	const double own = log(ratio(grown));

	return fmin(calls.a, calls.b) >= MIN_SAMPLES / 2.0 &&
	       log(ratio(calls)) > DEVIATIONS * deviation(calls) &&
	       fabs(log(ratio(calls)) - own) <=
		       AGREEMENT * own + DEVIATIONS * deviation(calls) / 2;
}

/* Whether the growth is of code that did not run before, beside code that stayed. */
static bool code_was_added(const struct shape_parts *parts, struct sum all)
{
	const double grown = log(ratio(all)), stayed = log(ratio(parts->rest));

	return parts->added >= MOST * parts->growth &&
	       parts->rest.a + parts->rest.b >= MIN_STEADY && stayed < grown / 2 &&
	       grown - stayed > DEVIATIONS * deviation(parts->rest);
}

/* The ratio of two measured numbers, b over a. */
static struct estimate measured_ratio(const struct freq_interval *a,
				      const struct freq_interval *b)
{
	struct estimate e = { 0, 0 };

	if (!freq_interval_known(a) || !freq_interval_known(b))
		return e;
	e.log = log(b->likely / a->likely);
	e.sd = hypot(log(a->high / a->low), log(b->high / b->low)) / (2 * SIDE_90);
	return e;
}

/* The ratio of measured executions, of the side with more samples over the other. */
static struct estimate measured_runs(const struct shape_input *in, bool grew)
{
	struct estimate e = measured_ratio(&in->runs_a, &in->runs_b);

	if (e.sd > 0)
		e.log = (grew ? 1 : -1) * (e.log - log(in->time_size));
	return e;
}

/* The same by the steady instructions. */
static struct estimate steady_runs(struct sum steady, struct sum all)
{
	struct estimate e = { 0, 0 };

	if (steady.a + steady.b >= MIN_STEADY && steady.a >= STEADY_PART * all.a &&
	    steady.b >= STEADY_PART * all.b) {
		e.log = log(ratio(steady));
		e.sd = deviation(steady);
	}
	return e;
}

/*
 * The kind of a change, by the ratio of executions, if that is known well enough.
 * `grown` is the logarithm of the ratio of samples.
 */
static enum shape_kind kind_by_runs(struct estimate runs, double grown)
{
	if (!(runs.sd > 0))
		return SHAPE_UNDETERMINED;
	if (runs.log >= MOST * grown &&
	    runs.log - SIDE_90 * runs.sd > (1 - MOST) * grown)
		return SHAPE_FREQUENCY;
	if (runs.log <= (1 - MOST) * grown &&
	    runs.log + SIDE_90 * runs.sd < MOST * grown)
		return SHAPE_CYCLES;
	return SHAPE_UNDETERMINED;
}

static enum shape_kind choose_kind(const struct shape_parts *parts, struct sum all,
				   struct sum calls)
{
	if (parts->stalls >= MOST * parts->growth)
		return SHAPE_CYCLES;
	if (parts->uniform < MOST * parts->growth)
		return SHAPE_UNDETERMINED;
	if (others_stayed(parts, all) || calls_grew(calls, all))
		return SHAPE_FREQUENCY;
	return SHAPE_UNDETERMINED;
}

/* Both estimates together; the measured one alone if they contradict each other. */
static struct estimate join(struct estimate measured, struct estimate steady)
{
	const double a = 1 / (measured.sd * measured.sd);
	const double b = 1 / (steady.sd * steady.sd);

	if (!(measured.sd > 0))
		return steady;
	if (!(steady.sd > 0) || fabs(measured.log - steady.log) >
					DEVIATIONS * hypot(measured.sd, steady.sd))
		return measured;
	return (struct estimate){ (a * measured.log + b * steady.log) / (a + b),
				  1 / sqrt(a + b) };
}

/* Executions decide if they are known well enough, else the shape. */
static enum shape_kind judge(const struct shape_parts *parts, struct sum all,
			     struct sum calls, struct estimate measured,
			     struct estimate *runs)
{
	enum shape_kind kind;

	*runs = join(measured, steady_runs(parts->steady, all));
	if (!(parts->growth > 0))
		return SHAPE_UNDETERMINED;
	if (code_was_added(parts, all))
		return SHAPE_CYCLES;
	kind = kind_by_runs(*runs, log(ratio(all)));
	return kind == SHAPE_UNDETERMINED ? choose_kind(parts, all, calls) : kind;
}

/* Back to B over A, with the 95 % interval. */
static struct freq_interval interval_of(struct estimate runs, bool grew)
{
	const double log = grew ? runs.log : -runs.log;

	if (!(runs.sd > 0))
		return (struct freq_interval){ NAN, NAN, NAN };
	return (struct freq_interval){ exp(log - SIDE_95 * runs.sd), exp(log),
				       exp(log + SIDE_95 * runs.sd) };
}

int shape_judge(const struct shape_input *in, struct shape_verdict *out)
{
	struct point *p = calloc(in->nr + 1, sizeof(*p));
	struct sum all = { 0, 0 }, calls = { in->calls_a * in->size, in->calls_b };
	struct shape_parts parts = { 0 };
	struct estimate runs;
	bool grew;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr; i++) {
		p[i] = (struct point){ in->insn[i].a * in->size, in->insn[i].b,
				       in->insn[i].class,
				       in->insn[i].steady_a * in->size,
				       in->insn[i].steady_b };
		sum_add(&all, &p[i]);
	}
	grew = all.b > all.a;
	if (!grew) {
		all = (struct sum){ all.b, all.a };
		calls = (struct sum){ calls.b, calls.a };
	}
	for (size_t i = 0; i < in->nr && !grew; i++)
		p[i] = (struct point){ p[i].b, p[i].a, p[i].class, p[i].steady_b,
				       p[i].steady_a };
	qsort(p, in->nr, sizeof(*p), by_class_and_ratio);
	for (size_t from = 0, to; from < in->nr; from = to) {
		for (to = from + 1; to < in->nr && p[to].class == p[from].class;)
			to++;
		add_class(&parts, &p[from], to - from);
	}
	out->kind = judge(&parts, all, calls, measured_runs(in, grew), &runs);
	out->runs = interval_of(runs, grew);
	out->added = parts.growth > 0 ? parts.added / parts.growth : NAN;
	out->stalls = parts.growth > 0 ? parts.stalls / parts.growth : NAN;
	out->uniform = parts.growth > 0 ? parts.uniform / parts.growth : NAN;
	out->calls = in->calls_a > 0 && in->calls_b > 0
			     ? in->calls_b / (in->calls_a * in->size)
			     : NAN;
	free(p);
	return 0;
}

const char *shape_verdict_name(enum shape_kind kind, bool grew)
{
	switch (kind) {
	case SHAPE_CYCLES:
		return grew ? "slower" : "faster";
	case SHAPE_FREQUENCY:
		return grew ? "more often" : "less often";
	case SHAPE_UNDETERMINED:
		break;
	}
	return "undetermined";
}

const char *shape_verdict_text(enum shape_kind kind, bool grew)
{
	if (kind == SHAPE_UNDETERMINED)
		return "changed (cause unknown)";
	return shape_verdict_name(kind, grew);
}
