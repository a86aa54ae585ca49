/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SOSP'97 section 6.3: CPI, static stalls, and for each dynamic one a case in which
 * everybody is guilty until proven innocent.
 *
 * Where we differ:
 * - A dynamic stall is told from sampling errors: it is beyond ERRORS deviations,
 *   by itself or with the others of its block.
 * - Culprits come in the order of their likelihood, which the detectives state.
 * - The schedule's waits are what an instruction waits in the steady state of its
 *   block alone. Where nothing anchors the frequencies' scale, a wait for what takes
 *   as long as its data want (blame_varies()) cannot be told from its least, and is
 *   dynamic as a whole; other waits are as long as time remains for them.
 *
 * I1  cycles = execute + Σ stalls - gain + error, for each instruction
 */
#include "config.h"

#include "analysis/blame.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/blame_case.h"

#define ERRORS      2.0  /* deviations of a number of samples */
#define MIN_CYCLES  0.25 /* of a stall */
#define MIN_SHARE   0.05 /* of a stall, for a suspect that explains less is none */
#define MIN_LIKELY  0.08
#define MAX_STALLS  4   /* the static ones, and one */
#define EXECUTE     1.0 /* cycles that what varies executes for, without waiting */
#define GROUP_FIRST 0.7 /* likely, the instruction before; and farther ones: */
#define GROUP_NEXT  0.9

const char *blame_name(enum blame_reason reason)
{
	static const char *const name[] = {
#define X(symbol, name, text) [BLAME_##symbol] = name,
		BLAME_DYNAMIC_REASONS(X) BLAME_STATIC_REASONS(X)
#undef X
	};

	return name[reason];
}

const char *blame_text(enum blame_reason reason)
{
	static const char *const text[] = {
#define X(symbol, name, text) [BLAME_##symbol] = text,
		BLAME_DYNAMIC_REASONS(X) BLAME_STATIC_REASONS(X)
#undef X
	};

	return text[reason];
}

/* How the schedule splits an instruction's time, and what is left of it. */
struct split {
	double front_end, dependency, unit;
	double excess; /* cycles beyond the schedule's; may be below 0 */
	bool stalls;   /* beyond sampling errors */
};

struct finding {
	const struct blame_input *in;
	struct arena *arena;
	struct buf *debug;
	struct blame_paths paths;
	struct blame_insn *insn;
	struct split *split; /* by instruction */
};

static uint64_t offset_of(const struct blame_input *in, int insn)
{
	return insn < 0 ? 0 : in->cfg->insn[insn].address - in->cfg->bias;
}

void blame_acquit(struct blame_case *c, enum blame_reason reason, const char *why)
{
	if (c->debug)
		buf_printf(c->debug, "blame: %#" PRIx64 " acquits %s: %s\n",
			   offset_of(c->in, c->insn), blame_name(reason), why);
}

/* Cycles of one execution that events say a reason can have cost. */
static double limit_of(const struct blame_case *c, enum blame_reason reason, int insn)
{
	double limit = BLAME_NO_LIMIT;

	for (int i = 0; i < c->in->nr_evidence; i++) {
		const struct blame_evidence *e = &c->in->evidence[i];
		double events = e->events[c->insn];

		if (e->reason != reason)
			continue;
		if (insn >= 0)
			events = fmax(events, e->events[insn]);
		limit = fmin(limit, events * e->cycles / c->frequency);
	}
	return limit;
}

static struct suspect *find_suspect(struct blame_case *c, enum blame_reason reason,
				    int insn)
{
	struct suspect *least = NULL;

	for (int i = 0; i < c->nr; i++)
		if (c->suspect[i].reason == reason && c->suspect[i].insn == insn)
			return &c->suspect[i];
	if (c->nr < BLAME_MAX_SUSPECTS) {
		c->suspect[c->nr] = (struct suspect){ reason, insn, 0, 0 };
		return &c->suspect[c->nr++];
	}
	for (int i = 0; i < c->nr; i++)
		if (!least || c->suspect[i].likelihood < least->likelihood)
			least = &c->suspect[i];
	return least;
}

