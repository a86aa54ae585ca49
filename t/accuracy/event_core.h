/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_core.h - a core that executes what a trace says ran, to sample its events
 *
 * Out of order, and simple: WIDTH instructions enter a buffer in each cycle and as many
 * leave it, in their order, once their operands, caches, TLB and branches let them.
 */
#ifndef CPI_T_ACCURACY_EVENT_CORE_H
#define CPI_T_ACCURACY_EVENT_CORE_H

#include <stdint.h>

#include "analysis/isa/isa.h"

/* What is counted; cycles and instructions are of every instruction. */
enum core_event {
	CORE_DCACHE,     /* a load that misses the L1 cache */
	CORE_MEMORY,     /* ... and the last */
	CORE_DTLB,       /* ... and the TLB */
	CORE_MISPREDICT, /* a branch */
	CORE_ICACHE,     /* it was not in the L1 cache */
	CORE_NR_EVENTS
};

/* An instruction that has retired. */
struct core_step {
	uint64_t cycle; /* in which it left */
	int32_t insn;   /* the caller's number */
	uint16_t early; /* cycles before, its events happened */
	uint8_t events; /* bits by enum core_event */
};

struct core;

struct core *core_new(void); /* NULL: out of memory */
void core_free(struct core *c);

/*
 * insn runs, with nr data addresses, and after it what is at next. What it does is
 * in out, but for out->insn.
 */
void core_run(struct core *c, const struct insn *insn, const uint64_t *address, int nr,
	      uint64_t next, struct core_step *out);

#endif
