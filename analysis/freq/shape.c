/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.c - divides a change into a part of whole classes and one of single
 * instructions
 *
 * Within a class, the lowest ratios of B to A belong to the instructions that no
 * lengthened stall delays (SOSP'97 section 6.1.3 finds frequencies in this way). The
 * growth of these is due to frequency; the rest is due to stalls. A class whose ratios
 * differ by no more than chance grew as one.
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
/* Call sites grew like their callee if the logarithms differ by at most this part. */
#define AGREEMENT 0.4

/* The two sides of an instruction, swapped if it shrank; a is scaled. */
struct point {
	double a, b;
	int class;
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
	double growth, stalls, uniform;
	struct sum grown; /* of the classes that grew as one */
};

static void add_class(struct shape_parts *parts, const struct point *p, size_t nr)
{
	struct sum all = { 0, 0 };
	size_t nr_tested = 0;
	double growth, shared;

	for (size_t i = 0; i < nr; i++) {
		sum_add(&all, &p[i]);
		nr_tested += is_tested(&p[i]);
	}
	growth = all.b - all.a;
	parts->growth += growth;
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

static enum shape_kind choose_kind(const struct shape_parts *parts, struct sum all,
				   struct sum calls)
{
	if (!(parts->growth > 0))
		return SHAPE_UNDETERMINED;
	if (parts->stalls >= MOST * parts->growth)
		return SHAPE_CYCLES;
	if (parts->uniform < MOST * parts->growth)
		return SHAPE_UNDETERMINED;
	if (others_stayed(parts, all) || calls_grew(calls, all))
		return SHAPE_FREQUENCY;
	return SHAPE_UNDETERMINED;
}

int shape_judge(const struct shape_input *in, struct shape_verdict *out)
{
	struct point *p = calloc(in->nr + 1, sizeof(*p));
	struct sum all = { 0, 0 }, calls = { in->calls_a * in->size, in->calls_b };
	struct shape_parts parts = { 0 };
	bool grew;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr; i++) {
		p[i] = (struct point){ in->insn[i].a * in->size, in->insn[i].b,
				       in->insn[i].class };
		sum_add(&all, &p[i]);
	}
	grew = all.b > all.a;
	if (!grew) {
		all = (struct sum){ all.b, all.a };
		calls = (struct sum){ calls.b, calls.a };
	}
	for (size_t i = 0; i < in->nr && !grew; i++)
		p[i] = (struct point){ p[i].b, p[i].a, p[i].class };
	qsort(p, in->nr, sizeof(*p), by_class_and_ratio);
	for (size_t from = 0, to; from < in->nr; from = to) {
		for (to = from + 1; to < in->nr && p[to].class == p[from].class;)
			to++;
		add_class(&parts, &p[from], to - from);
	}
	out->kind = choose_kind(&parts, all, calls);
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
