/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SOSP'97 section 6.3: computes CPI, static stalls, and for each dynamic stall the
 * suspects that evidence does not rule out.
 *
 * Deviations from the paper:
 * - A dynamic stall is listed only if the samples are more than ERRORS standard
 *   deviations above the schedule: those of the instruction alone, or, if these are too
 *   few, those of the remaining instructions of its equivalence class (freq.class)
 *   together.
 * - Culprits are ordered by their likelihood, multiplied by the part of the stall that
 *   they can explain. The likelihoods come from the checks in blame_data.c,
 *   blame_fetch.c, blame_branch.c and blame_units.c (the "detectives").
 * - The schedule gives an instruction's waits if its block repeats alone, in the steady
 *   state. If the scale of the frequencies was measured (freq.anchored), these waits
 *   are static stalls. Otherwise cycles per execution are not known exactly, with two
 *   consequences. If a schedule needs more time than the block's samples have, it is
 *   scaled down, and gives only the proportions of the static stalls. If it has only
 *   the minimum of a wait (the latency depends on data, a jump may be mispredicted, or
 *   the code does not fit into the cache), the whole wait is a dynamic stall.
 *
 * I1  cycles = execute + Σ stalls - gain + error, for each instruction
 */
#include "config.h"

#include "analysis/blame/blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/blame/blame_case.h"

#define ERRORS     2.0  /* standard deviations of a number of samples */
#define MIN_CYCLES 0.25 /* shorter stalls are not listed */
#define MAX_STALLS 4    /* the static stalls, and a dynamic one */
#define MAX_JUMPS  4    /* before an instruction */
#define MAX_COPIES 4    /* of a value, from register to register */
#define EXECUTE    1.0  /* most cycles of pure execution, if the latency varies */

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

/* Cycles of static stalls. */
struct waits {
	double front_end, dependency, unit;
};

/* An instruction's time as the schedule divides it, and the remaining time. */
struct split {
	struct waits waits;
	struct waits moved; /* those that its own samples do not show */
	double expected;    /* cycles without a dynamic stall */
	double excess;      /* beyond execution and these waits; may be below 0 */
	bool stalls;        /* beyond sampling errors */
	bool refilled; /* it may wait for a mispredicted jump; no waits are moved to it
			*/
};

static double cycles_of(const struct waits *w)
{
	return w->front_end + w->dependency + w->unit;
}

static void add_part(struct waits *to, const struct waits *from, double part)
{
	to->front_end += from->front_end * part;
	to->dependency += from->dependency * part;
	to->unit += from->unit * part;
}

/*
 * The samples of those instructions of a class that do not differ significantly from
 * the schedule by themselves, and the samples that the schedule expects of them.
 */
struct rest {
	double samples, expected;
};

struct finding {
	const struct blame_input *in;
	struct arena *arena;
	struct blame_scene scene;
	struct blame_insn *insn;
	struct split *split; /* by instruction */
	struct rest *rest;   /* by class */
};

static int accuse_static(struct finding *f, enum blame_reason reason, int insn,
			 double cycles, struct stall *out)
{
	struct culprit *culprit = arena_alloc(f->arena, sizeof(*culprit));

	if (!culprit)
		return -ENOMEM;
	*culprit = (struct culprit){ reason, insn, cycles, false };
	*out = (struct stall){ false, cycles, culprit, 1 };
	return 0;
}

static int by_cycles(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;

	return x->cycles < y->cycles ? 1 : x->cycles > y->cycles ? -1 : 0;
}

/*
 * The instruction whose result this one waits for, or -1. A copy of a register takes no
 * time of its own, so that of what it copies.
 */
static int producer_of(const struct finding *f, int insn)
{
	const struct cfg_block *block =
		&f->in->cfg->block[f->scene.paths.block_of[insn]];
	int from = -1;

	for (int i = 0; i < MAX_COPIES && f->in->timing[insn].culprit >= 0; i++) {
		from = insn = block->first_insn + f->in->timing[insn].culprit;
		if (!(f->in->cfg->insn[insn].kind & INSN_MOVE))
			break;
	}
	return from;
}

