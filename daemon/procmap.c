/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/procmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/entry.h"
#include "base/hash.h"

/* A mapping that a newer one replaced, wholly or in part. */
struct retired {
	struct range range;
	uint64_t until;
};

struct maps {
	unsigned int nr_users;
	struct rangemap live;
	struct retired *retired;
	size_t nr_retired, cap_retired;
};

struct gap {
	uint64_t from, to;
};

struct procmap {
	struct hmap by_tgid;
	struct process *all;
	struct names names;
	struct gap *gaps;
	size_t nr_gaps;
	size_t nr_ranges;
	uint64_t nr_failed;
};

struct procmap *procmap_new(void)
{
	return calloc(1, sizeof(struct procmap));
}

static void maps_put(struct procmap *pm, struct maps *maps)
{
	if (!maps || --maps->nr_users)
		return;
	pm->nr_ranges -= maps->live.nr + maps->nr_retired;
	rangemap_fini(&maps->live);
	free(maps->retired);
	free(maps);
}

static struct maps *maps_new(void)
{
	struct maps *maps = calloc(1, sizeof(*maps));

	if (maps)
		maps->nr_users = 1;
	return maps;
}

/* What is live in p, in maps of its own, so that they may change. NULL: no memory. */
static struct maps *maps_own(struct procmap *pm, struct process *p)
{
	struct maps *copy;

	if (p->maps && p->maps->nr_users == 1)
		return p->maps;
	copy = maps_new();
	if (!copy)
		return NULL;
	if (p->maps) {
		if (rangemap_copy(&copy->live, &p->maps->live)) {
			free(copy);
			return NULL;
		}
		pm->nr_ranges += copy->live.nr;
		maps_put(pm, p->maps);
	}
	p->maps = copy;
	return copy;
}

static void process_free(struct procmap *pm, struct process *p)
{
	hmap_remove(&pm->by_tgid, &p->node);
	maps_put(pm, p->maps);
	name_put(p->cgroup);
	name_put(p->label);
	free(p);
}

void procmap_free(struct procmap *pm)
{
	if (!pm)
		return;
	while (pm->all) {
		struct process *p = pm->all;

		pm->all = p->next;
		process_free(pm, p);
	}
	hmap_fini(&pm->by_tgid);
	names_fini(&pm->names);
	free(pm->gaps);
	free(pm);
}

/* The newest incarnation of tgid, or NULL. */
static struct process *newest(struct procmap *pm, uint32_t tgid)
{
	struct hnode *n;

	for (n = hmap_first(&pm->by_tgid, hash_u64(tgid)); n; n = hmap_next(n)) {
		struct process *p = container_of(n, struct process, node);

		if (p->tgid == tgid && !p->superseded)
			return p;
	}
	return NULL;
}

static void take_exec_id(struct process *p, const struct process *from, uint32_t plus)
{
	p->exec_id = from->exec_id + plus;
	p->exec_id_as_of = from->exec_id_as_of;
	p->exec_id_known = true;
}

/* Begins a new incarnation of tgid, which ends the one before. NULL: no memory. */
static struct process *incarnate(struct procmap *pm, uint32_t tgid, uint64_t when)
{
	struct process *old = newest(pm, tgid), *p = NULL;

	if (pm->by_tgid.nr < PROCMAP_MAX_PROCESSES)
		p = calloc(1, sizeof(*p));
	if (!p || hmap_insert(&pm->by_tgid, &p->node, hash_u64(tgid))) {
		free(p);
		pm->nr_failed++;
		if (old)
			old->incomplete = true; /* what it maps now is not its own */
		return NULL;
	}
	if (old) {
		old->superseded = true;
		old->end_ns = when;
		memcpy(p->comm, old->comm, sizeof(p->comm));
		if (old->exec_id_known && when < old->exec_id_as_of) {
			/* What was asked of the kernel since is about the new one. */
			take_exec_id(p, old, 0);
			old->exec_id_known = false;
		}
	}
	p->tgid = tgid;
	p->generation = old ? old->generation % CPI_MAX_GENERATION + 1 : 1;
	p->start_ns = when;
	p->next = pm->all;
	pm->all = p;
	return p;
}

