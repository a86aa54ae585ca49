/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_case.h - one stalled instruction and its suspects
 *
 * Shared by blame.c and the detectives (blame_data.c, blame_fetch.c, blame_branch.c,
 * blame_units.c). A detective examines one kind of cause. It accuses each suspect that
 * it cannot rule out, with a likelihood between 0 and 1 and, if there is a bound, the
 * most cycles that this cause can cost in one execution.
 */
#ifndef CPI_ANALYSIS_BLAME_CASE_H
#define CPI_ANALYSIS_BLAME_CASE_H

#include <math.h>

#include "analysis/blame/blame.h"
#include "analysis/blame/blame_address.h"
#include "analysis/blame/blame_path.h"

#define BLAME_NO_LIMIT INFINITY

/*
 * The samples of a group of instructions that retire together are at its first one
 * (landing.h), so each of them may be the one that waited. An instruction that was
 * fetched late, or a store that found its buffer full, may also be the first one after
 * the group. Each of these instructions is a witness.
 */
#define BLAME_MAX_GROUP 16
#define BLAME_NEXT      0.6 /* weight of the first instruction after the group */
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
 * How much code runs at least as often as a block: blocks by frequency, most frequent
 * first. Lines and pages count once, however many blocks are in them.
 */
struct blame_footprints {
	double *runs;
	double *lines, *pages; /* of this block and those before it */
	bool *calls;           /* there is a call in this block or those before it */
	int nr;
};

/* Shared by all cases of a procedure. */
struct blame_scene {
	const struct blame_input *in;
	struct blame_paths paths;
	struct blame_footprints footprints;
	struct address *address; /* by instruction, filled on demand */
	bool *has_address;
	double certain;    /* the part of the block's time that is stalls even at the
			      highest frequency in its interval */
	struct buf *debug; /* or NULL */
};

#define BLAME_MAX_SUSPECTS 16
struct blame_case {
	const struct blame_input *in;
	struct blame_scene *scene;
	struct blame_paths *paths; /* the scene's */
	int insn, block;
	double frequency; /* executions of insn */
	double cycles;    /* of the stall, per execution */
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
 * Adds a suspect. Evidence may lower `most`; a suspect that can explain almost nothing
 * is ruled out. If hardware records tell whether the cause occurred at insn, they
 * decide.
 */
void blame_accuse(struct blame_case *c, enum blame_reason reason, int insn,
		  double likelihood, double most);

/* Only writes debug output: why there is no such suspect. */
void blame_acquit(struct blame_case *c, enum blame_reason reason, const char *why);

void blame_data(struct blame_case *c);     /* loads and stores */
void blame_fetch(struct blame_case *c);    /* instruction cache and TLB */
void blame_branches(struct blame_case *c); /* mispredictions */
void blame_units(struct blame_case *c);    /* dividers, atomics, chains … */

/*
 * Whether an instruction's latency depends on its data, so that the schedule has only
 * its minimum: divisions, atomics, and loads and stores whose address may be far from
 * that of their last execution.
 */
bool blame_varies(struct blame_scene *scene, int insn);

/* Returns how an instruction's address changes; the result is stored in scene. */
struct address blame_address_of(struct blame_scene *scene, int insn);

/*
 * Returns the largest possible share of mispredictions of a jump; 0 if the instruction
 * is not a jump, or if its target is always the same.
 */
double blame_miss_share(const struct blame_scene *scene, int insn);

/* Whether a jump may be mispredicted so often that it costs time. */
bool blame_may_mispredict(const struct blame_scene *scene, int insn);

/*
 * Returns 1 + the index of the last instruction of the block that retires together with
 * insn.
 */
int blame_group_end(const struct blame_scene *scene, int insn);

/* Fills f, in the arena. Returns 0 or -ENOMEM. */
int blame_footprints_init(struct blame_footprints *f, const struct blame_input *in,
			  struct arena *arena);

/* Whether more code runs between two executions of a block than a cache or TLB holds.
 */
struct blame_overflow {
	bool cache, tlb;
};
struct blame_overflow blame_overflows(const struct blame_footprints *f, double runs);

/* Adds an instruction's stalls to the summary, converted from cycles to samples. */
void blame_summary_count(struct blame_summary *sum, const struct blame_insn *insn,
			 double samples_per_cycle);

#endif
