/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block has four costs, in cycles per execution:
 * - issue: only its issue slots, if all its waits overlap with other work
 * - best: the block repeated alone, in 0.75 of the schedule's cycles, because the model
 *   may be too slow
 * - usual: the schedule
 * - worst: the schedule on a core that two threads share, plus every wait that its
 *   instructions may have
 *
 * Divisions may be faster than the schedule says, and atomics and fences slower: both
 * change best and usual. If a loop in another loop is short, and begins each time with
 * values that do not come from the time before, several of its runs overlap, so that
 * its chains of operands take only a part of their length at best.
 *
 * The figures hold for current servers, including virtual machines, whose page walks
 * have two dimensions. They are bounds, so they are rounded outwards.
 */
#include "config.h"

#include "analysis/blame/blame_costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/blame/blame_case.h"
#include "analysis/cfg/loops.h"

#define WIDTH        8.0  /* instructions that retire in a cycle, on the widest core */
#define LUCKY        0.75 /* of the schedule: real cores are faster here and there */
#define DIVIDES      0.6 /* part of its latency that a division may save by its operands */
#define LOCKED       4.0    /* an atomic or a fence, at least */
#define LOCKS        9.0    /* ... usually */
#define SHARED       1.6    /* factor where a core's units and clock are shared */
#define MEMORY       2500.0 /* a miss to memory, with page walks */
#define STREAM       60.0   /* a line of a stream that is fetched ahead */
#define NEAR         14.0   /* from the second cache */
#define FORWARD      8.0    /* from a store that was not yet written */
#define REFILL       30.0   /* a mispredicted jump */
#define REFILL_LEAST 8.0    /* ... at least: the shortest pipelines */
#define REFILL_USUAL 17.0
#define CALL         (5.0 + MEMORY) /* the callee's data may displace the caller's code */
#define DIVISION     30.0           /* more than the schedule says */
#define ATOMIC       100.0
#define STORE        600.0 /* a store, while the stores before it miss as well */
#define LATE         60.0  /* a line of code, or a TLB entry, from L2 or beyond */
#define LONG         8 /* an instruction of so many uops (of the CPU) is microcode */
#define IN_FLIGHT    512.0 /* instructions that the largest cores have begun at a time */
#define FEW_LINES    3     /* a stride of so many lines is fetched ahead */

/* Instructions that are looked at to find how loops of a procedure overlap: 1 s. */
#define MOST_LOOKS (1u << 27)

/* As struct scale_costs, to be filled. */
struct block_costs {
	double *issue, *best, *usual, *worst;
	bool *calls;
};

/* A block while its costs are added up. */
struct block_scene {
	struct blame_scene scene;
	struct loop_nest nest;
	/*
	 * The share of the current block's executions that are the first after its
	 * loop was entered; 1 outside of loops. In these executions each address may
	 * be new.
	 */
	double entries;
	double *overlap; /* by head: as overlap_of(); 0: not known yet */
	size_t nr_looks; /* at instructions, in overlap_of() */
};

static double granules(struct address a, double granule)
{
	return fmin(fabs((double)a.stride) / granule, 1);
}

/* A step to another line or page, at worst. */
static double step_costs(struct address a, double miss)
{
	const double lines = granules(a, ADDRESS_LINE);

	if (!a.stride || llabs(a.stride) > ADDRESS_PAGE / 2)
		return miss;
	if (llabs(a.stride) <= FEW_LINES * ADDRESS_LINE)
		return NEAR / 8 + lines * STREAM * FEW_LINES;
	return miss / 2;
}

static double load_costs(struct block_scene *at, int insn)
{
	const struct address a = blame_address_of(&at->scene, insn);
	const double first = at->entries * MEMORY;
	struct blame_writers stores = { 0 };

	switch (a.walk) {
	case ADDRESS_FIXED:
		blame_find_stores(&at->scene.paths, insn, &stores);
		return first + (stores.nr ? FORWARD : 0);
	case ADDRESS_NEAR:
		return first + NEAR;
	case ADDRESS_STEPS:
		return first + step_costs(a, MEMORY);
	default:
		return MEMORY;
	}
}

static double store_costs(struct block_scene *at, int insn)
{
	const struct address a = blame_address_of(&at->scene, insn);
	const double first = at->entries * STORE;

	switch (a.walk) {
	case ADDRESS_FIXED:
		return first;
	case ADDRESS_NEAR:
		return first + NEAR / 2;
	case ADDRESS_STEPS:
		return first + step_costs(a, STORE);
	default:
		return STORE;
	}
}

static bool locks(const struct insn *insn)
{
	return insn->kind & (INSN_ATOMIC | INSN_FENCE);
}

