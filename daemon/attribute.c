/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/attribute.h"

#include <errno.h>

#include "daemon/arch.h"

/* Where an entry belongs. */
struct place {
	struct known_image *image; /* set when loss is SAMPLE_KEPT */
	uint64_t offset;
	enum loss loss;
};

static const char *comm_of(const struct process *p, uint32_t tgid)
{
	if (!tgid)
		return "swapper";
	if (tgid == CPI_MAX_TGID)
		return "[exited]";
	return p && p->comm[0] ? p->comm : "[unknown]";
}

static struct place kernel_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				 uint64_t now_ns)
{
	const struct kernel_symbol *s = kernel_find(a->kernel, pc, now_ns);
	struct place place = { .loss = SAMPLE_KEPT };

	if (!s) {
		place.loss = kernel_idle_image(a->kernel) ? SAMPLE_KERNEL_UNMAPPED
							  : SAMPLE_KERNEL_HIDDEN;
		return place;
	}
	place.image = s->idle && !tgid ? kernel_idle_image(a->kernel) : s->image;
	place.offset = pc - s->base;
	return place;
}

static struct place user_place(struct attribution *a, enum procmap_result result,
			       const struct procmap_hit *hit, uint32_t tgid)
{
	static const enum loss loss[] = {
		[PROCMAP_FOUND] = SAMPLE_KEPT,
		[PROCMAP_NO_PROCESS] = SAMPLE_NO_PROCESS,
		[PROCMAP_NO_MAPPING] = SAMPLE_NO_MAPPING,
		[PROCMAP_AMBIGUOUS] = SAMPLE_AMBIGUOUS,
		[PROCMAP_GAP] = SAMPLE_MAP_GAP,
	};
	struct place place = { .loss = loss[result] };

	if (result != PROCMAP_FOUND)
		return place;
	if (hit->image->unknown != SAMPLE_KEPT) {
		place.loss = hit->image->unknown;
		return place;
	}
	place.image = images_resolve(a->images, hit->image, tgid, hit->since_ns);
	place.offset = hit->offset;
	return place;
}

/* Looks a sample up in the code that its process made. Whether it is dealt with. */
static bool find_jit(struct attribution *a, const struct batch *b,
		     const struct cpi_entry *e, const struct procmap_hit *hit,
		     struct place *place)
{
	const struct jit_sample s = {
		.pc = cpi_entry_pc(e),
		.from_ns = b->from_ns,
		.to_ns = b->to_ns,
		.n = cpi_entry_count(e),
		.event = cpi_entry_event(e),
		.outcome = cpi_entry_outcome(e),
	};
	int err = jit_find(a->jit, hit->process, &s, &place->image, &place->offset);

	if (!err)
		place->loss = SAMPLE_KEPT;
	else if (err == -EEXIST)
		place->loss = SAMPLE_AMBIGUOUS;
	else if (place->loss == SAMPLE_ANONYMOUS)
		return jit_wait(a->jit, hit->process, &s);
	return false;
}

static void attribute_entry(struct attribution *a, const struct batch *b,
			    const struct cpi_entry *e)
{
	uint32_t tgid = cpi_entry_tgid(e), n = cpi_entry_count(e);
	unsigned int generation =
		cpi_entry_generation(e) | (b->by_exec_id ? PROCMAP_BY_EXEC_ID : 0);
	uint64_t pc = cpi_entry_pc(e);
	struct procmap_hit hit = { 0 };
	struct place place;

	if (kernel_address(pc)) {
		hit.process = procmap_find(a->procmap, tgid, generation, b->to_ns);
		place = kernel_place(a, pc, tgid, b->to_ns);
	} else {
		enum procmap_result result;

		result = procmap_lookup(a->procmap, tgid, generation, pc, b->from_ns,
					b->to_ns, &hit);
		place = user_place(a, result, &hit, tgid);
		if (result == PROCMAP_FOUND && jit_may_hold(hit.image) &&
		    find_jit(a, b, e, &hit, &place))
			return;
	}
	if (place.loss == SAMPLE_KEPT)
		tally_add(a->tally, cpi_entry_event(e), place.image, place.offset,
			  cpi_entry_outcome(e), n, comm_of(hit.process, tgid),
			  a->by_comm);
	else
		tally_lose(a->tally, cpi_entry_event(e), place.loss, n,
			   comm_of(hit.process, tgid));
}

void attribute_batch(void *ctx, const struct batch *batch)
{
	struct attribution *a = ctx;

	for (size_t i = 0; i < batch->nr; i++)
		attribute_entry(a, batch, &batch->entries[i]);
}

static void settle(void *ctx, const struct jit_sample *s, const char *comm, int err,
		   struct known_image *image, uint64_t offset)
{
	struct attribution *a = ctx;

	if (!err)
		tally_add(a->tally, s->event, image, offset, s->outcome, s->n, comm,
			  a->by_comm);
	else
		tally_lose(a->tally, s->event,
			   err == -EEXIST ? SAMPLE_AMBIGUOUS : SAMPLE_ANONYMOUS, s->n,
			   comm);
}

void attribute_settle(struct attribution *a)
{
	jit_settle(a->jit, settle, a);
}

void attribute_classify(void *ctx, const struct raw_sample *s, unsigned int *generation,
			enum cpi_outcome *outcome)
{
	struct attribution *a = ctx;
	struct process *p = procmap_find(a->procmap, s->tgid, 0, s->time_ns);
	struct procmap_hit hit = { 0 };
	struct cpi_branch branch;

	*generation = p ? p->generation : 0;
	*outcome = CPI_OUTCOME_UNREADABLE;
	if (kernel_address(s->pc) ||
	    procmap_lookup_in(a->procmap, p, s->pc, s->time_ns, &hit) != PROCMAP_FOUND)
		return;
	hit.image = images_resolve(a->images, hit.image, s->tgid, hit.since_ns);
	branch = codecache_branch(a->codecache, hit.image, hit.offset);
	if (branch.kind == CPI_BRANCH_NOT)
		*outcome = CPI_OUTCOME_NONE;
	else if (branch.kind != CPI_BRANCH_UNKNOWN && s->regs)
		*outcome = arch_native.outcome(branch, s->regs);
}