static void set_comm(struct process *p, const char *comm)
{
	strncpy(p->comm, comm, sizeof(p->comm) - 1);
	p->comm[sizeof(p->comm) - 1] = '\0';
}

/* What a process has from the one that it was, or that made it. */
static void belong(struct process *p, const struct process *from)
{
	p->cgroup = name_hold(from->cgroup);
	p->cgroup_id = from->cgroup_id;
	p->label = name_hold(from->label);
}

void procmap_fork(struct procmap *pm, uint32_t tgid, uint32_t parent, uint64_t when)
{
	struct process *from = newest(pm, parent);
	struct process *p = incarnate(pm, tgid, when);

	if (!p || !from)
		return;
	if (!p->exec_id_known && from->exec_id_known && when >= from->exec_id_as_of)
		take_exec_id(p, from, 0);
	memcpy(p->comm, from->comm, sizeof(p->comm));
	belong(p, from);
	p->incomplete = from->incomplete;
	p->maps = from->maps;
	if (p->maps)
		p->maps->nr_users++;
}

/* The incarnation that p ended, or NULL. */
static struct process *before(struct procmap *pm, const struct process *p)
{
	struct hnode *n;

	for (n = hmap_first(&pm->by_tgid, hash_u64(p->tgid)); n; n = hmap_next(n)) {
		struct process *q = container_of(n, struct process, node);

		if (q->tgid == p->tgid && q->superseded && q->end_ns == p->start_ns)
			return q;
	}
	return NULL;
}

/*
 * /proc was ahead of the records: p, which began when that was seen, is what the exec
 * at when made. It began then, and the records of its mappings are to come.
 */
static void begin_earlier(struct procmap *pm, struct process *p, uint64_t when)
{
	struct process *old = before(pm, p);

	if (old) {
		old->end_ns = when;
		if (old->exec_id_known && !p->exec_id_known)
			take_exec_id(p, old, 1);
	}
	maps_put(pm, p->maps);
	p->maps = NULL;
	p->nr_changes++;
	p->incomplete = false;
	p->start_ns = when;
}

void procmap_exec(struct procmap *pm, uint32_t tgid, const char *comm, uint64_t when)
{
	struct process *old = newest(pm, tgid), *p;

	if (old && old->start_ns > when) {
		begin_earlier(pm, old, when);
		return;
	}
	p = incarnate(pm, tgid, when);
	if (!p)
		return;
	if (old)
		belong(p, old);
	if (old && old->exec_id_known) /* and it is not about the new one already */
		take_exec_id(p, old, 1);
	set_comm(p, comm);
}

void procmap_comm(struct procmap *pm, uint32_t tgid, const char *comm)
{
	struct process *p = newest(pm, tgid);

	if (!p)
		p = incarnate(pm, tgid, PROCMAP_ALWAYS);
	if (p)
		set_comm(p, comm);
}

void procmap_exit(struct procmap *pm, uint32_t tgid, uint64_t when)
{
	struct process *p = newest(pm, tgid);

	if (p) {
		p->exited = true;
		p->end_ns = when;
	}
}

struct retirement {
	struct procmap *pm;
	struct maps *maps;
	uint64_t when;
	const struct range *by; /* NULL: nothing came in its place */
};

static void retire(void *ctx, const struct range *piece, int nr_change)
{
	struct retirement *r = ctx;
	struct maps *maps = r->maps;
	struct retired *grown;

	r->pm->nr_ranges += nr_change;
	if (r->by && piece->value == r->by->value && piece->bias == r->by->bias)
		return; /* the same again, as after mprotect */
	if (maps->nr_retired == maps->cap_retired) {
		size_t cap = maps->cap_retired ? maps->cap_retired * 2 : 8;

		grown = realloc(maps->retired, cap * sizeof(*grown));
		if (!grown) {
			r->pm->nr_failed++;
			return;
		}
		maps->retired = grown;
		maps->cap_retired = cap;
	}
	maps->retired[maps->nr_retired++] = (struct retired){ *piece, r->when };
	r->pm->nr_ranges++;
}