void blame_accuse(struct blame_case *c, enum blame_reason reason, int insn,
		  double likelihood, double most)
{
	const double limit = fmin(most, limit_of(c, reason, insn));
	struct suspect *s;

	if (limit < MIN_SHARE * c->cycles) {
		blame_acquit(c, reason, "it explains next to nothing of the stall");
		return;
	}
	if (likelihood < MIN_LIKELY) {
		blame_acquit(c, reason, "it is most unlikely");
		return;
	}
	s = find_suspect(c, reason, insn);
	if (likelihood > s->likelihood)
		*s = (struct suspect){ reason, insn, likelihood, fmax(limit, s->most) };
}

/* A suspect that explains a part only is as much less likely. */
static double weight_of(const struct suspect *s, double cycles)
{
	return s->likelihood * fmin(s->most / cycles, 1);
}

static void sort_suspects(struct blame_case *c)
{
	for (int i = 1; i < c->nr; i++)
		for (int k = i;
		     k > 0 && weight_of(&c->suspect[k], c->cycles) >
				      weight_of(&c->suspect[k - 1], c->cycles);
		     k--) {
			const struct suspect s = c->suspect[k];

			c->suspect[k] = c->suspect[k - 1];
			c->suspect[k - 1] = s;
		}
}

/* What all together cannot explain is a culprit of its own, the last one. */
static double unexplained(const struct blame_case *c)
{
	double most = 0;

	for (int i = 0; i < c->nr; i++)
		most += c->suspect[i].most;
	return fmax(c->cycles - most, 0);
}

static void add_witness(struct blame_case *c, int insn, double weight)
{
	if (c->nr_group < BLAME_MAX_GROUP)
		c->group[c->nr_group++] = (struct blame_witness){ insn, weight };
}

/* Back to the first that the others retire with, or, of a first, to those before. */
static void gather_group(struct blame_case *c)
{
	const int first = c->in->cfg->block[c->block].first_insn;
	double weight = GROUP_FIRST;
	int before[BLAME_MAX_GROUP], at = c->insn, nr;
	bool outside;

	add_witness(c, c->insn, 1);
	if (c->in->exact)
		return;
	do {
		if (at == first)
			break;
		add_witness(c, --at, weight);
		weight *= GROUP_NEXT;
	} while (c->nr_group < BLAME_MAX_GROUP && !(c->in->timing[at].head > 0));
	if (at != first || c->insn != first)
		return;
	nr = blame_before(c->paths, first, before, BLAME_MAX_GROUP, &outside);
	for (int i = 0; i < nr; i++)
		add_witness(c, before[i], GROUP_FIRST);
}

static int next_of(const struct blame_case *c)
{
	const struct cfg *cfg = c->in->cfg;
	const struct cfg_block *block = &cfg->block[c->block];
	int next = -1;
	double most = 0;

	if (c->insn + 1 < block->first_insn + block->nr_insns)
		return c->insn + 1;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++)
		if (cfg->edge[e].to != cfg->exit && c->in->freq->edge[e] > most) {
			most = c->in->freq->edge[e];
			next = cfg->block[cfg->edge[e].to].first_insn;
		}
	return next;
}

static void dump_case(const struct blame_case *c)
{
	for (int i = 0; c->debug && i < c->nr; i++)
		buf_printf(c->debug,
			   "blame: %#" PRIx64 " %.3g cycles: %s %#" PRIx64
			   " likely %.2g most %.3g\n",
			   offset_of(c->in, c->insn), c->cycles,
			   blame_name(c->suspect[i].reason),
			   offset_of(c->in, c->suspect[i].insn),
			   c->suspect[i].likelihood, c->suspect[i].most);
}