static int list_stalls(struct finding *f, int insn)
{
	const struct split *s = &f->split[insn];
	struct blame_insn *x = &f->insn[insn];
	struct stall stall[MAX_STALLS];
	int nr = 0, err = 0;

	if (s->stalls)
		err = blame_judge(&f->scene, insn, s->excess, f->arena, &stall[nr++]);
	if (!err && s->waits.front_end > 0)
		err = accuse_static(f, BLAME_FRONT_END, -1, s->waits.front_end,
				    &stall[nr++]);
	if (!err && s->waits.dependency > 0)
		err = accuse_static(f, BLAME_DEPENDENCY, producer_of(f, insn),
				    s->waits.dependency, &stall[nr++]);
	if (!err && s->waits.unit > 0)
		err = accuse_static(f, BLAME_FUNCTION_UNIT, -1, s->waits.unit,
				    &stall[nr++]);
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
	return f->in->freq->anchored;
}

/* Whether the instruction waits for a result whose latency depends on data. */
static bool has_varying_operand(struct finding *f, int insn)
{
	const struct insn *at = &f->in->cfg->insn[insn];

	for (unsigned int reg = ISA_GENERAL; reg < ISA_NR_REGISTERS; reg++) {
		struct blame_writers w = { 0 };

		if (isa_has(&at->reads, reg))
			blame_find_writers(&f->scene.paths, insn, reg, &w);
		for (int i = 0; i < w.nr; i++)
			if (blame_varies(&f->scene, w.insn[i]))
				return true;
	}
	return false;
}

/*
 * Whether it is in the first group after a jump that is often mispredicted. Such a
 * group waits until it has been fetched. By then the schedule's waits are over, too.
 */
static bool may_be_refilled(const struct finding *f, int insn)
{
	const struct blame_scene *scene = &f->scene;
	const int first = f->in->cfg->block[scene->paths.block_of[insn]].first_insn;
	int before[MAX_JUMPS], nr;
	bool outside;

	if (is_anchored(f) || insn >= blame_group_end(scene, first))
		return false;
	nr = blame_before(&scene->paths, first, before, MAX_JUMPS, &outside);
	for (int i = 0; i < nr; i++)
		if (blame_may_mispredict(scene, before[i]))
			return true;
	return false;
}

/*
 * Whether the block's code comes late, because it does not stay in the cache or the
 * TLB. Until it comes, operands and units get ready, so the schedule's waits are over.
 */
static bool comes_late(const struct finding *f, int insn)
{
	const int b = f->scene.paths.block_of[insn];
	const struct blame_overflow over =
		blame_overflows(&f->scene.footprints, f->in->freq->block[b]);

	return !is_anchored(f) && (over.cache || over.tlb);
}

/* Whether, for some instruction of the group, the wait in the schedule is a minimum. */
static bool waits_for_data(struct finding *f, int insn)
{
	const int end = blame_group_end(&f->scene, insn);

	if (is_anchored(f))
		return false;
	for (int i = insn; i < end; i++)
		if (blame_varies(&f->scene, i) || blame_may_mispredict(&f->scene, i))
			return true;
	return f->in->timing[insn].dependency > 0 && has_varying_operand(f, insn);
}

/*
 * Returns the factor that scales a block's schedule down. It is below 1 only if the
 * scale of the frequencies is not known and the schedule needs more time than the
 * samples have.
 */
static double scale_of(const struct finding *f, const struct cfg_block *block)
{
	double cycles = 0, best = 0;

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		cycles += f->insn[i].cycles;
		best += f->insn[i].best;
	}
	return is_anchored(f) || cycles >= best ? 1 : cycles / best;
}

/* Moves waits beyond this many cycles to moved. */
static void shrink_waits(struct split *s, double cycles)
{
	const double all = cycles_of(&s->waits);
	const double rest = all > fmax(cycles, 0) ? 1 - fmax(cycles, 0) / all : 0;

	add_part(&s->moved, &s->waits, rest);
	add_part(&s->waits, &s->waits, -rest);
}

