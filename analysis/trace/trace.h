/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - reads pipeline traces into states of the commit stage by cycle
 *
 * Three formats: Kanata, the log of the Konata viewer (stages as the RSD core names
 * them: dispatch Ds, commit Cm); gem5's O3PipeView; and a stream of 64-byte records,
 * one for each cycle. A trace comes in pieces of any size and is never held whole.
 *
 * Memory: TRACE_MAX_OPS operations in flight.
 */
#ifndef CPI_ANALYSIS_TRACE_H
#define CPI_ANALYSIS_TRACE_H

#include "analysis/trace/tip.h"

#define TRACE_MAX_OPS 65536

struct trace_commits;
struct trace_watch;

struct trace_format {
	const char *name;
	/* Whether a trace of this format begins so. */
	bool (*begins)(const char *head, size_t len);
	void *(*make)(struct tip *t); /* NULL: out of memory */
	void (*free)(void *state);    /* accepts NULL */
	size_t record; /* bytes; 0: lines, whose \n or \r\n a NUL replaces */
	/* 0, -CPI_EFORMAT, -CPI_ELIMIT, or tip_add()'s; end() is before tip_end(). */
	int (*add)(void *state, char *data); /* may change data */
	int (*end)(void *state);
	/* NULL: the format has no operations. */
	struct trace_commits *(*commits)(void *state);
};

extern const struct trace_format trace_kanata, trace_o3, trace_tokens;

struct trace;

/*
 * Makes a reader for the trace that begins with head; t will get its cycles. head is
 * not consumed. Returns 0, -CPI_EFORMAT for an unknown format, or -ENOMEM.
 */
int trace_new(const char *head, size_t len, struct tip *t, struct trace **out);
void trace_free(struct trace *tr); /* accepts NULL */

/*
 * Reads the next bytes, and may change them. After a failure trace_where() is the
 * number of the line or record at which it was noticed.
 */
int trace_feed(struct trace *tr, char *data, size_t len);
int trace_end(struct trace *tr); /* reads the rest and completes tip's spans */

/*
 * From now on watch gets the operations; it must stay valid. Call before trace_feed().
 * Returns 0, or -ENOTSUP for a format without operations.
 */
int trace_set_watch(struct trace *tr, const struct trace_watch *watch);

const char *trace_name(const struct trace *tr);
uint64_t trace_where(const struct trace *tr); /* from 1 */

/* The enum tip_flag bits of an instruction's disassembly: TIP_TOLD and others. */
unsigned int trace_flags(const char *text);

/* The kind of an instruction by the same text, which must begin with the mnemonic. */
enum trace_kind { TRACE_ALU, TRACE_LOAD, TRACE_STORE };
enum trace_kind trace_kind(const char *text);

/* An operation of a trace. */
struct trace_op {
	uint64_t id; /* ascending in program order */
	uint64_t pc;
	/* Cycles; 0 for a stage that it did not reach. */
	uint64_t fetched, dispatched, issued, completed, committed;
	unsigned int flags;
};

/*
 * Gets each operation that leaves the pipeline, in any order. For one that is thrown
 * away, completed is the cycle in which it left; O3PipeView does not record this cycle,
 * so there it is the cycle in which the operation was executed, or 0. An error ends the
 * trace.
 */
struct trace_watch {
	int (*op)(void *ctx, const struct trace_op *op);
	void *ctx;
};

/* Committed operations, gathered into groups; starts as { .tip = t }. */
struct trace_commits {
	struct tip *tip;
	const struct trace_watch *watch; /* or NULL */
	bool has_labels;                 /* flags have TIP_MISPREDICTED */
	struct trace_op group[TIP_MAX_WIDTH];
	unsigned int n;
	uint64_t told;      /* the cycle behind the last group that tip got */
	uint64_t *squashed; /* ids of dispatched operations that will not commit */
	size_t nr_squashed;
};

/* Reports an operation that left the pipeline to the watch. Returns 0 or its error. */
int trace_leave(const struct trace_commits *c, const struct trace_op *op);
/* Keeps the text of an instruction, without blanks around it. Returns 0 or -ENOMEM. */
int trace_name_insn(struct trace_commits *c, uint64_t pc, const char *text);

/* Compares two struct trace_op by id, for qsort(). */
int trace_compare_ops(const void *a, const void *b);

/*
 * Notes a dispatched operation that was thrown away. Returns 0, -ENOMEM or -CPI_ELIMIT.
 */
int trace_squash(struct trace_commits *c, uint64_t id);

/*
 * Commits the next operation in program order. Returns 0, -CPI_EFORMAT if it is not the
 * next one, or an error of tip_add().
 */
int trace_commit(struct trace_commits *c, const struct trace_op *op);
int trace_commits_end(struct trace_commits *c);

#endif