/* The dynamic stall of an instruction, and its culprits. */
static int judge(struct finding *f, int insn, double cycles, struct stall *out)
{
	struct blame_case c = { .in = f->in, .paths = &f->paths, .debug = f->debug };
	struct culprit *culprit;
	double rest;

	c.insn = insn;
	c.block = f->paths.block_of[insn];
	c.frequency = f->in->freq->block[c.block];
	c.cycles = cycles;
	c.next = f->in->exact ? -1 : next_of(&c);
	gather_group(&c);
	blame_data(&c);
	blame_fetch(&c);
	blame_branches(&c);
	blame_units(&c);
	sort_suspects(&c);
	dump_case(&c);
	rest = unexplained(&c);
	culprit = arena_array(f->arena, (size_t)c.nr + 1, sizeof(*culprit));
	if (!culprit)
		return -ENOMEM;
	for (int i = 0; i < c.nr; i++)
		culprit[i] = (struct culprit){ c.suspect[i].reason, c.suspect[i].insn,
					       fmin(c.suspect[i].most, cycles) };
	if (rest > 0)
		culprit[c.nr++] = (struct culprit){ BLAME_UNEXPLAINED, -1, rest };
	*out = (struct stall){ true, cycles, culprit, c.nr };
	return 0;
}

static int accuse_static(struct finding *f, enum blame_reason reason, int insn,
			 double cycles, struct stall *out)
{
	struct culprit *culprit = arena_alloc(f->arena, sizeof(*culprit));

	if (!culprit)
		return -ENOMEM;
	*culprit = (struct culprit){ reason, insn, cycles };
	*out = (struct stall){ false, cycles, culprit, 1 };
	return 0;
}

static int by_cycles(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;

	return x->cycles < y->cycles ? 1 : x->cycles > y->cycles ? -1 : 0;
}

/* Whose result the instruction waits for, or -1. */
static int producer_of(const struct finding *f, int insn)
{
	const int culprit = f->in->timing[insn].culprit;

	return culprit < 0 ? -1
			   : f->in->cfg->block[f->paths.block_of[insn]].first_insn +
				     culprit;
}

static int list_stalls(struct finding *f, int insn)
{
	const struct split *s = &f->split[insn];
	struct blame_insn *x = &f->insn[insn];
	struct stall stall[MAX_STALLS];
	int nr = 0, err = 0;

	if (s->stalls)
		err = judge(f, insn, s->excess, &stall[nr++]);
	if (!err && s->front_end > 0)
		err = accuse_static(f, BLAME_FRONT_END, -1, s->front_end, &stall[nr++]);
	if (!err && s->dependency > 0)
		err = accuse_static(f, BLAME_DEPENDENCY, producer_of(f, insn),
				    s->dependency, &stall[nr++]);
	if (!err && s->unit > 0)
		err = accuse_static(f, BLAME_FUNCTION_UNIT, -1, s->unit, &stall[nr++]);
	if (err || !nr)
		return err;
	qsort(stall, (size_t)nr, sizeof(*stall), by_cycles);
	x->stall = arena_array(f->arena, (size_t)nr, sizeof(*x->stall));
	if (!x->stall)
		return -ENOMEM;
	for (int i = 0; i < nr; i++)
		x->stall[i] = stall[i];
	x->nr_stalls = nr;
	return 0;
}

static bool is_anchored(const struct finding *f)
{
	return f->in->freq->scale > CONFIDENCE_LOW;
}

/* Whether the schedule's wait is only the least of it. */
static bool waits_for_data(struct finding *f, int insn)
{
	const struct isa_timing *t = &f->in->timing[insn];
	const int producer = producer_of(f, insn);

	if (is_anchored(f))
		return false;
	return blame_varies(f->in, &f->paths, insn) ||
	       (t->dependency > 0 && producer >= 0 &&
		blame_varies(f->in, &f->paths, producer));
}

static void shrink_waits(struct split *s, double cycles)
{
	const double waits = s->front_end + s->dependency + s->unit;
	const double part = waits > fmax(cycles, 0) ? fmax(cycles, 0) / waits : 1;

	s->front_end *= part;
	s->dependency *= part;
	s->unit *= part;
}