/* The most that an instruction may wait beyond the schedule. */
static double may_wait(struct block_scene *at, int i)
{
	const struct insn *insn = &at->scene.in->cfg->insn[i];
	const struct isa_timing *t = &at->scene.in->timing[i];
	double cycles = REFILL * blame_miss_share(&at->scene, i);

	if (!t->modelled || insn->kind & (INSN_REPEAT | INSN_SYSCALL | INSN_BAD))
		return insn->kind & INSN_NOP ? 0 : INFINITY;
	if (insn->kind & (INSN_CALL | INSN_RETURN))
		return cycles + CALL;
	if (insn->kind & INSN_LOAD && !(insn->kind & INSN_PREFETCH))
		cycles += load_costs(at, i);
	if (insn->kind & INSN_STORE)
		cycles += store_costs(at, i);
	if (locks(insn))
		cycles += ATOMIC;
	if (insn->kind & INSN_DIVIDE)
		cycles += DIVISION;
	else if (t->uops >= LONG)
		cycles += t->latency;
	return cycles;
}

/* The cycles that an instruction may save if its operands are easy. */
static double may_save(const struct blame_input *in, int i)
{
	return in->cfg->insn[i].kind & INSN_DIVIDE ? DIVIDES * in->timing[i].latency
						   : 0;
}

static double schedule_of(const struct blame_input *in, const struct cfg_block *block)
{
	double cycles = 0;

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++)
		cycles += in->timing[i].head + in->timing[i].front_end;
	return cycles;
}

/* Whether a block is in the loop of a head. */
static bool is_inside(const struct loop_nest *nest, int b, int head)
{
	int loop = nest->inner[b];

	while (loop != LOOPS_NONE && loop != head)
		loop = nest->around[loop];
	return loop == head;
}

/*
 * The share of a block's executions that are the first after its innermost loop was
 * entered.
 */
static double share_of_entries(const struct block_scene *at, int b)
{
	const struct cfg *cfg = at->scene.in->cfg;
	const struct freq *f = at->scene.in->freq;
	const int head = at->nest.inner[b];
	double entries;

	if (head == LOOPS_NONE || !(f->block[b] > 0))
		return 1;
	entries = f->block[head];
	for (int i = 0; i < cfg->block[head].nr_in; i++) {
		const int e = cfg->in[cfg->block[head].first_in + i];

		if (is_inside(&at->nest, cfg->edge[e].from, head))
			entries -= f->edge[e];
	}
	return fmin(fmax(entries / f->block[b], 0), 1);
}

/* Whether an instruction takes a cycle, and needs nothing but the register it sets. */
static bool is_step(const struct blame_input *in, int i)
{
	const struct insn *insn = &in->cfg->insn[i];

	if (insn->kind & (INSN_LOAD | INSN_STORE) || !in->timing[i].modelled ||
	    in->timing[i].latency > 1)
		return false;
	for (size_t k = 0; k < ISA_NR_REGISTERS / 64; k++) {
		if (insn->reads.bit[k] & ~insn->writes.bit[k])
			return false;
	}
	return true;
}

/* Adds the registers of a block that it reads before it writes them, and writes. */
static void add_carried(const struct blame_input *in, int b,
			struct isa_registers *reads, struct isa_registers *writes)
{
	const struct cfg_block *block = &in->cfg->block[b];
	struct isa_registers written = { { 0 } };

	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		const struct insn *insn = &in->cfg->insn[i];
		const bool steps = is_step(in, i);

		for (size_t k = 0; k < ISA_NR_REGISTERS / 64; k++) {
			reads->bit[k] |= insn->reads.bit[k] & ~written.bit[k];
			written.bit[k] |= insn->writes.bit[k];
			writes->bit[k] |= steps ? 0 : insn->writes.bit[k];
		}
	}
}

/* Adds the registers that a block sets without their old values. */
static void add_set(const struct cfg *cfg, int b, struct isa_registers *set)
{
	const struct cfg_block *block = &cfg->block[b];

	for (int i = 0; i < block->nr_insns; i++) {
		const struct insn *insn = &cfg->insn[block->first_insn + i];

		for (size_t k = 0; k < ISA_NR_REGISTERS / 64; k++)
			set->bit[k] |= insn->writes.bit[k] & ~insn->reads.bit[k];
	}
}

/*
 * Whether the loop around a loop sets all registers anew that its rounds hand on,
 * except those that only count or walk.
 */
static bool begins_anew(const struct block_scene *at, int head)
{
	struct isa_registers reads = { { 0 } }, writes = { { 0 } }, set = { { 0 } };
	const int around = at->nest.around[head];

	for (int b = 0; b < at->scene.in->cfg->exit; b++) {
		if (is_inside(&at->nest, b, head))
			add_carried(at->scene.in, b, &reads, &writes);
		else if (is_inside(&at->nest, b, around))
			add_set(at->scene.in->cfg, b, &set);
	}
	for (size_t k = 0; k < ISA_NR_REGISTERS / 64; k++) {
		if (reads.bit[k] & writes.bit[k] & ~set.bit[k])
			return false;
	}
	return true;
}

