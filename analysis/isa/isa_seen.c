/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run is identified by 128 bits of hash over what its schedule depends on: opcodes,
 * registers and whether addresses have displacements. Constants do not count, unless
 * the timing depends on them (shifts of AArch64, by_code). If there are too many
 * entries, those are dropped that came from an earlier run and were not used in this
 * process (uses by its workers are not known), and if that is less than half, all are.
 * So a file of schedules follows what is asked for, and programs that nobody looks at
 * any more leave it.
 */
#include "config.h"

#include "analysis/isa/isa_seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define MAX_ALL (1 << 21) /* 128 MiB */

struct seen {
	struct hnode node;
	struct seen *older;   /* of isa_seen.newest */
	uint64_t hash, check; /* two halves */
	int nr;
	bool used; /* in this run of the program */
	struct isa_timing timing[];
};

struct key {
	uint64_t hash, check;
};

/* Hashes the parts of an instruction that do not depend on its address. */
static uint64_t code_of(const struct isa_seen *seen, const struct insn *at)
{
	return seen->by_code && !at->target && at->memory.base != ISA_PC
		       ? hash_bytes(0, at->code, at->size)
		       : 0;
}

static struct key key_of(const struct isa_seen *seen, const struct isa_run *run)
{
	const uint64_t start = (uint64_t)run->nr << 1 | run->rough;
	struct key k = { seen->seed + start, ~seen->seed + ~start };

	for (int i = 0; i < run->nr; i++) {
		const struct insn *at = &run->insn[i];
		const uint64_t part[] = {
			(uint64_t)at->opcode << 32 | at->kind,
			(uint64_t)at->nr_prefixes << 32 |
				(uint64_t)at->memory.scale << 24 |
				(uint64_t)(at->memory.displacement != 0) << 16 |
				(uint64_t)at->memory.base << 8 | at->memory.index,
			code_of(seen, at),
			at->reads.bit[0],
			at->reads.bit[1],
			at->writes.bit[0],
			at->writes.bit[1],
		};

		k.hash = hash_bytes(k.hash, part, sizeof(part));
		k.check = hash_bytes(k.check, part, sizeof(part));
	}
	return k;
}

static struct seen *find_schedule(const struct isa_seen *seen, int nr,
				  const struct key *k)
{
	for (struct hnode *n = hmap_first(&seen->map, k->hash); n; n = hmap_next(n)) {
		struct seen *s = container_of(n, struct seen, node);

		if (s->hash == k->hash && s->check == k->check && s->nr == nr)
			return s;
	}
	return NULL;
}

/* The same, also among the stored runs that were not needed so far. */
static struct seen *recall_schedule(struct isa_seen *seen, int nr, const struct key *k)
{
	struct seen *s = find_schedule(seen, nr, k);

	if (s || !seen->recall)
		return s;
	seen->recall(seen->recall_ctx, k->hash);
	return find_schedule(seen, nr, k);
}

static bool is_short(const struct isa_run *run)
{
	return run->loops && !run->nr_before && run->nr <= ISA_SEEN_INSNS;
}

bool isa_seen_find(struct isa_seen *seen, const struct isa_run *run,
		   struct isa_timing *out)
{
	struct seen *s = NULL;
	struct key k;

	if (is_short(run)) {
		k = key_of(seen, run);
		s = recall_schedule(seen, run->nr, &k);
	}
	if (!s)
		return false;
	s->used = true;
	memcpy(out, s->timing, (size_t)s->nr * sizeof(*out));
	return true;
}

/* Returns the new entry, or NULL when out of memory. */
static struct seen *insert(struct isa_seen *seen, const struct isa_seen_run *run,
			   bool used)
{
	const size_t size = (size_t)run->nr * sizeof(*run->timing);
	struct seen *s = malloc(sizeof(*s) + size);

	if (!s)
		return NULL;
	s->hash = run->hash;
	s->check = run->check;
	s->nr = run->nr;
	s->used = used;
	memcpy(s->timing, run->timing, size);
	if (hmap_insert(&seen->map, &s->node, run->hash)) {
		free(s);
		return NULL;
	}
	seen->nr_insns += (size_t)run->nr;
	return s;
}

static void drop_unused(struct isa_seen *seen)
{
	struct hnode *n, *next;

	hmap_for_each (&seen->map, n, next) {
		struct seen *s = container_of(n, struct seen, node);

		if (s->used)
			continue;
		seen->nr_insns -= (size_t)s->nr;
		hmap_remove(&seen->map, n);
		free(s);
	}
}

static void make_room(struct isa_seen *seen)
{
	isa_seen_mark(seen);
	drop_unused(seen);
	if (seen->nr_insns > MAX_ALL / 2)
		isa_seen_fini(seen);
}

void isa_seen_trim(struct isa_seen *seen)
{
	if (seen->nr_insns + ISA_SEEN_INSNS > MAX_ALL)
		drop_unused(seen); /* not those since isa_seen_mark(): they are used */
}

void isa_seen_add(struct isa_seen *seen, const struct isa_run *run,
		  const struct isa_timing *timing)
{
	struct seen *s;
	struct key k;

	if (!is_short(run))
		return;
	if (seen->nr_insns + (size_t)run->nr > MAX_ALL)
		make_room(seen);
	k = key_of(seen, run);
	s = insert(seen, &(struct isa_seen_run){ k.hash, k.check, run->nr, timing },
		   true);
	if (!s)
		return;
	s->older = seen->newest;
	seen->newest = s;
	seen->grew = true;
}

bool isa_seen_put(struct isa_seen *seen, const struct isa_seen_run *run)
{
	const struct key k = { run->hash, run->check };

	return seen->nr_insns + (size_t)run->nr <= MAX_ALL &&
	       !find_schedule(seen, run->nr, &k) && insert(seen, run, false) != NULL;
}

bool isa_seen_take(struct isa_seen *seen, const struct isa_seen_run *run)
{
	const struct key k = { run->hash, run->check };

	if (recall_schedule(seen, run->nr, &k))
		return false;
	if (seen->nr_insns + (size_t)run->nr > MAX_ALL)
		make_room(seen);
	return insert(seen, run, true) != NULL;
}

void isa_seen_each(const struct isa_seen *seen,
		   void (*fn)(void *ctx, const struct isa_seen_run *run), void *ctx)
{
	struct hnode *n, *next;

	hmap_for_each (&seen->map, n, next) {
		const struct seen *s = container_of(n, struct seen, node);

		fn(ctx, &(struct isa_seen_run){ s->hash, s->check, s->nr, s->timing });
	}
}

void isa_seen_each_new(const struct isa_seen *seen,
		       void (*fn)(void *ctx, const struct isa_seen_run *run), void *ctx)
{
	for (const struct seen *s = seen->newest; s; s = s->older)
		fn(ctx, &(struct isa_seen_run){ s->hash, s->check, s->nr, s->timing });
}

void isa_seen_mark(struct isa_seen *seen)
{
	seen->newest = NULL;
}

void isa_seen_fini(struct isa_seen *seen)
{
	struct hnode *n, *next;

	hmap_for_each (&seen->map, n, next)
		free(container_of(n, struct seen, node));
	hmap_fini(&seen->map);
	seen->nr_insns = 0;
	seen->newest = NULL;
}