void procmap_map(struct procmap *pm, uint32_t tgid, const struct range *r)
{
	struct process *p = newest(pm, tgid);
	struct range range = *r;
	struct retirement retirement;
	const struct range *old;
	struct maps *maps;

	if (!p)
		p = incarnate(pm, tgid, PROCMAP_ALWAYS);
	if (!p || p->incomplete)
		return;
	old = p->maps ? rangemap_find(&p->maps->live, r->start) : NULL;
	if (old && old->value == r->value && old->bias == r->bias) {
		if (old->end >= r->end)
			return; /* known already */
		range.since = old->since;
	}
	maps = maps_own(pm, p);
	retirement = (struct retirement){ pm, maps, r->since, r };
	if (!maps || pm->nr_ranges >= PROCMAP_MAX_RANGES ||
	    maps->live.nr >= PROCMAP_MAX_OWN ||
	    rangemap_insert(&maps->live, &range, retire, &retirement)) {
		pm->nr_failed++;
		p->incomplete = true;
		return;
	}
	pm->nr_ranges++;
	p->nr_changes++;
}

const struct range *procmap_live(struct procmap *pm, uint32_t tgid, uint64_t address)
{
	struct process *p = newest(pm, tgid);

	return p && p->maps ? rangemap_find(&p->maps->live, address) : NULL;
}

void procmap_unmap(struct procmap *pm, uint32_t tgid, uint64_t start, uint64_t end,
		   uint64_t when)
{
	struct process *p = newest(pm, tgid);
	struct retirement retirement = { .pm = pm, .when = when };

	if (!p || !p->maps)
		return;
	retirement.maps = maps_own(pm, p);
	p->nr_changes++;
	if (!retirement.maps ||
	    rangemap_remove(&retirement.maps->live, start, end, retire, &retirement))
		pm->nr_failed++;
}

static void rename_to(struct procmap *pm, struct name **name, const char *text)
{
	struct name *old = *name;

	*name = text ? names_get(&pm->names, text) : NULL;
	pm->nr_failed += text && !*name;
	name_put(old);
}

void procmap_set_cgroup(struct procmap *pm, uint32_t tgid, const char *path,
			uint64_t id)
{
	struct process *p = newest(pm, tgid);

	if (!p)
		return;
	rename_to(pm, &p->cgroup, path);
	p->cgroup_id = id;
}

void procmap_set_label(struct procmap *pm, uint32_t tgid, const char *label)
{
	struct process *p = newest(pm, tgid);

	if (p)
		rename_to(pm, &p->label, label);
}

void procmap_set_exec_id(struct procmap *pm, uint32_t tgid, uint32_t id, uint64_t when)
{
	struct process *p = newest(pm, tgid);

	if (!p)
		return;
	p->exec_id = id;
	p->exec_id_as_of = when;
	p->exec_id_known = true;
}

void procmap_for_each(struct procmap *pm, void (*fn)(void *ctx, uint32_t tgid),
		      void *ctx)
{
	for (struct process *p = pm->all; p; p = p->next) {
		if (!p->superseded && !p->exited)
			fn(ctx, p->tgid);
	}
}

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

void procmap_for_each_range(const struct process *p,
			    void (*fn)(void *ctx, const struct range *r), void *ctx)
{
	for (size_t i = 0; p->maps && i < p->maps->live.nr; i++)
		fn(ctx, &p->maps->live.range[i]);
}

const struct known_image *procmap_find_image(const struct process *p,
					     bool (*is_wanted)(const char *name))
{
	for (size_t i = 0; p->maps && i < p->maps->live.nr; i++) {
		const struct known_image *image = p->maps->live.range[i].value;

		if (is_wanted(image->desc.name))
			return image;
	}
	return NULL;
}