static void split_cycles(struct finding *f, int insn, double scale)
{
	const struct isa_timing *t = &f->in->timing[insn];
	struct blame_insn *x = &f->insn[insn];
	struct split *s = &f->split[insn];

	s->refilled = may_be_refilled(f, insn);
	if (s->refilled || comes_late(f, insn) ||
	    (x->cycles > 0 && waits_for_data(f, insn))) {
		x->execute = scale * fmin(t->execute, EXECUTE);
	} else {
		s->waits = (struct waits){ scale * t->front_end, scale * t->dependency,
					   scale * t->unit };
		x->execute = scale * t->execute;
	}
	s->expected = x->execute + cycles_of(&s->waits);
	if (!is_anchored(f))
		shrink_waits(s, x->cycles - x->execute);
	s->excess = x->cycles - x->execute - cycles_of(&s->waits);
}

/* Whether two numbers of samples differ by more than chance explains. */
static bool differs(double samples, double expected)
{
	return fabs(samples - expected) > ERRORS * sqrt(fmax(samples, 1));
}

static double samples_of(const struct finding *f, int b, double cycles)
{
	return cycles * f->in->freq->block[b] / f->in->period_cycles;
}

static void find_excess(struct finding *f, int b, int insn)
{
	struct split *s = &f->split[insn];
	const double samples = f->in->samples[insn];
	const double excess = samples_of(f, b, s->excess);

	s->stalls = s->excess >= MIN_CYCLES && differs(samples, samples - excess);
	if (s->excess < 0 && differs(samples, samples - excess))
		f->insn[insn].gain = -s->excess;
	if (!s->stalls && !(f->insn[insn].gain > 0)) {
		f->rest[f->in->freq->class[b]].samples += samples;
		f->rest[f->in->freq->class[b]].expected +=
			samples_of(f, b, s->expected);
	}
}

/* How much of a block's executions is left at the low end of its interval. */
static double sure_of(const struct freq *freq, int b)
{
	return freq->block_range ? freq->block_range[b].low / freq->block[b] : 1;
}

/* How much more often a block may have run, at the high end of its interval. */
static double more_of(const struct freq *freq, int b)
{
	return freq->block_range ? freq->block_range[b].high / freq->block[b] : 1;
}

static double movable(const struct split *s)
{
	return s->refilled ? 0 : fmax(s->excess, 0);
}

/*
 * Instructions that retire together have their samples at one of them. So if an
 * instruction's samples do not show its waits, these waits are part of the excess of
 * other instructions of the block, and that part is not a dynamic stall.
 */
static void move_waits(struct finding *f, const struct cfg_block *block)
{
	const int end = block->first_insn + block->nr_insns;
	struct waits moved = { 0 };
	double excess = 0, cycles;

	for (int i = block->first_insn; i < end; i++) {
		add_part(&moved, &f->split[i].moved, 1);
		excess += movable(&f->split[i]);
	}
	cycles = cycles_of(&moved);
	for (int i = block->first_insn; i < end && cycles > 0 && excess > 0; i++) {
		struct split *s = &f->split[i];
		const double part = movable(s) / excess * fmin(cycles, excess);

		add_part(&s->waits, &moved, part / cycles);
		s->expected += part;
		s->excess -= part;
	}
}

static void split_block(struct finding *f, int b)
{
	const struct cfg_block *block = &f->in->cfg->block[b];
	const int end = block->first_insn + block->nr_insns;
	double scale;

	for (int i = block->first_insn; i < end; i++) {
		f->insn[i].cycles = f->in->samples[i] * f->in->period_cycles /
				    f->in->freq->block[b];
		f->insn[i].sure = sure_of(f->in->freq, b);
		f->insn[i].more = more_of(f->in->freq, b);
	}
	scale = scale_of(f, block);
	for (int i = block->first_insn; i < end; i++)
		split_cycles(f, i, scale);
	if (!f->in->exact)
		move_waits(f, block);
	for (int i = block->first_insn; i < end; i++)
		find_excess(f, b, i);
}

/*
 * Returns the share of a block's time that is certainly stalls: the time above the
 * best case, if the block ran as often as the upper end of its interval.
 */
