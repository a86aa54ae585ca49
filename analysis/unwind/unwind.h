/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - the chain of callers, from registers and a copy of the stack
 *
 * For programs without frame pointers: the kernel copies the registers and the end of
 * the stack, and libunwind finds the callers by the images' frame descriptions. The
 * process itself is not needed any more.
 *
 * Registers, stack, mappings and tables are hostile: whatever they contain, a chain
 * ends after UNWIND_MAX_FRAMES frames, and only the copy and the tables are read.
 */
#ifndef CPI_ANALYSIS_UNWIND_H
#define CPI_ANALYSIS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/unwind/unwindtables.h"

#define UNWIND_MAX_FRAMES 896
#define UNWIND_NR_REGS    33 /* by DWARF's numbers: as many as AArch64 has, and the PC */

/* Why a chain ended. */
enum unwind_end {
	UNWIND_ROOT,     /* complete: the thread began there */
	UNWIND_COPY,     /* the copy of the stack ended */
	UNWIND_UNMAPPED, /* the caller is in no mapping */
	UNWIND_NO_TABLE, /* the caller's image has no description of its frame */
	UNWIND_BROKEN,   /* the description is impossible */
	UNWIND_DEPTH,    /* UNWIND_MAX_FRAMES */
	UNWIND_LOOP,     /* the caller's frame would be inside the callee's */
	UNWIND_NR_ENDS,
};

/* An executable mapping. */
struct unwind_mapping {
	uint64_t start, end;
	uint64_t bias;  /* address + bias is the file's offset */
	uint32_t image; /* the caller's number; 0: there are no tables */
};

/*
 * Returns the tables of an image; called when a frame is in it. NULL: it has none. They
 * must stay until unwinder_forget().
 */
typedef const struct unwindtables *(*unwind_tables_fn)(void *ctx, uint32_t image);

struct unwind_sample {
	const uint64_t *regs; /* UNWIND_NR_REGS */
	uint64_t stack_at;    /* the copy's first address */
	const void *stack;
	size_t stack_size;
};

struct unwind_frame {
	uint64_t pc;
	bool returns; /* the PC is a return address: the call is before it */
};

struct unwind_chain {
	struct unwind_frame frame[UNWIND_MAX_FRAMES]; /* the sampled one first */
	size_t nr;
	size_t nr_guessed; /* callers found without a table */
	enum unwind_end end;
};

/* Of one process. */
struct unwinder;

/* 0, -ENOMEM, or -EOPNOTSUPP where libunwind is not built in. */
int unwinder_open(unwind_tables_fn tables, void *ctx, struct unwinder **out);
void unwinder_close(struct unwinder *u); /* accepts NULL */

/*
 * Sets the process's mappings, which ascend, and copies them. Drops what was learnt
 * about frames. Returns 0 or -ENOMEM.
 */
int unwinder_map(struct unwinder *u, const struct unwind_mapping *m, size_t nr);

/* Drops all tables, but keeps what was learnt about frames. */
void unwinder_forget(struct unwinder *u);

/* Finds all callers that can be found, and why the chain ends there. */
void unwinder_run(struct unwinder *u, const struct unwind_sample *s,
		  struct unwind_chain *out);

#endif
