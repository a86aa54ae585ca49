/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute.c - attributes a batch, run by run
 *
 * Entries are sorted by process, event and address, so entries of one mapping are
 * adjacent, and one look-up of process map, image and tally serves all of them (SOSP'97
 * section 5.4). Entries in another order give shorter runs, but the same counts.
 */
#include "config.h"

#include "daemon/attribute/attribute_private.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* The process and thread of an entry. */
struct owner {
	uint32_t tgid, tid;          /* tid: 0 if entries contain processes */
	const struct thread *thread; /* NULL: the main thread, or not known */
	bool ambiguous;              /* several tasks had this tid in the interval */
};

/* Adjacent entries of one owner and event that belong to one place. */
struct entry_run {
	const struct cpi_entry *first;
	size_t nr;
	struct place place;
	struct owner owner;
};

const char *attribute_comm(const struct process *p, uint32_t tgid)
{
	if (!tgid)
		return "swapper";
	if (tgid == CPI_MAX_TGID)
		return "[exited]";
	return p && p->comm[0] ? p->comm : "[unknown]";
}

static struct place recorded_place(const struct attribution *a, uint64_t pc)
{
	const struct range *r = rangemap_find(a->recorded, pc);

	if (!r)
		return (struct place){ .loss = SAMPLE_KERNEL_UNMAPPED,
				       .start = pc,
				       .end = pc + 1 };
	return (struct place){ .image = r->value,
			       .bias = r->bias,
			       .loss = SAMPLE_KEPT,
			       .start = r->start,
			       .end = r->end };
}

struct place attribute_kernel_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				    uint64_t now_ns)
{
	struct place place = { .loss = SAMPLE_KEPT, .start = pc, .end = pc + 1 };
	struct kernel_symbol s;

	if (a->recorded)
		return recorded_place(a, pc);
	if (!kernel_find(a->kernel, pc, &s)) {
		a->lacking |= kernel_note_miss(a->kernel, now_ns);
		place.loss = kernel_idle_image(a->kernel) ? SAMPLE_KERNEL_UNMAPPED
							  : SAMPLE_KERNEL_HIDDEN;
		return place;
	}
	place.image = s.idle && !tgid ? kernel_idle_image(a->kernel) : s.image;
	place.bias = -s.base;
	place.end = s.end;
	return place;
}

/*
 * Looks up pc in code that its process made at run time. Returns false if no code is
 * known there. The place covers only this address, because pieces of code may be
 * nested.
 */
static bool jit_place(struct attribution *a, uint64_t pc, struct time_span when,
		      struct place *place)
{
	int err = jit_find(a->jit, place->process, pc, when.t0, when.t1, &place->image,
			   &place->bias);

	place->end = pc + 1;
	a->lacking |= err == -EAGAIN;
	if (err == -EEXIST)
		place->loss = SAMPLE_AMBIGUOUS;
	return !err || err == -EEXIST;
}

struct place attribute_user_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				  unsigned int generation, struct time_span when)
{
	static const enum loss loss[] = {
		[PROCMAP_FOUND] = SAMPLE_KEPT,
		[PROCMAP_NO_PROCESS] = SAMPLE_NO_PROCESS,
		[PROCMAP_NO_MAPPING] = SAMPLE_NO_MAPPING,
		[PROCMAP_AMBIGUOUS] = SAMPLE_AMBIGUOUS,
		[PROCMAP_GAP] = SAMPLE_MAP_GAP,
	};
	struct procmap_hit hit;
	enum procmap_result result =
		procmap_lookup(a->procmap, tgid, generation, pc, when, &hit);
	struct place place = { .loss = loss[result],
			       .process = hit.process,
			       .start = pc,
			       .end = hit.end };

	if (result != PROCMAP_FOUND)
		return place;
	if (a->jit && jit_may_hold(hit.image) && jit_place(a, pc, when, &place))
		return place;
	if (hit.image->unknown != SAMPLE_KEPT) {
		place.loss = hit.image->unknown;
		return place;
	}
	place.image = images_find(a->images, hit.image, tgid, hit.since_ns);
	place.bias = hit.bias;
	return place;
}

/* Whether e belongs to the run's process; false for an empty run. */
static bool same_process(const struct entry_run *run, const struct cpi_entry *e)
{
	return run->nr && (uint32_t)run->first->word1 == (uint32_t)e->word1;
}

static struct owner find_owner(const struct attribution *a, uint32_t number,
			       uint64_t from_ns, uint64_t to_ns)
{
	struct owner o = { .tgid = number };
	int err;

	if (!a->threads || number == CPI_MAX_TGID)
		return o;
	o.tid = number;
	err = threadmap_find(a->threads, number, from_ns, to_ns, &o.thread);
	if (!err)
		o.tgid = o.thread->tgid;
	o.ambiguous = err == -EEXIST;
	return o;
}

/* Returns the owner of an entry that comes after a run. */
static struct owner owner_of(const struct attribution *a, const struct batch *b,
			     const struct cpi_entry *e, const struct entry_run *run)
{
	return same_process(run, e)
		       ? run->owner
		       : find_owner(a, cpi_entry_tgid(e), b->from_ns, b->to_ns);
}

