/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The case of one stall: finds the instructions that are near enough to be suspects,
 * asks the detectives about them, and sorts the culprits.
 */
#include "config.h"

#include "analysis/blame/blame_case.h"

#include <errno.h>
#include <inttypes.h>

#include "analysis/math/interval.h"

#define MIN_SHARE  0.05 /* of a stall; a suspect that explains less is acquitted */
#define MIN_LIKELY 0.08
#define MEASURED   30   /* fewer records of a cause do not count */
#define GROUP_MAX  8    /* instructions that retire together */
#define LEADS      0.5F /* an instruction that waits so many cycles begins a group */
#define FOLLOWER   0.95 /* factor of the weight for each following instruction */
#define BEFORE     0.55 /* weight of an instruction of an earlier group */

int blame_scene_init(struct blame_scene *scene, const struct blame_input *in,
		     struct arena *arena, struct buf *debug)
{
	int err;

	*scene = (struct blame_scene){ .in = in, .debug = debug };
	scene->address = arena_array(arena, in->cfg->nr_insns, sizeof(*scene->address));
	scene->has_address =
		arena_array(arena, in->cfg->nr_insns, sizeof(*scene->has_address));
	if (!scene->address || !scene->has_address)
		return -ENOMEM;
	err = blame_paths_init(&scene->paths, in->cfg, in->freq, arena);
	return err ? err : blame_footprints_init(&scene->footprints, in, arena);
}

static uint64_t offset_of(const struct blame_input *in, int insn)
{
	return insn < 0 ? 0 : in->cfg->insn[insn].address - in->cfg->bias;
}

void blame_acquit(struct blame_case *c, enum blame_reason reason, const char *why)
{
	if (c->scene->debug)
		buf_printf(c->scene->debug, "blame: %#" PRIx64 " rules out %s: %s\n",
			   offset_of(c->in, c->insn), blame_name(reason), why);
}

/* The most cycles of one execution that a reason can have cost, according to events. */
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

/* Hardware records about a suspect; NULL if there are too few to judge by. */
static const struct blame_measure *measure_of(const struct blame_case *c,
					      enum blame_reason reason, int insn)
{
	for (int i = 0; i < c->in->nr_measures && insn >= 0; i++) {
		const struct blame_measure *m = &c->in->measure[i];

		if (m->reason == reason && m->known[insn] >= MEASURED)
			return m;
	}
	return NULL;
}

void blame_accuse(struct blame_case *c, enum blame_reason reason, int insn,
		  double likelihood, double most)
{
	const struct blame_measure *m = measure_of(c, reason, insn);
	double limit = limit_of(c, reason, insn);
	struct suspect *s;

	if (m && !m->seen[insn]) {
		blame_acquit(c, reason, "the hardware recorded none");
		return;
	}
	if (m) {
		most *= interval_share(m->seen[insn], m->known[insn]).high;
		likelihood = 1;
	}
	limit = fmin(limit, most);
	if (limit < MIN_SHARE * c->cycles) {
		blame_acquit(c, reason, "it can explain almost nothing of the stall");
		return;
	}
	if (likelihood < MIN_LIKELY) {
		blame_acquit(c, reason, "it is very unlikely");
		return;
	}
	s = find_suspect(c, reason, insn);
	if (likelihood > s->likelihood)
		*s = (struct suspect){ reason, insn, likelihood, fmax(limit, s->most) };
}

/* A suspect that explains only a part of the stall is less likely by that factor. */
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

/*
 * How much of a stall may not exist, in cycles: if the block ran as often as the upper
 * end of its interval, each execution took that much less. It is listed as culprit
 * BLAME_FREQUENCY.
 */
static double doubt_of(const struct blame_case *c)
{
	const double cycles =
		c->in->samples[c->insn] * c->in->period_cycles / c->frequency;

	return fmax(c->cycles - cycles * c->scene->certain, 0);
}

/* The part that all culprits together cannot explain; it is listed last. */
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

int blame_group_end(const struct blame_scene *scene, int insn)
{
	const struct cfg_block *block =
		&scene->in->cfg->block[scene->paths.block_of[insn]];
	const int end = block->first_insn + block->nr_insns;
	int at = insn + 1;

	while (!scene->in->exact && at < end && at < insn + GROUP_MAX &&
	       scene->in->timing[at].head + scene->in->timing[at].front_end < LEADS)
		at++;
	return at;
}

