/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap.c - applies events to the process map
 *
 *	  fork, exec, or a first record
 *	                │
 *	                v
 *	 ┌─────────── LIVE ─── the tgid begins anew ──> SUPERSEDED
 *	 │ exit                                          ^      │
 *	 v                                               │      │ ended before
 *	EXITED ─────────── the tgid begins anew ─────────┘      │ the horizon
 *	 │                                                      v
 *	 └── ended before the horizon, and is not alive ──> forgotten
 *
 * No sample from before the horizon will come any more. In each state a process may
 * also be incomplete, because it has too many mappings or some were lost. Then
 * look-ups in it return PROCMAP_GAP until its mappings are read from /proc.
 */
#include "config.h"

#include "daemon/procmap/procmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/entry.h"
#include "base/grow.h"
#include "base/hash.h"
#include "daemon/procmap/processmaps.h"
#include "daemon/procmap/procmap_private.h"

/* mappings of a process after which its user is read again */
#define ASK_AGAIN_AFTER 1024
#define SPARE_SHARE     8  /* make_room() frees 1/SPARE_SHARE of the total room */
#define MAX_WALKS       64 /* at most, in one make_room() */

struct procmap *procmap_new(void)
{
	struct procmap *pm = calloc(1, sizeof(*pm));

	if (pm)
		pm->accounts = (struct accounts){
			.max_ranges = PROCMAP_MAX_RANGES,
			.max_processes = PROCMAP_MAX_PROCESSES,
		};
	return pm;
}

void procmap_set_owner(struct procmap *pm, int (*owner)(uint32_t tgid, uint32_t *uid))
{
	pm->owner = owner;
}