/* Returns the place of an entry that comes after a run. */
static struct place find_place(struct attribution *a, const struct batch *b,
			       const struct cpi_entry *e, const struct entry_run *run,
			       const struct owner *owner)
{
	const uint32_t tgid = owner->tgid;
	unsigned int generation =
		cpi_entry_generation(e) | (b->by_exec_id ? PROCMAP_BY_EXEC_ID : 0);
	uint64_t pc = cpi_entry_pc(e);
	struct place place;

	a->lacking = false;
	if (!kernel_address(pc) && owner->ambiguous)
		return (struct place){ .loss = SAMPLE_AMBIGUOUS,
				       .start = pc,
				       .end = pc + 1 };
	if (!kernel_address(pc))
		return attribute_user_place(a, pc, tgid, generation,
					    (struct time_span){ b->from_ns, b->to_ns });
	place = attribute_kernel_place(a, pc, tgid, b->to_ns);
	if (same_process(run, e) && kernel_address(run->place.start))
		place.process = run->place.process;
	else
		place.process = procmap_find(a->procmap, tgid, generation, b->to_ns);
	return place;
}

struct known_image *attribute_address(struct attribution *a, uint32_t tgid, uint64_t pc,
				      uint64_t when_ns, uint64_t *offset)
{
	const struct time_span when = { when_ns, when_ns };
	const struct place place =
		kernel_address(pc) ? attribute_kernel_place(a, pc, tgid, when_ns)
				   : attribute_user_place(a, pc, tgid, 0, when);

	if (place.loss != SAMPLE_KEPT)
		return NULL;
	*offset = pc + place.bias;
	return place.image;
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->image == b->image && a->bias == b->bias && a->loss == b->loss &&
	       a->process == b->process;
}

/* Whether e belongs to the run, as far as that is known without a look-up. */
static bool continues(const struct entry_run *run, const struct cpi_entry *e)
{
	uint64_t pc = cpi_entry_pc(e);

	return same_process(run, e) &&
	       cpi_entry_event(run->first) == cpi_entry_event(e) &&
	       run->place.start <= pc && pc < run->place.end &&
	       kernel_address(run->place.start) == kernel_address(pc);
}

/*
 * Whether e, whose place was looked up because continues() was false, belongs to the
 * run after all: for example, the next kernel symbol may be in the same image.
 */
static bool continues_after_lookup(const struct entry_run *run,
				   const struct cpi_entry *e, const struct place *place)
{
	return same_process(run, e) &&
	       cpi_entry_event(run->first) == cpi_entry_event(e) &&
	       same_place(&run->place, place);
}

/*
 * Keeps anonymous entries until their process names its code. Counts the samples of all
 * others by the reason why they have no image.
 */
static void wait_or_lose(struct attribution *a, const struct batch *b,
			 const struct entry_run *r, const struct tally_run *run)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->nr; i++) {
		const struct jit_sample s = { r->first[i], b->from_ns, b->to_ns };

		if (r->place.loss != SAMPLE_ANONYMOUS || !a->jit ||
		    !jit_wait(a->jit, r->place.process, &s))
			n += cpi_entry_count(&r->first[i]);
	}
	tally_lose_run(a->tally, run, r->place.loss, n);
}

static void set_process(const struct attribution *a, struct sample_contexts *w,
			uint32_t tgid, const char *comm)
{
	if (tgid == CPI_MAX_TGID || (a->by_process && fnmatch(a->by_process, comm, 0)))
		return;
	snprintf(w->process, sizeof(w->process), "%s:%u", comm, tgid);
	w->contexts[CONTEXT_PROCESS] = w->process;
}

/* The kernel's idle task is in the root cgroup. */
void attribute_set_contexts(const struct attribution *a, const struct process *p,
			    uint32_t tgid, struct sample_contexts *w)
{
	const char *comm = attribute_comm(p, tgid);

	memset(w->contexts, 0, sizeof(w->contexts));
	if (a->by & 1u << CONTEXT_COMM)
		w->contexts[CONTEXT_COMM] = comm;
	if (a->by & 1u << CONTEXT_CGROUP)
		w->contexts[CONTEXT_CGROUP] = p && p->cgroup ? p->cgroup->text
					      : tgid         ? NULL
							     : "/";
	if (a->by & 1u << CONTEXT_LABEL)
		w->contexts[CONTEXT_LABEL] = p && p->label ? p->label->text : NULL;
	if (a->by & 1u << CONTEXT_PROCESS)
		set_process(a, w, tgid, comm);
}

/* Sets the context by thread. A main thread has the process's name. */
static void set_thread(const struct attribution *a, struct sample_contexts *w,
		       const struct owner *o, const char *comm)
{
	if (!(a->by & 1u << CONTEXT_THREAD) || !a->threads || o->ambiguous ||
	    o->tgid == CPI_MAX_TGID)
		return;
	snprintf(w->thread, sizeof(w->thread), "%s:%u",
		 o->thread ? o->thread->comm : comm, o->tid);
	w->contexts[CONTEXT_THREAD] = w->thread;
}

