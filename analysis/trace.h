/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - pipeline traces, as what the commit stage does in each cycle
 *
 * Three formats: Kanata, the log of the Konata viewer (stages as the RSD core names
 * them: dispatch Ds, commit Cm); gem5's O3PipeView; and a stream of 64-byte records,
 * one for each cycle. A trace comes in pieces of any size and is never held whole.
 *
 * Memory: TRACE_MAX_OPS operations in flight.
 */
#ifndef CPI_ANALYSIS_TRACE_H
#define CPI_ANALYSIS_TRACE_H

#include "analysis/tip.h"

#define TRACE_MAX_OPS 65536

struct trace_commits;
struct trace_watch;

struct trace_format {
	const char *name;
	bool (*begins)(const char *head, size_t len); /* whether such a trace does so */
	void *(*new)(struct tip *t);                  /* NULL: out of memory */
	void (*free)(void *state);                    /* accepts NULL */
	size_t record; /* bytes of each; 0: lines, which come with a NUL for the \n, or
			  \r\n */
	/* 0, -CPI_EFORMAT, -CPI_ELIMIT, or tip_add()'s; end() is before tip_end(). */
	int (*add)(void *state, char *data); /* which it may change */
	int (*end)(void *state);
	struct trace_commits *(*commits)(void *state); /* NULL: it has no operations */
};

extern const struct trace_format trace_kanata, trace_o3, trace_tokens;

struct trace;

/*
 * The trace that begins with head, which is only looked at, to be told to t. Returns 0,
 * -CPI_EFORMAT when it is none that is known, or -ENOMEM.
 */
int trace_new(const char *head, size_t len, struct tip *t, struct trace **out);
void trace_free(struct trace *tr); /* accepts NULL */

/* The next bytes, which it may change. On failure trace_where() tells which line or
 * record it was. */
int trace_feed(struct trace *tr, char *data, size_t len);
int trace_end(struct trace *tr); /* what is left, and tip's spans are complete */

/*
 * From now on watch, which stays, is told of operations. 0, or -ENOTSUP: such a trace
 * has none. Before trace_feed().
 */
int trace_set_watch(struct trace *tr, const struct trace_watch *watch);

const char *trace_name(const struct trace *tr);
uint64_t trace_where(const struct trace *tr); /* from 1 */

/* enum tip_flag of an instruction as disassemblers write it: TIP_TOLD and others. */
unsigned int trace_flags(const char *text);

/* By the same text, which begins with its first word. */
enum trace_kind { TRACE_ALU, TRACE_LOAD, TRACE_STORE };
enum trace_kind trace_kind(const char *text);

/* What a trace of operations knows of one. */
struct trace_op {
	uint64_t id; /* ascending in program order */
	uint64_t pc;
	/* Cycles; 0 where it did not come to that. */
	uint64_t fetched, dispatched, issued, completed, committed;
	unsigned int flags;
};

/*
 * Told of each operation that leaves the pipeline, in any order; completed is when it
 * left where it was thrown away. An error ends the trace.
 */
struct trace_watch {
	int (*op)(void *ctx, const struct trace_op *op);
	void *ctx;
};

/* Operations that commit, put together to groups; starts as { .tip = t }. */
struct trace_commits {
	struct tip *tip;
	const struct trace_watch *watch; /* or NULL */
	bool has_labels; /* flags say which branches were mispredicted */
	struct trace_op group[TIP_MAX_WIDTH];
	unsigned int n;
	uint64_t told;      /* the cycle behind the last group that tip was told of */
	uint64_t *squashed; /* ids of dispatched ones that will not commit */
	size_t nr_squashed, room;
};

/* It has left the pipeline. 0, or an error of the watch. */
int trace_leave(const struct trace_commits *c, const struct trace_op *op);
/* Keeps the text of an instruction, without blanks around it. 0 or -ENOMEM. */
int trace_name_insn(struct trace_commits *c, uint64_t pc, const char *text);

/* An operation that was dispatched, and is thrown away. 0, -ENOMEM or -CPI_ELIMIT. */
int trace_squash(struct trace_commits *c, uint64_t id);

/* The next one in program order. 0, -CPI_EFORMAT (not the next one) or tip_add()'s. */
int trace_commit(struct trace_commits *c, const struct trace_op *op);
int trace_commits_end(struct trace_commits *c);

#endif
