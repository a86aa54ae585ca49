/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_model.h - which loads and stores are expected to miss, from windows' accesses
 *
 * Windows are short, and far apart. Inside a window it is seen how long ago a line was
 * touched; between windows it is only seen that a line was touched again, at some time.
 * The model joins both to a distribution: how long lines are not touched. From that and
 * the caches' characteristic times follows the share of executions that miss.
 */
#ifndef CPI_ANALYSIS_DATA_MODEL_H
#define CPI_ANALYSIS_DATA_MODEL_H

#include "base/arena.h"
#include "db/profile/accesses.h"

enum data_level { DATA_L1, DATA_L2, DATA_L3, DATA_TLB1, DATA_TLB2, DATA_NR_LEVELS };

struct data_geometry {
	/* Lines that a cache holds, pages that a TLB holds; 0: no such level. */
	double entries[DATA_NR_LEVELS];
	/*
	 * Cycles that a miss takes longer than a hit, without those of the levels
	 * behind it: if nothing else wants the memory, and at most. For the last TLB: a
	 * walk whose entry is in the second cache.
	 */
	double cycles[DATA_NR_LEVELS], most_cycles[DATA_NR_LEVELS];
};

/* An estimate with an interval of 90 %. */
struct data_estimate {
	double value, low, high;
};

/* Cycles that an execution waits, beyond a hit in the first level. */
struct data_wait {
	double alone; /* expected, if nothing else wants the memory */
	double most;
};

struct data_insn {
	const struct accesses_insn *from;
	struct data_estimate miss[DATA_NR_LEVELS]; /* share of its executions */
	/* Different lines and pages that it touches. */
	struct data_estimate distinct[ACCESSES_NR_GRANULES];
	struct data_wait wait[ACCESSES_NR_GRANULES]; /* for caches; for TLBs */
	double shared; /* share of its lines that several threads touched */
};

struct data_model {
	struct data_insn *insn; /* as accesses_insns() */
	size_t nr;
	double time[DATA_NR_LEVELS]; /* the characteristic time, in accesses */
};

/* Everything lives in the arena, but needs set. Returns 0 or -ENOMEM. */
int data_model_make(const struct accesses *set, const struct data_geometry *geometry,
		    struct arena *arena, struct data_model **out);

/*
 * What is known of an instruction, by its image and offset; NULL if windows saw fewer
 * than DATA_LEAST executions.
 */
#define DATA_LEAST 30
const struct data_insn *data_model_find(const struct data_model *m, uint32_t image,
					uint64_t offset);

/* Whether nearly all its steps are the same, and not 0. */
bool data_has_stride(const struct data_insn *insn);

#endif