static void set_contexts(const struct attribution *a, const struct process *p,
			 const struct owner *o, struct sample_contexts *w)
{
	attribute_set_contexts(a, p, o->tgid, w);
	set_thread(a, w, o, attribute_comm(p, o->tgid));
}

static void call_sampled(const struct attribution *a, const struct entry_run *r)
{
	if (!a->sampled || kernel_address(r->place.start))
		return;
	for (size_t i = 0; i < r->nr; i++)
		a->sampled(a->sampled_ctx, r->place.image,
			   cpi_entry_pc(&r->first[i]) + r->place.bias);
}

static void count_run(struct attribution *a, const struct batch *b,
		      const struct entry_run *r)
{
	const struct place *place = &r->place;
	struct tally_run run = { .image = place->image, .bias = place->bias };
	struct sample_contexts own;

	if (!r->nr)
		return;
	run.event = cpi_entry_event(r->first);
	run.comm = attribute_comm(place->process, r->owner.tgid);
	if (a->by) {
		set_contexts(a, place->process, &r->owner, &own);
		run.contexts = own.contexts;
	}
	if (place->loss == SAMPLE_KEPT) {
		tally_add(a->tally, &run, r->first, r->nr);
		call_sampled(a, r);
	} else {
		wait_or_lose(a, b, r, &run);
	}
}

/*
 * Adds the hardware records of samples that have an image. Records of samples that wait
 * until their process names its code (jit.h) are dropped; the samples are still
 * counted.
 */
static void add_records(struct attribution *a, const struct batch *b)
{
	struct entry_run run = { 0 };

	for (size_t i = 0; i < b->nr_records; i++) {
		const struct cpi_entry *e = &b->records[i].entry;
		struct tally_run to = { .event = cpi_entry_event(e) };
		struct sample_contexts own;

		if (!continues(&run, e)) {
			run.owner = owner_of(a, b, e, &run);
			run.place = find_place(a, b, e, &run, &run.owner);
			run.first = e;
			run.nr = !later_add_record(a, b, &b->records[i]);
		}
		if (!run.nr)
			continue;
		if (run.place.loss != SAMPLE_KEPT)
			continue;
		if (a->by) {
			set_contexts(a, run.place.process, &run.owner, &own);
			to.contexts = own.contexts;
		}
		to.image = run.place.image;
		to.bias = run.place.bias;
		tally_add_record(a->tally, &to, cpi_entry_pc(e), &b->records[i].hw);
	}
}

static void add_stack(struct attribution *a, const struct branch_stack *s)
{
	if (a->later) {
		attribute_look_at_branches(a, s);
		if (later_add_stack(a, s))
			return;
	}
	if (attribute_branches(a, s))
		a->tally->cut_stacks++;
}

void attribute_batch(void *ctx, const struct batch *batch)
{
	struct attribution *a = ctx;
	struct entry_run run = { 0 };

	for (size_t i = 0; i < batch->nr; i++) {
		const struct cpi_entry *e = &batch->entries[i];

		if (!continues(&run, e)) {
			const struct owner owner = owner_of(a, batch, e, &run);
			struct place place = find_place(a, batch, e, &run, &owner);

			if (later_add_entry(a, batch, e)) {
				count_run(a, batch, &run);
				run = (struct entry_run){ 0 };
				continue;
			}
			if (!continues_after_lookup(&run, e, &place)) {
				count_run(a, batch, &run);
				run = (struct entry_run){ .first = e };
			}
			run.place = place;
			run.owner = owner;
		}
		run.nr++;
	}
	count_run(a, batch, &run);
	add_records(a, batch);
	for (size_t i = 0; i < batch->nr_losses; i++) {
		const struct batch_loss *l = &batch->losses[i];

		tally_lose(a->tally, l->event, l->loss, l->n, NULL);
	}
	for (size_t i = 0; i < batch->nr_stacks; i++)
		add_stack(a, &batch->stacks[i]);
}

static void count_waiting(void *ctx, const struct jit_sample *s,
			  const struct process *p, int err, struct known_image *image,
			  uint64_t bias)
{
	struct attribution *a = ctx;
	struct tally_run run = { .event = cpi_entry_event(&s->entry),
				 .image = image,
				 .bias = bias,
				 .comm = attribute_comm(p, p->tgid) };
	struct sample_contexts own;

	if (a->by) {
		struct owner owner =
			find_owner(a, cpi_entry_tgid(&s->entry), s->from_ns, s->to_ns);

		owner.tgid = p->tgid; /* threadmap may have dropped the thread */
		set_contexts(a, p, &owner, &own);
		run.contexts = own.contexts;
	}

	if (!err)
		tally_add(a->tally, &run, &s->entry, 1);
	else
		tally_lose_run(a->tally, &run,
			       err == -EEXIST ? SAMPLE_AMBIGUOUS : SAMPLE_ANONYMOUS,
			       cpi_entry_count(&s->entry));
}

void attribute_finish_waiting(struct attribution *a)
{
	jit_retry_waiting(a->jit, count_waiting, a);
}
