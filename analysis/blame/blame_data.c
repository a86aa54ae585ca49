/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D-cache, DTLB and store buffer.
 *
 * SOSP'97 section 6.3 and its slides ask whether the last writer of an operand register
 * is a load. This search also continues through instructions that only compute. On an
 * out-of-order core a load itself waits at the head of the reorder buffer until its
 * data arrive. So a load among the stalled instructions is the first suspect; the loads
 * that produced its operands are less likely.
 *
 * Where windows saw an instruction's addresses, the model of caches (analysis/data/)
 * says how many of its executions miss: at most that many wait, for as long as the next
 * level takes.
 *
 * An access whose address stays the same is acquitted: on the frequent paths the line
 * has been in the cache since the last time. But a load also waits if a store shortly
 * before has written only a part of its bytes, which cannot be forwarded to it. That
 * counts as D-cache, because the load waits for the cache.
 */
#include "config.h"

#include "analysis/blame/blame_case.h"
#include "analysis/math/interval.h"

#define MOST_CYCLES 1000.0 /* a miss, or a page walk, while others use the memory */
#define MAX_DEPTH   4   /* instructions between a load and the one that waits for it */
#define MAX_LOADS   16  /* in one search */
#define FARTHER     0.8 /* factor for a load one instruction farther away */

/*
 * The most cycles that a load waits, beyond a hit, for a store before it that has
 * written only a part of its bytes: until the store has reached the cache.
 */
#define PARTIAL_CYCLES 40
#define SOME_WAIT      0.01 /* share of the loads; fewer do not explain a stall */
#define Z_90           1.645

#define LEAST_LIKELY 0.1 /* of a suspect whose expected misses explain nothing */
#define MOST_LIKELY  0.95

/* The likelihoods that an access with such an address causes a stall. */
struct likelihood {
	double cache, tlb, store;
};

static const struct likelihood likelihoods[] = {
	[ADDRESS_FIXED] = { 0, 0, 0 },          [ADDRESS_NEAR] = { 0.1, 0, 0.25 },
	[ADDRESS_STEPS] = { 0.35, 0.1, 0.5 },   [ADDRESS_PAGES] = { 0.6, 0.8, 0.4 },
	[ADDRESS_COMPUTED] = { 0.7, 0.4, 0.5 }, [ADDRESS_LOADED] = { 0.85, 0.4, 0.55 },
};

/* The share of steps that reach another granule. */
static double crossings(struct address a, double granule)
{
	if (a.walk != ADDRESS_STEPS || !a.stride)
		return 1;
	return fmin(fabs((double)a.stride) / granule, 1);
}

/*
 * Steps of a page or more count as ADDRESS_PAGES; for steps of unknown size the
 * cache and TLB likelihoods are averages of both.
 */
static struct likelihood likelihood_of(struct address a)
{
	const struct likelihood step = likelihoods[ADDRESS_STEPS];
	const struct likelihood leap = likelihoods[ADDRESS_PAGES];

	if (a.walk != ADDRESS_STEPS)
		return likelihoods[a.walk];
	if (!a.stride)
		return (struct likelihood){ (step.cache + leap.cache) / 2,
					    (step.tlb + leap.tlb) / 2, step.store };
	return crossings(a, ADDRESS_PAGE) < 1 ? step : leap;
}

struct address blame_address_of(struct blame_scene *scene, int insn)
{
	if (!scene->has_address[insn])
		scene->address[insn] =
			blame_find_address(scene->in->isa, &scene->paths, insn);
	scene->has_address[insn] = true;
	return scene->address[insn];
}

static bool reads_memory(const struct insn *insn)
{
	return insn->kind & INSN_LOAD && !(insn->kind & (INSN_RETURN | INSN_PREFETCH));
}

static bool writes_memory(const struct insn *insn)
{
	return insn->kind & INSN_STORE && !(insn->kind & INSN_CALL);
}

/*
 * Returns the share of the loads that wait for a store which wrote only a part of their
 * bytes; 0 if windows saw none.
 */
static struct interval find_waits(const struct blame_case *c, int insn)
{
	const struct data_insn *d = c->in->data ? c->in->data[insn] : NULL;

	if (!d || !d->from->partial)
		return (struct interval){ 0 };
	return interval_share_at((double)d->from->partial, (double)d->from->known,
				 Z_90);
}

/*
 * Changes nothing unless windows saw the addresses. Then the cycles that the
 * instruction is expected to wait for caches (or for TLBs: granule) are divided by
 * those of the stall, or of the longer of the two waits if that is longer. This gives
 * *likelihood. Also lowers *most, which the caller sets to a bound for misses, to the
 * most that the model allows, and adds the wait for partial stores.
 */
