/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap_lookup.c - finds the mapping of an address at a time
 */
#include "config.h"

#include "abi/entry.h"
#include "base/hash.h"
#include "daemon/procmap/processmaps.h"
#include "daemon/procmap/procmap_private.h"

static bool is_selected(const struct process *p, unsigned int generation)
{
	if (generation & PROCMAP_BY_EXEC_ID)
		return !p->exec_id_known || (p->exec_id & CPI_MAX_GENERATION) ==
						    (generation & CPI_MAX_GENERATION);
	return !generation || p->generation == generation;
}

struct process *procmap_find(struct procmap *pm, uint32_t tgid, unsigned int generation,
			     uint64_t when)
{
	struct process *best = NULL;
	struct hnode *n;

	for (n = hmap_first(&pm->by_tgid, hash_u64(tgid)); n; n = hmap_next(n)) {
		struct process *p = container_of(n, struct process, node);

		if (p->tgid != tgid || p->start_ns > when ||
		    !is_selected(p, generation))
			continue;
		if (!best || p->start_ns >= best->start_ns)
			best = p;
	}
	return best;
}

/* Whether p was incomplete at any time in an interval that ends at t1. */
static bool lacks_mappings(const struct process *p, uint64_t t1)
{
	return p->incomplete && t1 >= p->incomplete_ns;
}

/*
 * Whether mapping events of p may have been lost in an interval that overlaps this one.
 */
static bool in_gap(const struct procmap *pm, const struct process *p,
		   struct time_span when)
{
	for (size_t i = 0; i < pm->nr_gaps; i++) {
		const struct gap *g = &pm->gaps[i];

		if (g->from <= when.t1 && when.t0 <= g->to &&
		    !(p && (p->start_ns > g->to || p->verified_ns >= g->to)))
			return true;
	}
	return false;
}

/* Collects the distinct pairs of image and offset that an address had. */
struct candidates {
	struct known_image *image;
	uint64_t bias, since_ns;
	uint64_t end; /* the pairs are the same for all addresses up to here */
	int nr;
	bool is_gap; /* one of the processes was incomplete */
};

static void end_before(struct candidates *c, uint64_t end)
{
	if (c->end > end)
		c->end = end;
}

static void add_candidate(struct candidates *c, const struct range *r)
{
	struct known_image *image = r->value;

	end_before(c, r->end);
	if (c->nr && c->image == image && c->bias == r->bias)
		return;
	c->image = image;
	c->bias = r->bias;
	c->since_ns = r->since;
	c->nr++;
}

/* Adds what p had mapped at pc during its part of the interval. */
static void look_in(const struct process *p, uint64_t pc, struct time_span when,
		    struct candidates *c)
{
	const struct maps *maps = p->maps;
	const struct range *r;

	c->is_gap |= lacks_mappings(p, when.t1);
	if (!maps)
		return;
	r = rangemap_find(&maps->live, pc);
	if (when.t0 < p->start_ns)
		when.t0 = p->start_ns;
	if (p->superseded && when.t1 > p->end_ns)
		when.t1 = p->end_ns;

	if (r && r->since <= when.t1)
		add_candidate(c, r);
	else
		end_before(c, pc + 1);
	for (size_t i = 0; i < maps->nr_retired; i++) {
		const struct retired *old = &maps->retired[i];

		if (old->range.since > when.t1 || old->until < when.t0)
			continue;
		if (pc < old->range.start)
			end_before(c, old->range.start);
		else if (pc < old->range.end)
			add_candidate(c, &old->range);
	}
}

/* Computes the result from the candidates. p is NULL if there is no such process. */
static enum procmap_result judge(const struct procmap *pm, struct process *p,
				 const struct candidates *c, struct time_span when,
				 struct procmap_hit *out)
{
	out->process = p;
	out->end = c->end;
	if (c->is_gap || in_gap(pm, p, when))
		return PROCMAP_GAP;
	if (!p)
		return PROCMAP_NO_PROCESS;
	if (!c->nr)
		return PROCMAP_NO_MAPPING;
	if (c->nr > 1)
		return PROCMAP_AMBIGUOUS;
	out->image = c->image;
	out->bias = c->bias;
	out->since_ns = c->since_ns;
	return PROCMAP_FOUND;
}

enum procmap_result procmap_lookup(struct procmap *pm, uint32_t tgid,
				   unsigned int generation, uint64_t pc,
				   struct time_span when, struct procmap_hit *out)
{
	struct candidates c = { .end = UINT64_MAX };
	struct process *last = NULL;
	struct hnode *n;

	for (n = hmap_first(&pm->by_tgid, hash_u64(tgid)); n; n = hmap_next(n)) {
		struct process *p = container_of(n, struct process, node);

		if (p->tgid != tgid || p->start_ns > when.t1 ||
		    (p->superseded && p->end_ns < when.t0) ||
		    !is_selected(p, generation))
			continue;
		if (!last || p->start_ns >= last->start_ns)
			last = p;
		look_in(p, pc, when, &c);
	}
	return judge(pm, last, &c, when, out);
}

enum procmap_result procmap_lookup_in(struct procmap *pm, struct process *process,
				      uint64_t pc, uint64_t when,
				      struct procmap_hit *out)
{
	const struct time_span moment = { when, when };
	struct candidates c = { .end = UINT64_MAX };

	if (process)
		look_in(process, pc, moment, &c);
	return judge(pm, process, &c, moment, out);
}
