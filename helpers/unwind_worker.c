/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_worker.c - the worker: turns each sample into a call chain
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/unwind/unwind.h"
#include "helpers/unwind.h"

_Static_assert(UNWIND_NR_REGS == CPI_UNWIND_REGS, "the same registers");
_Static_assert(UNWIND_MAX_FRAMES <= CPI_UNWIND_FRAMES, "a chain is a message");

struct process {
	struct unwinder *unwinder; /* NULL: nothing is known of it */
	struct unwind_mapping *mapping;
	size_t nr;
	bool complete; /* all of its mappings came */
};

struct unwind_worker {
	struct unwindcache *cache;
	struct process slot[CPI_UNWIND_SLOTS];
	struct unwind_chain chain;
	struct {
		struct cpi_unwind_chain head;
		struct cpi_unwind_frame frame[CPI_UNWIND_FRAMES];
	} answer;
};

static int begin_process(struct unwind_worker *w, struct process *p)
{
	p->nr = 0;
	p->complete = false;
	if (!p->mapping)
		p->mapping = calloc(CPI_UNWIND_MAPPINGS, sizeof(*p->mapping));
	if (!p->mapping)
		return -1;
	return p->unwinder ? 0 : unwinder_open(unwindcache_get, w->cache, &p->unwinder);
}

/* Adds a part of a process's mappings. Returns whether the message was valid. */
static bool take_map(struct unwind_worker *w, const struct cpi_unwind_map *m,
		     size_t size)
{
	const struct cpi_unwind_mapping *mapping = (const void *)(m + 1);
	struct process *p;

	if (!cpi_unwind_map_ok(m, size))
		return false;
	p = &w->slot[m->slot];
	if (m->first ? begin_process(w, p) : !p->unwinder || p->complete)
		return false;
	if (m->nr > CPI_UNWIND_MAPPINGS - p->nr ||
	    (p->nr && m->nr && mapping->start < p->mapping[p->nr - 1].end))
		return false;
	for (uint32_t i = 0; i < m->nr; i++)
		p->mapping[p->nr++] =
			(struct unwind_mapping){ mapping[i].start, mapping[i].end,
						 mapping[i].bias, mapping[i].image };
	p->complete = m->last;
	return !m->last || !unwinder_map(p->unwinder, p->mapping, p->nr);
}

static enum cpi_unwind_end end_of(const struct unwind_chain *c)
{
	static const enum cpi_unwind_end ends[UNWIND_NR_ENDS] = {
		[UNWIND_ROOT] = CPI_UNWIND_ROOT,
		[UNWIND_COPY] = CPI_UNWIND_COPY,
		[UNWIND_UNMAPPED] = CPI_UNWIND_UNMAPPED,
		[UNWIND_NO_TABLE] = CPI_UNWIND_NO_TABLE,
		[UNWIND_BROKEN] = CPI_UNWIND_BROKEN,
		[UNWIND_DEPTH] = CPI_UNWIND_DEPTH,
		[UNWIND_LOOP] = CPI_UNWIND_LOOP,
	};

	if (c->end == UNWIND_ROOT && c->nr_guessed)
		return CPI_UNWIND_GUESSED;
	return ends[c->end];
}

static size_t make_answer(struct unwind_worker *w, uint64_t id)
{
	const struct unwind_chain *c = &w->chain;

	w->answer.head = (struct cpi_unwind_chain){ id, end_of(c), (uint32_t)c->nr };
	for (size_t i = 0; i < c->nr; i++)
		w->answer.frame[i] = (struct cpi_unwind_frame){ c->frame[i].pc,
								c->frame[i].returns };
	return sizeof(w->answer.head) + c->nr * sizeof(w->answer.frame[0]);
}

static void shrink(struct unwind_worker *w)
{
	if (!unwindcache_shrink(w->cache))
		return;
	for (int i = 0; i < CPI_UNWIND_SLOTS; i++) {
		if (w->slot[i].unwinder)
			unwinder_forget(w->slot[i].unwinder);
	}
}

/* Answers a sample. Returns the size of the answer; 0 if the message is invalid. */
static size_t take_sample(struct unwind_worker *w, const struct cpi_unwind_sample *s,
			  size_t size)
{
	const uint64_t *regs = (const void *)(s + 1);
	struct unwind_sample sample = { .regs = regs, .stack = regs + CPI_UNWIND_REGS };
	const struct process *p;

	if (!cpi_unwind_sample_ok(s, size))
		return 0;
	p = &w->slot[s->slot];
	if (!p->complete)
		return 0;
	sample.stack_at = s->stack_at;
	sample.stack_size = s->stack_size;
	unwinder_run(p->unwinder, &sample, &w->chain);
	shrink(w);
	return make_answer(w, s->id);
}

int unwind_worker_take(void *worker, const void *message, size_t size,
		       const void **answer, size_t *answer_size)
{
	struct unwind_worker *w = worker;
	uint32_t kind = 0;
	size_t made = 0;

	memcpy(&kind, message, size < sizeof(kind) ? size : sizeof(kind));
	if (kind == CPI_UNWIND_MAP) {
		if (!take_map(w, message, size))
			return -EPROTO;
	} else {
		made = take_sample(w, message, size);
		if (!made)
			return -EPROTO;
	}
	*answer = &w->answer;
	*answer_size = made;
	return 0;
}

struct unwind_worker *unwind_worker_new(int images_fd)
{
	struct unwind_worker *w = calloc(1, sizeof(*w));

	if (w)
		w->cache = unwindcache_new(images_fd);
	if (w && w->cache)
		return w;
	free(w);
	return NULL;
}

void unwind_worker_free(struct unwind_worker *w)
{
	if (!w)
		return;
	for (int i = 0; i < CPI_UNWIND_SLOTS; i++) {
		unwinder_close(w->slot[i].unwinder);
		free(w->slot[i].mapping);
	}
	unwindcache_free(w->cache);
	free(w);
}
