/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - who called, from registers and a copy of the stack
 *
 * For programs without frame pointers: the kernel copies the registers and the end of
 * the stack, and libunwind finds the callers by what the images say of their frames.
 * Nothing of the process is needed any more.
 *
 * Registers, stack, mappings and tables are hostile: a chain ends, whatever they say,
 * after UNWIND_MAX_FRAMES frames, and nothing is read but the copy and the tables.
 */
#ifndef CPI_ANALYSIS_UNWIND_H
#define CPI_ANALYSIS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/unwindtables.h"

#define UNWIND_MAX_FRAMES 896
#define UNWIND_NR_REGS    33 /* by DWARF's numbers: as many as AArch64 has, and the PC */

/* Why a chain has no more frames. */
enum unwind_end {
	UNWIND_ROOT,     /* there are none: it began there */
	UNWIND_COPY,     /* the copy of the stack ended before */
	UNWIND_UNMAPPED, /* the caller is in no mapping */
	UNWIND_NO_TABLE, /* the caller's image says nothing of its frame */
	UNWIND_BROKEN,   /* what it says cannot be */
	UNWIND_DEPTH,    /* UNWIND_MAX_FRAMES */
	UNWIND_LOOP,     /* the caller's frame would be inside of the callee's */
	UNWIND_NR_ENDS,
};

/* "root", "copy", … */
const char *unwind_end_name(enum unwind_end end);

/* A mapping that may be executed. */
struct unwind_mapping {
	uint64_t start, end;
	uint64_t bias;  /* address + bias is the file's offset */
	uint32_t image; /* the caller's number; 0: there are no tables */
};

/*
 * The tables of an image, which is asked for when a frame is in it; NULL: there are
 * none. They must stay until unwinder_forget().
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
	bool returns; /* the PC is where a call returns to: the call is before it */
};

struct unwind_chain {
	struct unwind_frame frame[UNWIND_MAX_FRAMES]; /* the sampled one first */
	size_t nr;
	size_t nr_guessed; /* callers that were found without a table */
	enum unwind_end end;
};

/* Of one process. */
struct unwinder;

/* 0, -ENOMEM, or -EOPNOTSUPP where libunwind is not built in. */
int unwinder_open(unwind_tables_fn tables, void *ctx, struct unwinder **out);
void unwinder_close(struct unwinder *u); /* accepts NULL */

/* These are its mappings from now on, ascending; copied. What was learnt is void. 0 or
 * -ENOMEM. */
int unwinder_map(struct unwinder *u, const struct unwind_mapping *m, size_t nr);

/* Keeps no tables; what was learnt of frames stays. */
void unwinder_forget(struct unwinder *u);

/* All callers that can be found, and why there are no more. */
void unwinder_run(struct unwinder *u, const struct unwind_sample *s,
		  struct unwind_chain *out);

#endif