static double certain_of(const struct finding *f, int b)
{
	const struct cfg_block *block = &f->in->cfg->block[b];
	const struct freq *freq = f->in->freq;
	double cycles = 0, best = 0, least;

	if (!freq->block_range)
		return 1;
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		cycles += f->insn[i].cycles;
		best += f->in->timing[i].head + f->in->timing[i].front_end;
	}
	least = cycles * freq->block[b] / freq->block_range[b].high;
	return cycles > 0 ? fmax(least - best, 0) / cycles : 0;
}

/* Removes entries that are not causes: too low a frequency, and "unexplained". */
static void keep_causes(struct stall *s)
{
	int nr = s->nr;

	while (nr && (s->culprit[nr - 1].reason == BLAME_FREQUENCY ||
		      s->culprit[nr - 1].reason == BLAME_UNEXPLAINED))
		nr--;
	s->nr = nr;
}

/*
 * If the block ran more rarely than estimated, less of its time was execution and
 * static stalls, and more was dynamic stalls. So the instruction had a longer dynamic
 * stall than the listed one, or had one although none is listed.
 */
static int find_possible(struct finding *f, int b, int insn)
{
	const struct split *s = &f->split[insn];
	struct blame_insn *x = &f->insn[insn];
	const double known = x->execute + cycles_of(&s->waits);
	const double cycles =
		(1 - x->sure) * fmin(known, x->cycles) + fmax(x->error, 0);
	const double samples = f->in->samples[insn];
	int err;

	if (!(x->sure < 1) || !(cycles >= MIN_CYCLES * x->sure) ||
	    !differs(samples, samples - samples_of(f, b, cycles)))
		return 0;
	err = blame_judge(&f->scene, insn, cycles, f->arena, &x->possible);
	if (!err)
		keep_causes(&x->possible);
	return err;
}

/*
 * If samples are thinly spread, like those of cache misses in long code, those of all
 * blocks that run equally often (one equivalence class) are tested together.
 */
static int find_stalls(struct finding *f, int b)
{
	const struct cfg_block *block = &f->in->cfg->block[b];
	const struct rest *rest = &f->rest[f->in->freq->class[b]];
	const bool together = rest->samples > rest->expected &&
			      differs(rest->samples, rest->expected);
	int err = 0;

	f->scene.certain = certain_of(f, b);
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns && !err;
	     i++) {
		struct split *s = &f->split[i];

		s->stalls |= together && s->excess >= MIN_CYCLES;
		if (!s->stalls && !(f->insn[i].gain > 0))
			f->insn[i].error = s->excess;
		err = list_stalls(f, i);
		if (!err)
			err = find_possible(f, b, i);
	}
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

static int begin_finding(struct finding *f, struct buf *debug)
{
	const struct blame_input *in = f->in;

	f->insn = arena_array(f->arena, in->cfg->nr_insns, sizeof(*f->insn));
	f->split = arena_array(f->arena, in->cfg->nr_insns, sizeof(*f->split));
	f->rest = arena_array(f->arena, in->freq->nr_classes, sizeof(*f->rest));
	if (!f->insn || !f->split || !f->rest)
		return -ENOMEM;
	for (int i = 0; i < in->cfg->nr_insns; i++) {
		f->insn[i].best = in->timing[i].head + in->timing[i].front_end;
		f->insn[i].cycles = NAN;
	}
	return blame_scene_init(&f->scene, in, f->arena, debug);
}

int blame_find(const struct blame_input *in, struct arena *arena, struct buf *debug,
	       struct blame **out)
{
	struct finding f = {
		.in = in,
		.arena = arena,
	};
	struct blame *blame = arena_alloc(arena, sizeof(*blame));
	int err = blame ? begin_finding(&f, debug) : -ENOMEM;

	if (err)
		return err;
	for (int b = 0; b < in->cfg->exit; b++)
		if (is_known(in, b))
			split_block(&f, b);
	for (int b = 0; b < in->cfg->exit && !err; b++) {
		if (is_known(in, b))
			err = find_stalls(&f, b);
		count_block(&f, b, &blame->summary);
	}
	if (err)
		return err;
	blame->insn = f.insn;
	*out = blame;
	return 0;
}
