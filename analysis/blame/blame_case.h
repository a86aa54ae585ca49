/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_case.h - one stalled instruction and its suspects
 *
 * Shared by blame.c and the detectives (blame_data.c, blame_fetch.c, blame_branch.c,
 * blame_units.c). A detective knows one sort of cause. It accuses every suspect that it
 * cannot acquit, with a likelihood between 0 and 1 and, if there is a bound, the most
 * that this cause can cost in one execution.
 */
#ifndef CPI_ANALYSIS_BLAME_CASE_H
#define CPI_ANALYSIS_BLAME_CASE_H

#include <math.h>

#include "analysis/blame/blame.h"
#include "analysis/blame/blame_address.h"
#include "analysis/blame/blame_path.h"

#define BLAME_NO_LIMIT INFINITY

/*
 * A stall is located up to the group of instructions that retire together: samples are
 * at its first one (landing.h), but any of them may have waited. An instruction that
 * was fetched late, or a store that found the buffer full, may also be the first one
 * behind the group.
 */
#define BLAME_MAX_GROUP 16
#define BLAME_NEXT      0.6 /* the next one's weight */
struct blame_witness {
	int insn;
	double weight; /* 1 for the stalled instruction itself */
};

struct suspect {
	enum blame_reason reason;
	int insn;
	double likelihood;
	double most; /* cycles of one execution */
};

/*
 * How much code runs at least so often: blocks by frequency, the most frequent first.
 */
struct blame_footprints {
	double *runs;
	double *bytes; /* of this block and those before it */
	bool *calls;   /* there is a call in this block or those before it */
	int nr;
};

/* Shared by all cases of a procedure. */
struct blame_scene {
	const struct blame_input *in;
	struct blame_paths paths;
	struct blame_footprints footprints;
	struct address *address; /* by instruction, filled on demand */
	bool *has_address;
	double certain;    /* the part of the current block's time that is stalls at any
			      frequency in its interval */
	struct buf *debug; /* or NULL */
};

#define BLAME_MAX_SUSPECTS 16
struct blame_case {
	const struct blame_input *in;
	struct blame_scene *scene;
	struct blame_paths *paths; /* the scene's */
	int insn, block;
	double frequency; /* executions of it */
	double cycles;    /* of one: the stall */
	struct blame_witness group[BLAME_MAX_GROUP];
	int nr_group;
	int next; /* the instruction most often executed next; or -1 */
	struct suspect suspect[BLAME_MAX_SUSPECTS]; /* likeliest first */
	int nr;
};

static inline const struct insn *blame_case_insn(const struct blame_case *c, int insn)
{
	return &c->in->cfg->insn[insn];
}

/* Everything lives in the arena. Returns 0 or -ENOMEM. */
int blame_scene_init(struct blame_scene *scene, const struct blame_input *in,
		     struct arena *arena, struct buf *debug);

/* Finds the culprits of an instruction's dynamic stall. Returns 0 or -ENOMEM. */
int blame_judge(struct blame_scene *scene, int insn, double cycles, struct arena *arena,
		struct stall *out);

/*
 * Adds a suspect. Evidence may lower most; a suspect that can explain almost nothing is
 * acquitted. If hardware recorded the cause at insn, that decides: never there, or
 * certain.
 */
void blame_accuse(struct blame_case *c, enum blame_reason reason, int insn,
		  double likelihood, double most);

/* Only writes debug output: a suspect that is never accused is no culprit. */
void blame_acquit(struct blame_case *c, enum blame_reason reason, const char *why);

void blame_data(struct blame_case *c);     /* loads and stores */
void blame_fetch(struct blame_case *c);    /* instruction cache and TLB */
void blame_branches(struct blame_case *c); /* mispredictions */
void blame_units(struct blame_case *c);    /* dividers, atomics, chains … */

/*
 * Whether an instruction's latency depends on its data, so that the schedule has only
 * its minimum: divisions, atomics, accesses far from the one before.
 */
bool blame_varies(struct blame_scene *scene, int insn);

/* An instruction's address; remembered. */
struct address blame_address_of(struct blame_scene *scene, int insn);

/* The share of a jump's executions that are mispredicted, at worst; 0: no jump. */
double blame_miss_share(const struct blame_scene *scene, int insn);

/* Whether no predictor can know where a jump goes. */
bool blame_may_mispredict(const struct blame_scene *scene, int insn);

/*
 * The index behind the last instruction of the block that retires together with insn.
 */
int blame_group_end(const struct blame_scene *scene, int insn);

/* The arena's. Returns 0 or -ENOMEM. */
int blame_footprints_init(struct blame_footprints *f, const struct blame_input *in,
			  struct arena *arena);

/* Whether more code runs between two executions of a block than a cache holds. */
bool blame_overflows(const struct blame_footprints *f, double runs);

/* Adds one instruction's stalls to the summary, each cycle worth samples. */
void blame_summary_count(struct blame_summary *sum, const struct blame_insn *insn,
			 double samples_per_cycle);

#endif
