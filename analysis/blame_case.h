/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_case.h - one stalled instruction, and who may have stalled it
 *
 * What blame.c and the detectives (blame_data.c, blame_fetch.c, blame_branch.c,
 * blame_units.c) share. A detective knows one sort of cause: it accuses whom it can
 * not acquit, with a likelihood between 0 and 1 and, where there is one, the most
 * that this cause can cost in one execution.
 */
#ifndef CPI_ANALYSIS_BLAME_CASE_H
#define CPI_ANALYSIS_BLAME_CASE_H

#include <math.h>

#include "analysis/blame.h"
#include "analysis/blame_address.h"
#include "analysis/blame_path.h"

#define BLAME_NO_LIMIT INFINITY

/*
 * Where a stall shows is known up to the group of instructions that retire together:
 * samples are at its first one (landing.h), and any can have been the one that
 * waited. What never came into the core, or into the store buffer, may also be the
 * first one behind it.
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

/* The code that runs at least so often: blocks by frequency, often ones first. */
struct blame_footprints {
	double *runs;
	double *bytes; /* of it and those before it */
	bool *calls;   /* in it or those before it */
	int nr;
};

/* What all cases of a procedure share. */
struct blame_scene {
	const struct blame_input *in;
	struct blame_paths paths;
	struct blame_footprints footprints;
	struct address *address; /* by instruction, once it was asked for */
	bool *has_address;
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
	int next; /* executed behind it, mostly; or -1 */
	struct suspect suspect[BLAME_MAX_SUSPECTS]; /* likeliest first */
	int nr;
};

static inline const struct insn *blame_case_insn(const struct blame_case *c, int insn)
{
	return &c->in->cfg->insn[insn];
}

/* The arena's. Returns 0 or -ENOMEM. */
int blame_scene_init(struct blame_scene *scene, const struct blame_input *in,
		     struct arena *arena, struct buf *debug);

/* The dynamic stall of an instruction, and its culprits. Returns 0 or -ENOMEM. */
int blame_judge(struct blame_scene *scene, int insn, double cycles, struct arena *arena,
		struct stall *out);

/*
 * Evidence may lower most; who can explain next to nothing is acquitted. What hardware
 * recorded of insn decides: it was never there, or it is certain.
 */
void blame_accuse(struct blame_case *c, enum blame_reason reason, int insn,
		  double likelihood, double most);

/* For the debug output alone: whoever is not accused is not a culprit. */
void blame_acquit(struct blame_case *c, enum blame_reason reason, const char *why);

void blame_data(struct blame_case *c);     /* loads and stores */
void blame_fetch(struct blame_case *c);    /* instruction cache and TLB */
void blame_branches(struct blame_case *c); /* mispredictions */
void blame_units(struct blame_case *c);    /* dividers, atomics, chains … */

/*
 * Whether the data decide how long it takes, so that its latency in the schedule is
 * its least only: divisions, atomics, accesses far from the one before.
 */
bool blame_varies(struct blame_scene *scene, int insn);

/* Whether a jump goes where no predictor can know. */
bool blame_may_mispredict(const struct blame_scene *scene, int insn);

/* Behind the last instruction, of the block, that retires together with insn. */
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
