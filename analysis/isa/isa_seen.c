/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run is identified by 128 bits of hash over what its schedule depends on: opcodes,
 * registers and whether addresses have displacements. Constants do not count, unless
 * they decide what an opcode does (AArch64's shifts, by_code). When there are too many
 * entries, all are dropped: the next procedures belong to another part of the program
 * and have other blocks.
 */
#include "config.h"

#include "analysis/isa/isa_seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define MAX_INSNS 64        /* of a run; longer ones do not come twice */
#define MAX_ALL   (1 << 18) /* 14 MiB */

struct seen {
	struct hnode node;
	uint64_t check; /* the hash's other half */
	int nr;
	struct isa_timing timing[];
};

struct key {
	uint64_t hash, check;
};

/* Of what has no address, which would always differ. */
static uint64_t code_of(const struct isa_seen *seen, const struct insn *at)
{
	return seen->by_code && !at->target && at->memory.base != ISA_PC
		       ? hash_bytes(0, at->code, at->size)
		       : 0;
}

static struct key key_of(const struct isa_seen *seen, const struct isa_run *run)
{
	const uint64_t start = (uint64_t)run->nr << 1 | run->rough;
	struct key k = { start, ~start };

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

static struct seen *find_schedule(const struct isa_seen *seen,
				  const struct isa_run *run, const struct key *k)
{
	for (struct hnode *n = hmap_first(&seen->map, k->hash); n; n = hmap_next(n)) {
		struct seen *s = container_of(n, struct seen, node);

		if (s->check == k->check && s->nr == run->nr)
			return s;
	}
	return NULL;
}

static bool is_short(const struct isa_run *run)
{
	return run->loops && !run->nr_before && run->nr <= MAX_INSNS;
}

bool isa_seen_find(const struct isa_seen *seen, const struct isa_run *run,
		   struct isa_timing *out)
{
	struct seen *s = NULL;
	struct key k;

	if (is_short(run)) {
		k = key_of(seen, run);
		s = find_schedule(seen, run, &k);
	}
	if (s)
		memcpy(out, s->timing, (size_t)s->nr * sizeof(*out));
	return s;
}

void isa_seen_add(struct isa_seen *seen, const struct isa_run *run,
		  const struct isa_timing *timing)
{
	const size_t size = (size_t)run->nr * sizeof(*timing);
	struct seen *s;
	struct key k;

	if (!is_short(run))
		return;
	if (seen->nr_insns + (size_t)run->nr > MAX_ALL)
		isa_seen_fini(seen);
	s = malloc(sizeof(*s) + size);
	if (!s)
		return;
	k = key_of(seen, run);
	s->check = k.check;
	s->nr = run->nr;
	memcpy(s->timing, timing, size);
	if (hmap_insert(&seen->map, &s->node, k.hash))
		free(s);
	else
		seen->nr_insns += (size_t)run->nr;
}

void isa_seen_fini(struct isa_seen *seen)
{
	struct hnode *n, *next;

	hmap_for_each (&seen->map, n, next)
		free(container_of(n, struct seen, node));
	hmap_fini(&seen->map);
	seen->nr_insns = 0;
}