const struct range *procmap_ranges(const struct process *p, size_t *nr)
{
	*nr = p->maps ? p->maps->live.nr : 0;
	return p->maps ? p->maps->live.range : NULL;
}

/* Were mapping events of p lost in an interval that touches [t0, t1]? */
static bool in_gap(const struct procmap *pm, const struct process *p, uint64_t t0,
		   uint64_t t1)
{
	if (p && p->incomplete)
		return true;
	for (size_t i = 0; i < pm->nr_gaps; i++) {
		const struct gap *g = &pm->gaps[i];

		if (g->from <= t1 && t0 <= g->to &&
		    !(p && (p->start_ns > g->to || p->verified_ns >= g->to)))
			return true;
	}
	return false;
}

/* Collects the distinct (image, offset) that one address had. */
struct candidates {
	struct known_image *image;
	uint64_t bias, since_ns;
	uint64_t end; /* from the address up to here they are the same */
	int nr;
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

/* What p itself held at pc during its part of [t0, t1]. */
static void look_in(const struct process *p, uint64_t pc, uint64_t t0, uint64_t t1,
		    struct candidates *c)
{
	const struct maps *maps = p->maps;
	const struct range *r = rangemap_find(&maps->live, pc);

	if (t0 < p->start_ns)
		t0 = p->start_ns;
	if (p->superseded && t1 > p->end_ns)
		t1 = p->end_ns;

	if (r && r->since <= t1)
		add_candidate(c, r);
	else
		end_before(c, pc + 1);
	for (size_t i = 0; i < maps->nr_retired; i++) {
		const struct retired *old = &maps->retired[i];

		if (old->range.since > t1 || old->until < t0)
			continue;
		if (pc < old->range.start)
			end_before(c, old->range.start);
		else if (pc < old->range.end)
			add_candidate(c, &old->range);
	}
}

/* What the candidates that were found in p (NULL: no such process) amount to. */
static enum procmap_result judge(const struct procmap *pm, struct process *p,
				 const struct candidates *c, uint64_t t0, uint64_t t1,
				 struct procmap_hit *out)
{
	out->process = p;
	out->end = c->end;
	if (in_gap(pm, p, t0, t1))
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
				   unsigned int generation, uint64_t pc, uint64_t t0,
				   uint64_t t1, struct procmap_hit *out)
{
	struct candidates c = { .end = UINT64_MAX };
	struct process *last = NULL;
	struct hnode *n;

	for (n = hmap_first(&pm->by_tgid, hash_u64(tgid)); n; n = hmap_next(n)) {
		struct process *p = container_of(n, struct process, node);

		if (p->tgid != tgid || p->start_ns > t1 ||
		    (p->superseded && p->end_ns < t0) || !is_selected(p, generation))
			continue;
		if (!last || p->start_ns >= last->start_ns)
			last = p;
		if (p->maps)
			look_in(p, pc, t0, t1, &c);
	}
	return judge(pm, last, &c, t0, t1, out);
}

enum procmap_result procmap_lookup_in(struct procmap *pm, struct process *process,
				      uint64_t pc, uint64_t when,
				      struct procmap_hit *out)
{
	struct candidates c = { .end = UINT64_MAX };

