/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_later.c - defers samples until missing information has been read
 *
 *	attribute_batch() ── all is known ───────────────────────────> tally
 *	       └── lacking: noted and deferred ─> attribute_resolve() ────┘
 *
 * Deferred samples are copied, because a batch's memory belongs to its collector.
 * Entries, records and branch stacks of batches, and call chains, have a buffer each.
 *
 * I1  While attribute_resolve() attributes, no sample is deferred: each sample is
 *     looked up at most twice.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/attribute/attribute_private.h"
#include "daemon/stacks/stacksampler.h"

#define LATER_MAX_BYTES (4u << 20)

/* The entries and records of one batch, which are consecutive in the buffers. */
struct later_batch {
	uint64_t from_ns, to_ns;
	bool by_exec_id;
	size_t first_entry, nr_entries;
	size_t first_record, nr_records;
};

struct later {
	struct buf batches; /* struct later_batch */
	struct buf entries; /* struct cpi_entry */
	struct buf records; /* struct batch_record */
	struct buf stacks;  /* struct branch_stack, each followed by its branches */
	/* struct chain_sample, each followed by its chain and frames */
	struct buf chains;
};

struct later *later_new(void)
{
	return calloc(1, sizeof(struct later));
}

void later_free(struct later *l)
{
	if (!l)
		return;
	buf_fini(&l->batches);
	buf_fini(&l->entries);
	buf_fini(&l->records);
	buf_fini(&l->stacks);
	buf_fini(&l->chains);
	free(l);
}

static bool has_room(const struct later *l, size_t size)
{
	return l && l->batches.len + l->entries.len + l->records.len + l->stacks.len +
				    l->chains.len + size <=
			    LATER_MAX_BYTES;
}

/*
 * Ends an addition that began when b had len bytes. If a part failed, removes the whole
 * addition and returns false.
 */
static bool end_put(struct buf *b, size_t len)
{
	if (!b->err)
		return true;
	b->len = len;
	b->err = 0;
	return false;
}

static bool put_bytes(struct buf *b, const void *data, size_t size)
{
	const size_t len = b->len;

	buf_put(b, data, size);
	return end_put(b, len);
}

static struct later_batch *last_batch(struct later *l)
{
	const size_t nr = l->batches.len / sizeof(struct later_batch);

	return nr ? (struct later_batch *)l->batches.data + nr - 1 : NULL;
}

/*
 * Returns the last deferred batch if it has the interval of b and its kind of
 * generations (by_exec_id), else a new one. NULL: no memory.
 */
static struct later_batch *get_batch(struct later *l, const struct batch *b)
{
	const struct later_batch new = {
		.from_ns = b->from_ns,
		.to_ns = b->to_ns,
		.by_exec_id = b->by_exec_id,
		.first_entry = l->entries.len / sizeof(struct cpi_entry),
		.first_record = l->records.len / sizeof(struct batch_record),
	};
	struct later_batch *last = last_batch(l);

	if (last && last->from_ns == b->from_ns && last->to_ns == b->to_ns &&
	    last->by_exec_id == b->by_exec_id)
		return last;
	return put_bytes(&l->batches, &new, sizeof(new)) ? last_batch(l) : NULL;
}

bool later_add_entry(struct attribution *a, const struct batch *b,
		     const struct cpi_entry *e)
{
	struct later *l = a->later;
	struct later_batch *to;

	if (!a->lacking || !has_room(l, sizeof(*to) + sizeof(*e)))
		return false;
	to = get_batch(l, b);
	if (!to || !put_bytes(&l->entries, e, sizeof(*e)))
		return false;
	to->nr_entries++;
	return true;
}

bool later_add_record(struct attribution *a, const struct batch *b,
		      const struct batch_record *r)
{
	struct later *l = a->later;
	struct later_batch *to;

	if (!a->lacking || !has_room(l, sizeof(*to) + sizeof(*r)))
		return false;
	to = get_batch(l, b);
	if (!to || !put_bytes(&l->records, r, sizeof(*r)))
		return false;
	to->nr_records++;
	return true;
}

bool later_add_stack(struct attribution *a, const struct branch_stack *s)
{
	const size_t size = s->nr * sizeof(*s->branch);
	struct later *l = a->later;
	size_t len;

	if (!a->lacking || !has_room(l, sizeof(*s) + size))
		return false;
	len = l->stacks.len;
	buf_put(&l->stacks, s, sizeof(*s));
	buf_put(&l->stacks, s->branch, size);
	return end_put(&l->stacks, len);
}

bool later_add_chain(struct attribution *a, const struct chain_sample *s)
{
	const size_t chain = s->nr * sizeof(*s->chain),
		     frames = s->nr_frames * sizeof(*s->frame);
	struct later *l = a->later;
	size_t len;

	if (!a->lacking || !has_room(l, sizeof(*s) + chain + frames))
		return false;
	len = l->chains.len;
	buf_put(&l->chains, s, sizeof(*s));
	buf_put(&l->chains, s->chain, chain);
	buf_put(&l->chains, s->frame, frames);
	return end_put(&l->chains, len);
}

static void attribute_batches(struct attribution *a, const struct later *l)
{
	const struct later_batch *from = (const struct later_batch *)l->batches.data;
	const size_t nr = l->batches.len / sizeof(*from);

	for (size_t i = 0; i < nr; i++) {
		struct batch b = {
			.from_ns = from[i].from_ns,
			.to_ns = from[i].to_ns,
			.by_exec_id = from[i].by_exec_id,
			.nr = from[i].nr_entries,
			.nr_records = from[i].nr_records,
		};

		if (b.nr) /* without entries the buffer may be NULL */
			b.entries = (const struct cpi_entry *)l->entries.data +
				    from[i].first_entry;
		if (b.nr_records)
			b.records = (const struct batch_record *)l->records.data +
				    from[i].first_record;
		attribute_batch(a, &b);
	}
}

static void attribute_stacks(struct attribution *a, const struct later *l)
{
	struct branch_stack s;

	for (size_t at = 0; at < l->stacks.len;
	     at += sizeof(s) + s.nr * sizeof(*s.branch)) {
		const struct batch b = { .stacks = &s, .nr_stacks = 1 };

		memcpy(&s, l->stacks.data + at, sizeof(s));
		s.branch = (const void *)(l->stacks.data + at + sizeof(s));
		attribute_batch(a, &b);
	}
}

static void attribute_chains(struct attribution *a, const struct later *l)
{
	struct chain_sample s;
	size_t at = 0;

	while (at < l->chains.len) {
		memcpy(&s, l->chains.data + at, sizeof(s));
		at += sizeof(s);
		s.chain = (const void *)(l->chains.data + at);
		at += s.nr * sizeof(*s.chain);
		if (s.frame)
			s.frame = (const void *)(l->chains.data + at);
		at += s.nr_frames * sizeof(*s.frame);
		attribute_chain(a, &s);
	}
}

static void attribute_later(struct attribution *a)
{
	struct later *l = a->later;

	if (!l)
		return;
	a->later = NULL; /* I1 */
	attribute_batches(a, l);
	attribute_stacks(a, l);
	attribute_chains(a, l);
	buf_reset(&l->batches);
	buf_reset(&l->entries);
	buf_reset(&l->records);
	buf_reset(&l->stacks);
	buf_reset(&l->chains);
	a->later = l;
}

void attribute_resolve(struct attribution *a)
{
	images_resolve_noted(a->images);
	if (a->codecache)
		codecache_read_noted(a->codecache);
	if (a->kernel)
		kernel_read_noted(a->kernel);
	if (a->jit)
		jit_read_noted(a->jit);
	attribute_later(a);
}
