/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip.h - the instruction that each cycle belongs to, by the Oracle and by profilers
 *
 * MICRO'21 sections 2 and 3: the Oracle accounts each cycle between the first and the
 * last commit to the instructions whose latency the processor exposes; a profiler
 * assigns the cycles that it samples, by its own rule.
 *
 * I1  Σ rows of the Oracle = cycles = Σ states.
 * I2  Σ rows of another policy = samples, once a trace has ended. A policy has no rows
 *     if the trace lacks what it needs.
 * I3  Memory: a row and a name for each PC, and TIP_MAX_WAIT spans, however long the
 *     trace is.
 */
#ifndef CPI_ANALYSIS_TIP_H
#define CPI_ANALYSIS_TIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The choice of each profiler: sections 2.2, 3.2 and 4. */
#define TIP_POLICIES(X)                                                           \
	X(ORACLE, "Oracle")     /* each cycle, 1/n to each of n that commit */    \
	X(TIP, "TIP")           /* the same of the sampled cycles */              \
	X(ILP, "TIP-ILP")       /* that, but one of those that commit */          \
	X(NCI, "NCI")           /* the next that commits, the oldest of them */   \
	X(NCI_ILP, "NCI+ILP")   /* 1/n to each of the next that commit */         \
	X(LCI, "LCI")           /* the oldest that commits, or the last before */ \
	X(LCI_LAST, "LCI-last") /* the youngest that has committed by then */     \
	X(DISPATCH, "Dispatch") /* the next that is dispatched, if it commits */  \
	X(SOFTWARE, "Software") /* the next that is fetched later, if it commits */

enum tip_policy {
#define TIP_POLICY_ENUM(name, text) TIP_BY_##name,
	TIP_POLICIES(TIP_POLICY_ENUM)
#undef TIP_POLICY_ENUM
		TIP_NR_POLICIES
};

const char *tip_policy_str(enum tip_policy policy);

/*
 * The state of the processor in a cycle: the four of section 2.2, and why it is empty.
 */
#define TIP_STATES(X)                       \
	X(COMPUTING, "computing")           \
	X(STALLED, "stalled")               \
	X(MISPREDICT, "flushed_mispredict") \
	X(FLUSHED, "flushed_other")         \
	X(DRAINED, "drained")               \
	X(EXCEPTION, "exception")

enum tip_state {
#define TIP_STATE_ENUM(name, text) TIP_IS_##name,
	TIP_STATES(TIP_STATE_ENUM)
#undef TIP_STATE_ENUM
		TIP_NR_STATES
};

const char *tip_state_str(enum tip_state state);

enum tip_flag {
	TIP_MISPREDICTED =
		1,        /* a branch: younger instructions were on the wrong path */
	TIP_FLUSHES = 2,  /* younger instructions are fetched again */
	TIP_BRANCHES = 4, /* control flow: it ends a block */
	TIP_CALLS = 8,    /* the next instruction begins a function */
	TIP_TOLD = 16,    /* TIP_BRANCHES and TIP_CALLS are known */
};

struct tip_insn {
	uint64_t pc;
	unsigned int flags; /* enum tip_flag */
};

#define TIP_MAX_WIDTH 16
#define TIP_MAX_WAIT  4096
#define TIP_MAX_NAMES (1 << 20) /* of instructions; the rest have none */

/* Consecutive cycles in which the commit stage does the same. */
struct tip_span {
	uint64_t cycle, nr;
	enum {
		TIP_COMMITS, /* insn[0..n), the oldest first; nr is 1 */
		TIP_STALLS,  /* insn[0] is at the head */
		TIP_EMPTY,
		TIP_EXCEPTS, /* insn[0] has an exception; n is 0 if it is not known */
	} what;
	unsigned int n;
	struct tip_insn insn[TIP_MAX_WIDTH];
};

struct tip_sampling {
	uint64_t interval; /* cycles; 1: each */
	bool random;       /* at a random cycle of each interval, else at its first */
	uint64_t seed;
};

/* A sampled cycle, as TIP's hardware sees it (section 3.1). */
struct tip_sample {
	uint64_t cycle;
	enum tip_state state;
	unsigned int n; /* instructions that commit, the oldest first; else 1 */
	const struct tip_insn *insn;
};

struct tip_row {
	uint64_t pc;
	double weight[TIP_NR_POLICIES]; /* the Oracle's cycles; others' samples */
	uint64_t block, function;       /* PCs of their first instructions */
	const char *text;               /* as the trace has it; NULL: it has none */
};

enum tip_level { TIP_INSTRUCTION, TIP_BLOCK, TIP_FUNCTION, TIP_NR_LEVELS };

const char *tip_level_str(enum tip_level level);

struct tip;

struct tip *tip_new(const struct tip_sampling *sampling); /* NULL: out of memory */
void tip_free(struct tip *t);                             /* accepts NULL */

/*
 * Calls fn with each sample, in the order of cycles, once its instruction is known.
 * tip_add() returns fn's error. Call before the first cycle.
 */
void tip_tell_samples(struct tip *t, int (*fn)(void *ctx, const struct tip_sample *s),
		      void *ctx);

/* Keeps an instruction's text; its first word is the mnemonic. Returns 0 or -ENOMEM. */
int tip_name(struct tip *t, uint64_t pc, const char *text);

/*
 * Adds the next cycles. Spans ascend; cycles between them are empty. Returns 0; -EINVAL
 * for a span that is invalid or does not ascend; -ENOMEM; or -CPI_ELIMIT if more than
 * TIP_MAX_WAIT spans with different heads pass without a commit.
 */
int tip_add(struct tip *t, const struct tip_span *span);

/*
 * Adds the cycles in which a committed instruction was fetched and dispatched: in
 * program order, after the span in which it commits. Returns 0 or -ENOMEM.
 */
int tip_add_entry(struct tip *t, uint64_t pc, uint64_t fetched, uint64_t dispatched);

struct tip_result {
	uint64_t cycles, commits, samples;
	double state[TIP_NR_STATES]; /* cycles */
	const struct tip_row *row;   /* ascending PCs; the struct tip's */
	size_t nr_rows;
	bool has_blocks, has_entries; /* whether the trace has them */
	/* 1 - Σ min(policy, Oracle) of shares (section 4); NAN if not known. */
	double error[TIP_NR_LEVELS][TIP_NR_POLICIES];
};

/* Ends the trace. Returns 0, -ENOMEM, or -CPI_EEMPTY if nothing committed. */
int tip_end(struct tip *t, struct tip_result *out);

#endif
