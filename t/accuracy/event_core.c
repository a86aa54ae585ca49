/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Caches and the TLB are sets of least recently used lines; branches are predicted by
 * gshare, jumps and calls through registers by their last target, returns always.
 * Latencies are about those of today's servers, in cycles.
 */
#include "config.h"

#include "t/accuracy/event_core.h"

#include <stdbool.h>
#include <stdlib.h>

#define WIDTH   4
#define BUFFER  224 /* instructions */
#define REFILL  16  /* after a misprediction */
#define HISTORY 12  /* bits */
#define WAYS    8
#define STACK   (ISA_GENERAL + 4) /* its changes are known early */

/* Small, so that small programs miss, too. */
#define L1_SETS        16  /* 8 KiB */
#define L2_SETS        128 /* 64 KiB */
#define TLB_SETS       4   /* 32 pages */
#define L1_LATENCY     4
#define L2_LATENCY     14
#define MEMORY_LATENCY 180
#define WALK_LATENCY   30
#define DIVIDE_LATENCY 20
#define FETCH_LATENCY  12

struct set {
	uint64_t line[WAYS]; /* the newest first; + 1 */
};

struct core {
	uint64_t ready[ISA_NR_REGISTERS];
	uint64_t retired[BUFFER]; /* cycles, by number of instruction */
	uint64_t nr, fetch, last;
	unsigned int fetched, leaving; /* in the cycles fetch and last */
	struct set l1[L1_SETS], l1i[L1_SETS], l2[L2_SETS], tlb[TLB_SETS];
	uint8_t taken[1 << HISTORY];
	uint64_t target[1 << HISTORY];
	unsigned int history;
};

struct core *core_new(void)
{
	return calloc(1, sizeof(struct core));
}

void core_free(struct core *c)
{
	free(c);
}

/* Whether it is there; now it is. */
static bool touch(struct set *sets, unsigned int nr, uint64_t line)
{
	struct set *s = &sets[line % nr];
	int at = 0;

	while (at < WAYS - 1 && s->line[at] != line + 1)
		at++;
	const bool hit = s->line[at] == line + 1;

	for (; at > 0; at--)
		s->line[at] = s->line[at - 1];
	s->line[0] = line + 1;
	return hit;
}

static unsigned int load(struct core *c, uint64_t address, uint8_t *events)
{
	unsigned int latency = L1_LATENCY;

	if (!touch(c->tlb, TLB_SETS, address >> 12)) {
		latency += WALK_LATENCY;
		*events |= 1 << CORE_DTLB;
	}
	if (touch(c->l1, L1_SETS, address >> 6))
		return latency;
	*events |= 1 << CORE_DCACHE;
	if (touch(c->l2, L2_SETS, address >> 6))
		return latency + L2_LATENCY;
	*events |= 1 << CORE_MEMORY;
	return latency + MEMORY_LATENCY;
}

static bool predicts(struct core *c, const struct insn *insn, uint64_t next)
{
	const unsigned int mask = (1 << HISTORY) - 1;
	const unsigned int at = ((unsigned int)insn->address ^ c->history) & mask;
	bool right = true;

	if (insn->kind & INSN_COND) {
		const bool taken = next != insn->address + insn->size;

		right = (c->taken[at] >= 2) == taken;
		if (taken && c->taken[at] < 3)
			c->taken[at]++;
		else if (!taken && c->taken[at] > 0)
			c->taken[at]--;
		c->history = (c->history << 1 | taken) & mask;
	} else if (insn->kind & INSN_INDIRECT) {
		right = c->target[at] == next;
		c->target[at] = next;
	}
	return right;
}

/* When it enters the buffer. */
static uint64_t dispatch(struct core *c, const struct insn *insn, uint8_t *events)
{
	const uint64_t room = c->nr >= BUFFER ? c->retired[c->nr % BUFFER] : 0;

	if (!touch(c->l1i, L1_SETS, insn->address >> 6)) {
		*events |= 1 << CORE_ICACHE;
		c->fetch += FETCH_LATENCY;
		c->fetched = 0;
	}
	if (c->fetch < room || c->fetched == WIDTH) {
		c->fetch = c->fetch < room ? room : c->fetch + 1;
		c->fetched = 0;
	}
	c->fetched++;
	return c->fetch;
}

static uint64_t retire(struct core *c, uint64_t done)
{
	if (done > c->last || c->leaving == WIDTH) {
		c->last = done > c->last ? done : c->last + 1;
		c->leaving = 0;
	}
	c->leaving++;
	c->retired[c->nr++ % BUFFER] = c->last;
	return c->last;
}

void core_run(struct core *c, const struct insn *insn, const uint64_t *address, int nr,
	      uint64_t next, struct core_step *out)
{
	uint8_t events = 0;
	uint64_t start = dispatch(c, insn, &events), done, early;
	unsigned int latency = insn->kind & INSN_DIVIDE ? DIVIDE_LATENCY : 1;

	for (int r = ISA_FLAGS; r < ISA_NR_REGISTERS; r++)
		if (isa_has(&insn->reads, r) && c->ready[r] > start && r != STACK)
			start = c->ready[r];
	for (int i = 0; i < nr; i++) {
		const unsigned int l = load(c, address[i], &events);

		if (insn->kind & INSN_LOAD && l > latency)
			latency = l;
	}
	if (!(insn->kind & INSN_LOAD))
		events &= 1 << CORE_ICACHE;
	done = start + latency;
	for (int r = ISA_FLAGS; r < ISA_NR_REGISTERS; r++)
		if (r != ISA_PC && isa_has(&insn->writes, r))
			c->ready[r] = done;
	if (!predicts(c, insn, next)) {
		events |= 1 << CORE_MISPREDICT;
		c->fetch = done + REFILL;
		c->fetched = 0;
	}
	out->cycle = retire(c, done + 1);
	early = out->cycle - start;
	out->early = early < UINT16_MAX ? early : UINT16_MAX;
	out->events = events;
}