/* How many runs of a loop in a loop a core may have begun at a time. */
static double overlap_of(const struct block_scene *at, int head)
{
	const struct cfg *cfg = at->scene.in->cfg;
	const double *block = at->scene.in->freq->block;
	const double entries = share_of_entries(at, head) * block[head];
	double nr_insns = 0;

	if (!begins_anew(at, head))
		return 1;
	for (int b = 0; b < cfg->exit; b++) {
		if (is_inside(&at->nest, b, head))
			nr_insns += block[b] * cfg->block[b].nr_insns;
	}
	return nr_insns > 0 ? 1 + IN_FLIGHT * entries / nr_insns : 1;
}

/* Of a block's innermost loop; 1 if it is in no other one. */
static double block_overlap(struct block_scene *at, int b)
{
	const int head = at->nest.inner[b];

	if (head == LOOPS_NONE || at->nest.around[head] == LOOPS_NONE)
		return 1;
	if (!at->overlap[head]) {
		at->overlap[head] =
			at->nr_looks < MOST_LOOKS ? overlap_of(at, head) : INFINITY;
		at->nr_looks += (size_t)at->scene.in->cfg->nr_insns;
	}
	return at->overlap[head];
}

/* What mispredicted jumps of a block cost, as far as windows expect them. */
struct refills {
	double least, usual;
};

static struct refills refills_of(const struct blame_input *in,
				 const struct cfg_block *block)
{
	struct refills out = { 0, 0 };

	for (int i = block->first_insn;
	     in->mispredicts && i < block->first_insn + block->nr_insns; i++) {
		const struct mispredicts *m = &in->mispredicts[i];

		out.least += m->executions ? REFILL_LEAST * m->low : 0;
		out.usual += m->executions ? REFILL_USUAL * m->likely : 0;
	}
	return out;
}

/* What a block's code may wait for, if it does not stay in the cache or the TLB. */
static double fetch_waits(const struct blame_scene *scene, int b)
{
	const struct cfg_block *block = &scene->in->cfg->block[b];
	const struct blame_overflow over =
		blame_overflows(&scene->footprints, scene->in->freq->block[b]);
	const double bytes = (double)(block->end - block->start);

	return (over.cache ? LATE * (1 + bytes / ADDRESS_LINE) : 0) +
	       (over.tlb ? LATE * (1 + bytes / ADDRESS_PAGE) : 0);
}

static void add_block(struct block_scene *at, int b, struct block_costs *out)
{
	const struct blame_input *in = at->scene.in;
	const struct cfg_block *block = &in->cfg->block[b];
	const double schedule = schedule_of(in, block);
	const struct refills refills = refills_of(in, block);
	double wait = 0, save = 0, nr_locks = 0;

	at->entries = share_of_entries(at, b);
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		wait += may_wait(at, i);
		save += may_save(in, i);
		nr_locks += locks(&in->cfg->insn[i]);
		out->calls[b] |= in->cfg->insn[i].kind & (INSN_CALL | INSN_SYSCALL);
	}
	wait += fetch_waits(&at->scene, b);
	out->issue[b] = block->nr_insns / WIDTH;
	out->best[b] = fmax(fmax((LUCKY * schedule - save) / block_overlap(at, b),
				 nr_locks * LOCKED),
			    out->issue[b]) +
		       refills.least;
	out->usual[b] =
		fmax(fmax(schedule - save / 4, nr_locks * LOCKS) + refills.usual,
		     out->best[b]);
	out->worst[b] = SHARED * out->usual[b] + wait;
}

int blame_costs_find(const struct blame_input *in, struct arena *arena,
		     struct scale_costs *out)
{
	const int nr = in->cfg->nr_blocks;
	struct block_costs c = { arena_array(arena, nr, sizeof(double)),
				 arena_array(arena, nr, sizeof(double)),
				 arena_array(arena, nr, sizeof(double)),
				 arena_array(arena, nr, sizeof(double)),
				 arena_array(arena, nr, sizeof(bool)) };
	struct block_scene at;
	int err = c.issue && c.best && c.usual && c.worst && c.calls
			  ? blame_scene_init(&at.scene, in, arena, NULL)
			  : -ENOMEM;

	at.nr_looks = 0;
	at.overlap = arena_array(arena, nr, sizeof(double));
	if (!err && !at.overlap)
		err = -ENOMEM;
	if (!err)
		err = loops_nest(in->cfg, arena, &at.nest);
	if (err)
		return err;
	for (int b = 0; b < in->cfg->exit; b++)
		add_block(&at, b, &c);
	*out = (struct scale_costs){ c.issue, c.best, c.usual, c.worst, c.calls };
	return 0;
}