static void split_cycles(struct finding *f, int insn)
{
	const struct isa_timing *t = &f->in->timing[insn];
	struct blame_insn *x = &f->insn[insn];
	struct split *s = &f->split[insn];

	*s = (struct split){ t->front_end, t->dependency, t->unit, 0, false };
	x->execute = t->execute;
	if (x->cycles > 0 && waits_for_data(f, insn)) {
		*s = (struct split){ .front_end = t->front_end };
		x->execute = fmin(t->execute, EXECUTE);
	}
	if (!is_anchored(f))
		shrink_waits(s, x->cycles - x->execute);
	s->excess = x->cycles - x->execute - s->front_end - s->dependency - s->unit;
}

/* Whether a number of samples is farther from another than chance takes it. */
static bool differs(double samples, double expected)
{
	return fabs(samples - expected) > ERRORS * sqrt(fmax(samples, 1));
}

static double samples_of(const struct finding *f, int b, double cycles)
{
	return cycles * f->in->freq->block[b] / f->in->period_cycles;
}

/*
 * Stalls and gains of a block. Samples that are spread thinly, as those of cache
 * misses over long code, count together.
 */
static void find_excesses(struct finding *f, int b)
{
	const struct cfg_block *block = &f->in->cfg->block[b];
	double rest = 0, rest_expected = 0;
	bool together;

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		struct split *s = &f->split[i];
		const double expected = f->in->samples[i] - samples_of(f, b, s->excess);

		s->stalls =
			s->excess >= MIN_CYCLES && differs(f->in->samples[i], expected);
		if (s->excess < 0 && differs(f->in->samples[i], expected))
			f->insn[i].gain = -s->excess;
		if (s->stalls || f->insn[i].gain > 0)
			continue;
		rest += f->in->samples[i];
		rest_expected += expected;
	}
	together = rest > rest_expected && differs(rest, rest_expected);
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		struct split *s = &f->split[i];

		if (s->excess >= MIN_CYCLES && together)
			s->stalls = true;
		if (!s->stalls && !(f->insn[i].gain > 0))
			f->insn[i].error = s->excess;
	}
}

static int find_in_block(struct finding *f, int b)
{
	const struct cfg_block *block = &f->in->cfg->block[b];
	const int end = block->first_insn + block->nr_insns;
	int err = 0;

	for (int i = block->first_insn; i < end; i++) {
		f->insn[i].cycles = f->in->samples[i] * f->in->period_cycles /
				    f->in->freq->block[b];
		split_cycles(f, i);
	}
	find_excesses(f, b);
	for (int i = block->first_insn; i < end && !err; i++)
		err = list_stalls(f, i);
	return err;
}

static bool is_known(const struct blame_input *in, int b)
{
	return !in->deferred && in->freq->block[b] > 0 && isfinite(in->freq->block[b]);
}

static void count_block(struct finding *f, int b, struct blame_summary *sum)
{
	const struct cfg_block *block = &f->in->cfg->block[b];
	const double samples_per_cycle = samples_of(f, b, 1);

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		sum->samples += f->in->samples[i];
		if (!is_known(f->in, b)) {
			sum->outside += f->in->samples[i];
			continue;
		}
		sum->tallied += f->in->samples[i];
		blame_summary_count(sum, &f->insn[i], samples_per_cycle);
	}
}

int blame_find(const struct blame_input *in, struct arena *arena, struct buf *debug,
	       struct blame **out)
{
	struct finding f = { .in = in, .arena = arena, .debug = debug };
	struct blame *blame = arena_alloc(arena, sizeof(*blame));
	int err;

	f.insn = arena_array(arena, in->cfg->nr_insns, sizeof(*f.insn));
	f.split = arena_array(arena, in->cfg->nr_insns, sizeof(*f.split));
	if (!blame || !f.insn || !f.split)
		return -ENOMEM;
	err = blame_paths_init(&f.paths, in->cfg, in->freq, arena);
	for (int i = 0; i < in->cfg->nr_insns; i++) {
		f.insn[i].best = in->timing[i].head + in->timing[i].front_end;
		f.insn[i].cycles = NAN;
	}
	for (int b = 0; b < in->cfg->exit && !err; b++) {
		if (is_known(in, b))
			err = find_in_block(&f, b);
		count_block(&f, b, &blame->summary);
	}
	if (err)
		return err;
	blame->insn = f.insn;
	*out = blame;
	return 0;
}