static void expect_misses(const struct blame_case *c, int insn,
			  enum accesses_granule granule, double *likelihood,
			  double *most)
{
	const struct data_insn *d = c->in->data ? c->in->data[insn] : NULL;
	struct interval waits;
	double cycles[ACCESSES_NR_GRANULES], longest = c->cycles;

	if (!d)
		return;
	waits = find_waits(c, insn);
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++) {
		cycles[g] = d->wait[g].alone;
		if (g == ACCESSES_LINES)
			cycles[g] += waits.value * PARTIAL_CYCLES;
		longest = fmax(longest, cycles[g]);
	}
	*likelihood = fmax(LEAST_LIKELY, MOST_LIKELY * cycles[granule] / longest);
	*most = fmin(*most, d->wait[granule].most);
	if (granule == ACCESSES_LINES)
		*most += waits.high * PARTIAL_CYCLES;
}

static void accuse_tlb(struct blame_case *c, int insn, double weight, struct address a)
{
	double l = likelihood_of(a).tlb,
	       most = crossings(a, ADDRESS_PAGE) * MOST_CYCLES;

	expect_misses(c, insn, ACCESSES_PAGES, &l, &most);
	blame_accuse(c, BLAME_DTLB, insn, weight * l, most);
}

static void accuse_load(struct blame_case *c, int insn, double weight)
{
	const struct address a = blame_address_of(c->scene, insn);
	const double share = crossings(a, ADDRESS_LINE);
	double l = likelihood_of(a).cache, most = share * MOST_CYCLES;

	if (a.walk == ADDRESS_FIXED && find_waits(c, insn).value < SOME_WAIT) {
		blame_acquit(c, BLAME_DCACHE, "it always loads from the same address");
		return;
	}
	/* Steps within a line are prefetched well; steps to a new line may not be. */
	if (a.walk == ADDRESS_STEPS && share == 1 && a.stride)
		l = fmax(l, 0.5);
	expect_misses(c, insn, ACCESSES_LINES, &l, &most);
	blame_accuse(c, BLAME_DCACHE, insn, weight * l, most);
	if (a.walk != ADDRESS_FIXED)
		accuse_tlb(c, insn, weight, a);
}

static void accuse_store(struct blame_case *c, int insn, double weight)
{
	const struct address a = blame_address_of(c->scene, insn);

	if (a.walk == ADDRESS_FIXED) {
		blame_acquit(c, BLAME_STORE, "it always stores to the same address");
		return;
	}
	blame_accuse(c, BLAME_STORE, insn, weight * likelihood_of(a).store,
		     BLAME_NO_LIMIT);
	accuse_tlb(c, insn, weight * 0.5, a);
}

/* The loads whose results an instruction waits for, nearest first. */
struct load_trace {
	int insn[MAX_LOADS], depth[MAX_LOADS];
	int nr;
};

static void trace_add(struct load_trace *t, int insn, int depth)
{
	for (int i = 0; i < t->nr; i++)
		if (t->insn[i] == insn)
			return;
	if (t->nr < MAX_LOADS && depth <= MAX_DEPTH) {
		t->insn[t->nr] = insn;
		t->depth[t->nr++] = depth;
	}
}

static void trace_operands(struct blame_case *c, struct load_trace *t, int at)
{
	const struct insn *insn = blame_case_insn(c, t->insn[at]);

	for (unsigned int reg = 1; reg < ISA_NR_REGISTERS; reg++) {
		struct blame_writers w = { 0 };

		if (isa_has(&insn->reads, reg) && reg != ISA_PC)
			blame_find_writers(c->paths, t->insn[at], reg, &w);
		for (int i = 0; i < w.nr; i++)
			trace_add(t, w.insn[i], t->depth[at] + 1);
	}
}

/*
 * Accuses the loads of the operands. The search ends at each load that it finds: what
 * that load's address was made of does not matter.
 */
static void accuse_operands(struct blame_case *c)
{
	struct load_trace t = { { c->insn }, { 0 }, 1 };

	for (int i = 0; i < t.nr; i++) {
		const struct insn *insn = blame_case_insn(c, t.insn[i]);

		if (i && reads_memory(insn))
			accuse_load(c, t.insn[i], pow(FARTHER, t.depth[i]));
		else if (!(insn->kind & INSN_CALL))
			trace_operands(c, &t, i);
	}
}

void blame_data(struct blame_case *c)
{
	for (int i = 0; i < c->nr_group; i++) {
		const struct insn *insn = blame_case_insn(c, c->group[i].insn);

		if (reads_memory(insn))
			accuse_load(c, c->group[i].insn, c->group[i].weight);
		if (writes_memory(insn))
			accuse_store(c, c->group[i].insn, c->group[i].weight);
	}
	if (c->next >= 0 && writes_memory(blame_case_insn(c, c->next)))
		accuse_store(c, c->next, BLAME_NEXT);
	accuse_operands(c);
}

bool blame_varies(struct blame_scene *scene, int insn)
{
	const struct insn *at = &scene->in->cfg->insn[insn];
	struct address a;

	if (at->kind & (INSN_DIVIDE | INSN_ATOMIC | INSN_FENCE | INSN_REPEAT))
		return true;
	if (!reads_memory(at) && !writes_memory(at))
		return false;
	a = blame_address_of(scene, insn);
	if (writes_memory(at) && a.walk >= ADDRESS_STEPS)
		return true;
	return a.walk > ADDRESS_STEPS ||
	       (a.walk == ADDRESS_STEPS && crossings(a, ADDRESS_LINE) == 1);
}