static void process_free(struct procmap *pm, struct process *p)
{
	pm->nr_unasked -= p->unasked;
	hmap_remove(&pm->by_tgid, &p->node);
	maps_put(&pm->accounts, p->maps);
	account_charge_process(&pm->accounts, p->account, -1);
	account_put(&pm->accounts, p->account);
	pm->nr_incomplete -= p->incomplete;
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
	accounts_fini(&pm->accounts);
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

/* ---- incomplete processes ---- */

/*
 * Makes p incomplete from `when` on. If it becomes incomplete again soon after it was
 * mended, the next attempt waits twice as long as the last one.
 */
static void give_up(struct procmap *pm, struct process *p, uint64_t when)
{
	pm->nr_failed++;
	if (p->incomplete)
		return;
	if (when > p->mended_ns + (PROCMAP_MEND_NS << p->nr_mended))
		p->nr_mended = 0;
	p->incomplete = true;
	p->incomplete_ns = when;
	p->mend_ns = when + (PROCMAP_MEND_NS << p->nr_mended);
	p->nr_changes++;
	pm->nr_incomplete++;
}

static void note_failure(struct procmap *pm, struct process *p, int err, uint64_t when)
{
	if (err)
		give_up(pm, p, when);
}

/* ---- room ---- */

/* Returns the number of mappings of the largest process of an account. */
static size_t largest_of(const struct procmap *pm, const struct account *a)
{
	size_t most = 0;

	for (const struct process *p = pm->all; p; p = p->next) {
		if (p->maps && p->maps->account == a && maps_nr(p->maps) > most)
			most = maps_nr(p->maps);
	}
	return most;
}

/* Drops all mappings of p. Samples of p that are attributed later count as map_gap. */
static void drop_maps(struct procmap *pm, struct process *p)
{
	give_up(pm, p, p->start_ns);
	p->incomplete_ns = PROCMAP_ALWAYS;
	maps_put(&pm->accounts, p->maps);
	p->maps = NULL;
}

static bool has_spare_room(const struct procmap *pm)
{
	return accounts_have_room(&pm->accounts, PROCMAP_MAX_RANGES / SPARE_SHARE);
}

/*
 * In the account with the most mappings, drops the mappings of each process that has
 * at least half as many as the largest one. Repeats this until 1/SPARE_SHARE of the
 * room is free, so that filling it again takes more work than this walk. Processes
 * that share mappings lose them together.
 */
static void make_room(struct procmap *pm)
{
	for (int i = 0; i < MAX_WALKS && !has_spare_room(pm); i++) {
		struct account *a = accounts_largest(&pm->accounts);
		const size_t most = a ? largest_of(pm, a) : 0;

		for (struct process *p = most ? pm->all : NULL; p; p = p->next) {
			if (p->maps && p->maps->account == a &&
			    maps_nr(p->maps) * 2 >= most)
				drop_maps(pm, p);
		}
	}
}

/*
 * Makes room if err says that there was none. Returns whether to try again, which is
 * false if p itself lost its mappings.
 */
static bool made_room(struct procmap *pm, const struct process *p, int err)
{
	if (err != -ENOBUFS)
		return false;
	make_room(pm);
	return !p->incomplete;
}

/* Calls maps_own() and then maps_insert(). */
static int insert(struct procmap *pm, struct process *p, const struct range *r)
{
	int err = maps_own(&pm->accounts, p->account, PROCMAP_MAX_OWN, &p->maps);

	return err ? err : maps_insert(&pm->accounts, p->maps, PROCMAP_MAX_OWN, r);
}

static int fill(struct procmap *pm, struct process *p, const struct rangemap *found)
{
	int err = maps_own(&pm->accounts, p->account, PROCMAP_MAX_OWN, &p->maps);

	return err ? err : maps_fill(&pm->accounts, p->maps, PROCMAP_MAX_OWN, found);
}

/* ---- incarnations ---- */

/*
 * Adds a process whose incarnation begins at `when`. Takes over the reference to
 * account. Returns NULL if there is no room.
 */
static struct process *process_new(struct procmap *pm, uint32_t tgid, uint64_t when,
				   struct account *account)
{
	struct process *p = NULL;

	if (account_has_place(&pm->accounts, account))
		p = calloc(1, sizeof(*p));
	if (!p || hmap_insert(&pm->by_tgid, &p->node, hash_u64(tgid))) {
		free(p);
		account_put(&pm->accounts, account);
		return NULL;
	}
	account_charge_process(&pm->accounts, account, 1);
	p->account = account;
	p->tgid = tgid;
	p->start_ns = when;
	p->next = pm->all;
	pm->all = p;
	return p;
}

/*
 * Begins a new incarnation of tgid, and ends the previous one. Takes over the reference
 * to account. Returns NULL if there is no room.
 */
static struct process *incarnate(struct procmap *pm, uint32_t tgid, uint64_t when,
				 struct account *account)
{
	struct process *old = newest(pm, tgid);
	struct process *p = process_new(pm, tgid, when, account);

	if (!p) {
		pm->refused = true;
		if (old) /* later mappings belong to the new incarnation */
			give_up(pm, old, when);
		else
			pm->nr_failed++;
		return NULL;
	}
	p->generation = old ? old->generation % CPI_MAX_GENERATION + 1 : 1;
	if (!old)
		return p;
	old->superseded = true;
	old->end_ns = when;
	memcpy(p->comm, old->comm, sizeof(p->comm));
	if (old->exec_id_known && when < old->exec_id_as_of) {
		/* The kernel reported the id after `when`, so it belongs to p. */
		take_exec_id(p, old, 0);
		old->exec_id_known = false;
	}
	return p;
}

/*
 * Returns the newest incarnation of tgid, or adds one that began before all samples. If
 * a process could not be added before, this may be that process; then it is incomplete,
 * because its other mappings are not known.
 */
static struct process *newest_or_new(struct procmap *pm, uint32_t tgid, uint64_t when)
{
	struct process *p = newest(pm, tgid);

	if (p)
		return p;
	p = incarnate(pm, tgid, PROCMAP_ALWAYS, procmap_account_of(pm, tgid));
	if (p && pm->refused) {
		give_up(pm, p, when);
		p->incomplete_ns = PROCMAP_ALWAYS;
	}
	return p;
}

static void set_comm(struct process *p, const char *comm)
{
	strncpy(p->comm, comm, sizeof(p->comm) - 1);
	p->comm[sizeof(p->comm) - 1] = '\0';
}

/*
 * Copies what a process inherits at an exec from its previous incarnation, or at a fork
 * from its parent.
 */
static void belong(struct process *p, const struct process *from)
{
	if (!p->parent) /* an exec: the parent stays the same */
		p->parent = from->parent;
	p->cgroup = name_hold(from->cgroup);
	p->cgroup_id = from->cgroup_id;
	p->label = name_hold(from->label);
}

void procmap_fork(struct procmap *pm, uint32_t tgid, uint32_t parent, uint64_t when)
{
	struct process *from = newest(pm, parent), *p;

	p = incarnate(pm, tgid, when,
		      from ? account_hold(from->account)
			   : procmap_account_of(pm, tgid));
	if (!p)
		return;
	p->parent = parent;
	account_note_record(&pm->accounts, p->account);
	if (!from)
		return;
	if (!p->exec_id_known && from->exec_id_known && when >= from->exec_id_as_of)
		take_exec_id(p, from, 0);
	if (from->unasked)
		procmap_ask_later(pm, p);
	memcpy(p->comm, from->comm, sizeof(p->comm));
	belong(p, from);
	if (from->incomplete)
		give_up(pm, p, when);
	p->maps = from->maps;
	if (p->maps)
		p->maps->nr_users++;
}

/* Returns the incarnation that ended when p began, or NULL. */
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
 * A scan of /proc had seen the result of this exec before its record was read, and
 * began p at the time of the scan. Sets p's start to the time of the exec, and drops
 * its mappings, because their records are still to come.
 */
static void begin_earlier(struct procmap *pm, struct process *p, uint64_t when)
{
	struct process *old = before(pm, p);

	if (old) {
		old->end_ns = when;
		if (old->exec_id_known && !p->exec_id_known)
			take_exec_id(p, old, 1);
	}
	maps_put(&pm->accounts, p->maps);
	p->maps = NULL;
	p->nr_changes++;
	pm->nr_incomplete -= p->incomplete;
	p->incomplete = false;
	p->by_exec = true;
	p->start_ns = when;
}

void procmap_exec(struct procmap *pm, uint32_t tgid, const char *comm, uint64_t when)
{
	struct process *old = newest(pm, tgid), *p;

	if (old && old->start_ns > when) {
		begin_earlier(pm, old, when);
		return;
	}
	p = incarnate(pm, tgid, when,
		      old ? account_hold(old->account) : procmap_account_of(pm, tgid));
	if (!p)
		return;
	if (old && (!p->account || !p->account->uid))
		procmap_ask_later(pm, p);
	p->by_exec = true;
	account_note_record(&pm->accounts, p->account);
	if (old)
		belong(p, old);
	if (old && old->exec_id_known) /* incarnate() has not moved it to p */
		take_exec_id(p, old, 1);
	set_comm(p, comm);
}

void procmap_comm(struct procmap *pm, uint32_t tgid, const char *comm)
{
	struct process *p = newest_or_new(pm, tgid, PROCMAP_ALWAYS);

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

void procmap_add_thread(struct procmap *pm, uint32_t tgid)
{
	struct process *p = newest(pm, tgid);

	if (p)
		p->nr_threads++;
}

void procmap_exit_thread(struct procmap *pm, uint32_t tgid, bool is_first,
			 uint64_t when)
{
	struct process *p = newest(pm, tgid);

	if (!p)
		return;
	p->first_exited |= is_first;
	if (!is_first && p->nr_threads)
		p->nr_threads--;
	if (p->first_exited && !p->nr_threads)
		procmap_exit(pm, tgid, when);
}

bool procmap_skip_map(struct procmap *pm, uint32_t tgid, uint64_t when)
{
	struct process *p = newest(pm, tgid);

	if (!p)
		return false;
	account_note_record(&pm->accounts, p->account);
	if (++p->nr_records > PROCMAP_MAX_RECORDS && !p->incomplete)
		give_up(pm, p, when);
	if (!p->incomplete)
		return false;
	p->nr_skipped++;
	pm->nr_skipped++;
	return true;
}

void procmap_map(struct procmap *pm, uint32_t tgid, const struct range *r)
{
	struct process *p = newest_or_new(pm, tgid, r->since);
	struct range range = *r;
	const struct range *old;
	int err;

	if (!p || p->incomplete)
		return;
	old = p->maps ? rangemap_find(&p->maps->live, r->start) : NULL;
	if (old && old->value == r->value && old->bias == r->bias) {
		if (old->end >= r->end)
			return; /* known already */
		range.since = old->since;
	}
	err = insert(pm, p, &range);
	if (made_room(pm, p, err))
		err = insert(pm, p, &range);
	if (!err && maps_nr(p->maps) % ASK_AGAIN_AFTER == 0)
		procmap_ask_owner(pm, p);
	note_failure(pm, p, err, r->since);
	p->nr_changes++;
}

const struct range *procmap_live(struct procmap *pm, uint32_t tgid, uint64_t address)
{
	struct process *p = newest(pm, tgid);

	return p && p->maps ? rangemap_find(&p->maps->live, address) : NULL;
}

/* Calls maps_own() and then maps_remove(). */
static int remove_ranges(struct procmap *pm, struct process *p, uint64_t start,
			 uint64_t end, uint64_t when)
{
	int err = maps_own(&pm->accounts, p->account, PROCMAP_MAX_OWN, &p->maps);

	return err ? err
		   : maps_remove(&pm->accounts, p->maps, PROCMAP_MAX_OWN, start, end,
				 when);
}

void procmap_unmap(struct procmap *pm, uint32_t tgid, uint64_t start, uint64_t end,
		   uint64_t when)
{
	struct process *p = newest(pm, tgid);
	int err;

	if (!p || !p->maps)
		return;
	err = remove_ranges(pm, p, start, end, when);
	if (made_room(pm, p, err))
		err = remove_ranges(pm, p, start, end, when);
	note_failure(pm, p, err, when);
	p->nr_changes++;
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

void procmap_add_gap(struct procmap *pm, uint64_t from, uint64_t to)
{
	struct gap *last = pm->nr_gaps ? &pm->gaps[pm->nr_gaps - 1] : NULL;

	for (struct process *p = pm->all; p; p = p->next)
		p->exec_id_known = false; /* an exec may have been missed */

	if (last && from <= last->to) { /* merge overlapping gaps */
		if (from < last->from)
			last->from = from;
		if (to > last->to)
			last->to = to;
		return;
	}
	if (GROW(pm->gaps, pm->nr_gaps)) {
		pm->nr_failed++;
		/* a gap that is too long is safe; one that is too short is not */
		if (last)
			last->to = to;
		return;
	}
	pm->gaps[pm->nr_gaps++] = (struct gap){ from, to };
}

/*
 * Whether a has all found mappings. It may have more, because no record reports
 * munmap(), or data that is mapped over the end of a file's text.
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

/*
 * Fills the new incarnation p with the found mappings. old is the previous incarnation.
 */
static void begin_found(struct procmap *pm, struct process *p, struct process *old,
			const struct rangemap *found, uint64_t when)
{
	int err;

	if (old && !old->exited)
		belong(p, old);
	if (old && old->incomplete) {
		p->nr_mended = old->nr_mended;
		p->mended_ns = when;
		if (!old->exited && old->exec_id_known && !p->exec_id_known)
			take_exec_id(p, old, 0); /* no exec was missed */
	}
	err = fill(pm, p, found);
	if (made_room(pm, p, err))
		err = fill(pm, p, found);
	note_failure(pm, p, err, p->start_ns);
}

void procmap_verify(struct procmap *pm, uint32_t tgid, const char *comm,
		    const struct rangemap *found, uint64_t when)
{
	static const struct rangemap none;
	struct process *old = newest(pm, tgid), *p = old;
	const bool lives = old && !old->exited;

	if (lives && !old->incomplete &&
	    has_ranges(p->maps ? &p->maps->live : &none, found)) {
		p->verified_ns = when;
		set_comm(p, comm);
		return;
	}
	p = incarnate(pm, tgid, old ? when : PROCMAP_ALWAYS,
		      lives ? account_hold(old->account)
			    : procmap_account_of(pm, tgid));
	if (!p)
		return;
	set_comm(p, comm);
	p->verified_ns = when;
	begin_found(pm, p, old, found, when);
}

bool procmap_for_each_incomplete(struct procmap *pm, uint64_t now,
				 bool (*fn)(void *ctx, uint32_t tgid), void *ctx)
{
	for (struct process *p = pm->nr_incomplete ? pm->all : NULL; p; p = p->next) {
		if (!p->incomplete || p->superseded || p->exited || p->mend_ns > now ||
		    p->nr_skipped > PROCMAP_MEND_BELOW)
			continue;
		if (p->nr_mended < PROCMAP_MEND_DOUBLINGS)
			p->nr_mended++;
		p->mend_ns = now + (PROCMAP_MEND_NS << p->nr_mended);
		if (!fn(ctx, p->tgid))
			return false;
	}
	return true;
}

void procmap_give_up(struct procmap *pm, uint32_t tgid, uint64_t when)
{
	struct process *p = newest_or_new(pm, tgid, when);

	if (!p)
		return;
	give_up(pm, p, when);
	if (!p->maps)
		p->incomplete_ns = PROCMAP_ALWAYS;
	p->verified_ns = when; /* so procmap_end_unseen() keeps it */
}

void procmap_end_unseen(struct procmap *pm, uint64_t when)
{
	for (struct process *p = pm->all; p; p = p->next) {
		if (p->exited || p->superseded || p->start_ns >= when ||
		    p->verified_ns >= when)
			continue;
		p->exited = true;
		p->end_ns = when;
	}
}

/* Drops p's data from before the horizon, and resets the counts of one round. */
static void forget_past(struct procmap *pm, struct process *p, uint64_t horizon)
{
	p->nr_records = 0;
	p->nr_skipped = 0;
	if (!p->maps)
		return;
	if (p->incomplete && p->incomplete_ns < horizon) {
		maps_put(&pm->accounts, p->maps);
		p->maps = NULL;
	} else if (p->maps->nr_retired) {
		maps_forget(&pm->accounts, p->maps, horizon);
	}
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
		forget_past(pm, p, horizon);
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
	return pm->accounts.nr_ranges;
}

uint64_t procmap_nr_failed(const struct procmap *pm)
{
	return pm->nr_failed;
}

uint64_t procmap_nr_skipped(const struct procmap *pm)
{
	return pm->nr_skipped;
}

size_t procmap_nr_incomplete(const struct procmap *pm)
{
	size_t nr = 0;

	for (const struct process *p = pm->nr_incomplete ? pm->all : NULL; p;
	     p = p->next)
		nr += p->incomplete && !p->superseded && !p->exited;
	return nr;
}

uint64_t procmap_take_excess(struct procmap *pm, uint64_t ns, uint64_t share_ns)
{
	return accounts_take_excess(&pm->accounts, ns, share_ns);
}