/* Adds the instructions that retire together with it and, less likely, earlier ones. */
static void gather_group(struct blame_case *c)
{
	const int first = c->in->cfg->block[c->block].first_insn;
	const int end = blame_group_end(c->scene, c->insn);
	int before[GROUP_MAX], nr;
	double weight = 1;
	bool outside;

	for (int at = c->insn; at < end; at++, weight *= FOLLOWER)
		add_witness(c, at, weight);
	weight = BEFORE;
	for (int at = c->insn - 1;
	     at >= first && at >= c->insn - GROUP_MAX && !c->in->exact; at--) {
		add_witness(c, at, weight);
		weight *= FOLLOWER;
		if (c->in->timing[at].head > 0)
			break;
	}
	if (c->insn != first || c->in->exact)
		return;
	nr = blame_before(c->paths, first, before, GROUP_MAX, &outside);
	for (int i = 0; i < nr; i++)
		add_witness(c, before[i], BEFORE);
}

/* The instruction most often executed after the group, or -1. */
static int next_of(const struct blame_case *c)
{
	const struct cfg *cfg = c->in->cfg;
	const struct cfg_block *block = &cfg->block[c->block];
	const int end = blame_group_end(c->scene, c->insn);
	int next = -1;
	double most = 0;

	if (end < block->first_insn + block->nr_insns)
		return end;
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++)
		if (cfg->edge[e].to != cfg->exit && c->in->freq->edge[e] > most) {
			most = c->in->freq->edge[e];
			next = cfg->block[cfg->edge[e].to].first_insn;
		}
	return next;
}

static void dump_case(const struct blame_case *c)
{
	for (int i = 0; c->scene->debug && i < c->nr; i++)
		buf_printf(c->scene->debug,
			   "blame: %#" PRIx64 " %.3g cycles: %s %#" PRIx64
			   " likely %.2g most %.3g\n",
			   offset_of(c->in, c->insn), c->cycles,
			   blame_name(c->suspect[i].reason),
			   offset_of(c->in, c->suspect[i].insn),
			   c->suspect[i].likelihood, c->suspect[i].most);
}

static bool chases(const struct blame_case *c, const struct suspect *s)
{
	return c->in->data && s->insn >= 0 && c->in->data[s->insn] &&
	       (s->reason == BLAME_DCACHE || s->reason == BLAME_DTLB) &&
	       blame_follows_itself(c->paths, s->insn);
}

int blame_judge(struct blame_scene *scene, int insn, double cycles, struct arena *arena,
		struct stall *out)
{
	struct blame_case c = { .in = scene->in,
				.scene = scene,
				.paths = &scene->paths };
	struct culprit *culprit;
	double rest, doubt;

	c.insn = insn;
	c.block = c.paths->block_of[insn];
	c.frequency = c.in->freq->block[c.block];
	c.cycles = cycles;
	c.next = c.in->exact ? -1 : next_of(&c);
	gather_group(&c);
	blame_data(&c);
	blame_fetch(&c);
	blame_branches(&c);
	blame_units(&c);
	sort_suspects(&c);
	dump_case(&c);
	doubt = doubt_of(&c);
	rest = fmax(unexplained(&c) - doubt, 0);
	culprit = arena_array(arena, (size_t)c.nr + 2, sizeof(*culprit));
	if (!culprit)
		return -ENOMEM;
	for (int i = 0; i < c.nr; i++)
		culprit[i] = (struct culprit){ c.suspect[i].reason, c.suspect[i].insn,
					       fmin(c.suspect[i].most, cycles),
					       chases(&c, &c.suspect[i]) };
	if (doubt > MIN_SHARE * cycles || (!c.nr && !(rest > 0)))
		culprit[c.nr++] = (struct culprit){ BLAME_FREQUENCY, -1, doubt, false };
	if (rest > 0)
		culprit[c.nr++] =
			(struct culprit){ BLAME_UNEXPLAINED, -1, rest, false };
	*out = (struct stall){ true, cycles, culprit, c.nr };
	return 0;
}
