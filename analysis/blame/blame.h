/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame.h - why each instruction took its time
 *
 * SOSP'97 section 6.3: static stalls come from the schedule; the rest are dynamic
 * stalls. Each possible cause of a dynamic stall is a suspect. The suspects that
 * evidence cannot rule out are listed as culprits, likeliest first. If there are
 * several, a summary gives ranges (Figure 4).
 */
#ifndef CPI_ANALYSIS_BLAME_H
#define CPI_ANALYSIS_BLAME_H

#include <stdbool.h>

#include "analysis/cfg/cfg.h"
#include "analysis/data/data_model.h"
#include "analysis/freq/freq.h"
#include "analysis/isa/isa.h"
#include "analysis/predict/mispredicts.h"
#include "base/arena.h"
#include "base/buf.h"
#include "db/profile/profile.h"

/* In the order of Figure 4: name in JSON, name for people. */
#define BLAME_DYNAMIC_REASONS(X)                         \
	X(ICACHE, "icache", "I-cache miss")              \
	X(ITLB, "itlb", "ITLB miss")                     \
	X(DCACHE, "dcache", "D-cache miss")              \
	X(DTLB, "dtlb", "DTLB miss")                     \
	X(STORE, "store", "Store buffer")                \
	X(ATOMIC, "atomic", "Atomic or fence")           \
	X(MISPREDICT, "mispredict", "Branch mispredict") \
	X(DIVIDE, "divide", "Divider busy")              \
	X(UNIT, "unit", "Other unit busy")               \
	X(CHAIN, "chain", "Dependency chain")            \
	X(FREQUENCY, "frequency", "Frequency too low")   \
	X(UNEXPLAINED, "unexplained", "Unexplained stall")
#define BLAME_STATIC_REASONS(X)                           \
	X(FRONT_END, "front_end", "Front end")            \
	X(DEPENDENCY, "dependency", "Operand dependency") \
	X(FUNCTION_UNIT, "function_unit", "Functional unit")

enum blame_reason {
#define X(symbol, name, text) BLAME_##symbol,
	BLAME_DYNAMIC_REASONS(X) BLAME_NR_DYNAMIC,
	BLAME_BEFORE_STATIC = BLAME_NR_DYNAMIC - 1,
	BLAME_STATIC_REASONS(X) BLAME_NR_REASONS
#undef X
};

const char *blame_name(enum blame_reason reason); /* "dcache" */
const char *blame_text(enum blame_reason reason); /* "D-cache miss" */

/* A possible cause of a stall. */
struct culprit {
	enum blame_reason reason;
	int insn;    /* in cfg.insn: the load, the divide, the jump …; -1: unknown */
	double most; /* cycles of the stall that it can explain */
	bool chases; /* a load that follows pointers; set only with data of windows */
};

/* Time that an instruction waited at the head of the reorder buffer. */
struct stall {
	bool dynamic;
	double cycles;                 /* per execution; above 0 */
	const struct culprit *culprit; /* likeliest first; at least one */
	int nr;
};

struct blame_insn {
	double cycles;  /* per execution: blamed time over frequency; NAN if the
			   frequency is 0 or not known */
	double best;    /* M: cycles at the head without dynamic stalls */
	double execute; /* the part of best that is issue and execution, not a stall */
	struct stall *stall; /* the longest first */
	int nr_stalls;
	double sure; /* low end of the interval of its executions / their estimate */
	double more; /* high end / estimate */
	/*
	 * If the instruction ran only as often as the low end, a part of execute and of
	 * the static stalls was really this dynamic stall. It is not in the array
	 * stall. nr is 0 if there is none, or no culprit.
	 */
	struct stall possible;
	double gain;  /* unexplained gain: cycles by which best is too high */
	double error; /* remaining cycles, positive or negative; within sampling error
		       */
};

struct blame_range {
	double least, most;
};

/*
 * Where the time of a procedure went, in samples. Summaries of several procedures add
 * up member by member. least is the time that only this reason explains; most is the
 * time that it may explain. It allows for errors of the executions: if the code ran
 * more rarely than estimated, dynamic stalls were longer, if more often, static ones.
 *
 * I1  tallied = execution + Σ (stalls by their first culprit) - gain + error
 * I2  samples = tallied + outside
 */
struct blame_summary {
	double samples;
	double tallied; /* samples of instructions whose frequency is known */
	double outside; /* all other samples */
	double execution;
	double gain;
	double error; /* Figure 4's "net sampling error" */
	struct blame_range reason[BLAME_NR_REASONS];
	double by_first[BLAME_NR_REASONS]; /* the stalls by their first culprit */
};

/* Samples of an event that counts how often a reason occurred. */
struct blame_evidence {
	enum blame_reason reason;
	const double *events; /* by instruction; samples × period */
	double cycles;        /* the most that one event costs */
};

/* Whether a reason occurred, as hardware recorded it (db/profile/records.h). */
struct blame_measure {
	enum blame_reason reason;
	const uint64_t *known, *seen; /* by instruction: records that tell, and those
					 where it occurred */
};

struct blame_input {
	const struct cfg *cfg;
	struct isa *isa; /* analyses how addresses are computed; or NULL */
	const struct isa_timing *timing; /* by instruction, in its block */
	const double *samples;           /* by instruction: blamed time samples */
	const struct count *outcomes;    /* by instruction: where jumps went; or NULL */
	const struct freq *freq;
	const struct mispredicts
		*mispredicts; /* by instruction, from windows; or NULL */
	double period_cycles; /* cycles per sample */
	bool exact;           /* samples are at the stalled instruction, not near it */
	bool deferred; /* interrupts may be masked: no CPI, all samples are outside */
	const struct blame_evidence *evidence;
	int nr_evidence;
	const struct blame_measure *measure;
	int nr_measures;
	/*
	 * By instruction: what windows saw of its addresses; the element is NULL if
	 * that was too little. data itself is NULL if there are no such data.
	 */
	const struct data_insn *const *data;
};

struct blame {
	struct blame_insn *insn; /* by instruction */
	struct blame_summary summary;
};

/*
 * requires: freq_estimate(). Everything lives in the arena. Unless debug is NULL, it
 * gets the reason why each suspect was ruled out. Returns 0 or -ENOMEM.
 */
int blame_find(const struct blame_input *in, struct arena *arena, struct buf *debug,
	       struct blame **out);

/* Adds from to sum. */
void blame_summary_add(struct blame_summary *sum, const struct blame_summary *from);

#endif