	if (process && process->maps)
		look_in(process, pc, when, when, &c);
	return judge(pm, process, &c, when, when, out);
}

void procmap_add_gap(struct procmap *pm, uint64_t from, uint64_t to)
{
	struct gap *last = pm->nr_gaps ? &pm->gaps[pm->nr_gaps - 1] : NULL;
	struct gap *grown;

	for (struct process *p = pm->all; p; p = p->next)
		p->exec_id_known = false; /* an exec may have been missed */

	if (last && from <= last->to) { /* one longer gap says the same */
		if (from < last->from)
			last->from = from;
		if (to > last->to)
			last->to = to;
		return;
	}
	grown = realloc(pm->gaps, (pm->nr_gaps + 1) * sizeof(*grown));
	if (!grown) {
		pm->nr_failed++;
		if (last) /* too long is honest, too short is not */
			last->to = to;
		return;
	}
	pm->gaps = grown;
	pm->gaps[pm->nr_gaps++] = (struct gap){ from, to };
}

/*
 * Whether all that was found is what a has. That a may have more is no wonder: no
 * record tells of munmap(), nor of data that is mapped over the end of a file's text.
 */
static bool has_ranges(const struct rangemap *a, const struct rangemap *found)
{
	for (size_t n = 0; n < found->nr; n++) {
		const struct range *y = &found->range[n];
		const struct range *x = rangemap_find(a, y->start);
		const struct known_image *i = x ? x->value : NULL, *j = y->value;

		if (!x || x->end < y->end || x->bias != y->bias ||
		    strcmp(i->desc.name, j->desc.name))
			return false;
	}
	return true;
}

void procmap_verify(struct procmap *pm, uint32_t tgid, const char *comm,
		    const struct rangemap *found, uint64_t when)
{
	static const struct rangemap none;
	struct process *old = newest(pm, tgid), *p = old;
	struct maps *maps;

	if (p && !p->exited && has_ranges(p->maps ? &p->maps->live : &none, found)) {
		p->verified_ns = when;
		set_comm(p, comm);
		return;
	}
	p = incarnate(pm, tgid, old ? when : PROCMAP_ALWAYS);
	if (!p)
		return;
	if (old && !old->exited)
		belong(p, old);
	set_comm(p, comm);
	p->verified_ns = when;
	maps = maps_own(pm, p);
	p->incomplete = !maps || found->nr > PROCMAP_MAX_OWN ||
			pm->nr_ranges + found->nr > PROCMAP_MAX_RANGES ||
			rangemap_copy(&maps->live, found);
	if (p->incomplete)
		pm->nr_failed++;
	else
		pm->nr_ranges += found->nr;
}

void procmap_settle(struct procmap *pm, uint64_t when)
{
	for (struct process *p = pm->all; p; p = p->next) {
		if (p->exited || p->superseded || p->start_ns >= when ||
		    p->verified_ns >= when)
			continue;
		p->exited = true;
		p->end_ns = when;
	}
}

static void forget_retired(struct procmap *pm, struct maps *maps, uint64_t horizon)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->nr_retired; i++) {
		if (maps->retired[i].until >= horizon)
			maps->retired[kept++] = maps->retired[i];
	}
	pm->nr_ranges -= maps->nr_retired - kept;
	maps->nr_retired = kept;
}

void procmap_forget(struct procmap *pm, uint64_t horizon,
		    bool (*is_alive)(uint32_t tgid))
{
	struct process **link = &pm->all;
	size_t kept = 0;

	while (*link) {
		struct process *p = *link;

		if ((p->superseded || p->exited) && p->end_ns < horizon &&
		    (p->superseded || !is_alive(p->tgid))) {
			*link = p->next;
			process_free(pm, p);
			continue;
		}
		if (p->maps && p->maps->nr_retired)
			forget_retired(pm, p->maps, horizon);
		link = &p->next;
	}
	for (size_t i = 0; i < pm->nr_gaps; i++) {
		if (pm->gaps[i].to >= horizon)
			pm->gaps[kept++] = pm->gaps[i];
	}
	pm->nr_gaps = kept;
}

static void mark(const struct range *r)
{
	((struct known_image *)r->value)->marked = true;
}

void procmap_mark_images(struct procmap *pm)
{
	for (struct process *p = pm->all; p; p = p->next) {
		if (!p->maps)
			continue;
		for (size_t i = 0; i < p->maps->live.nr; i++)
			mark(&p->maps->live.range[i]);
		for (size_t i = 0; i < p->maps->nr_retired; i++)
			mark(&p->maps->retired[i].range);
	}
}

size_t procmap_nr_processes(const struct procmap *pm)
{
	return pm->by_tgid.nr;
}

size_t procmap_nr_ranges(const struct procmap *pm)
{
	return pm->nr_ranges;
}

uint64_t procmap_nr_failed(const struct procmap *pm)
{
	return pm->nr_failed;
}
