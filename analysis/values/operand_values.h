/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operand_values.h - the values of a procedure's operands, with intervals
 *
 * A set of operands (db/profile/operands.h) has counts of executions. Executions in one
 * window depend on each other, so the intervals take windows for independent, not
 * executions. They have a confidence of 90 %.
 *
 * Sets are stored one by one, and each has a value only if enough of its own windows
 * saw it. So the count of a value is a lower bound. Its class is counted completely,
 * and each set has a bound of what it leaves out of any value: the upper end of an
 * interval includes the executions of that class that no list has, up to that bound.
 */
#ifndef CPI_ANALYSIS_OPERAND_VALUES_H
#define CPI_ANALYSIS_OPERAND_VALUES_H

#include "analysis/cfg/cfg.h"
#include "analysis/math/interval.h"
#include "base/arena.h"
#include "db/profile/operands.h"

struct operand_value {
	int64_t value;
	uint64_t n, windows;
	struct interval share; /* of the executions with a known operand */
	double most; /* the share, if all of its class that are unlisted have it */
};

struct operand_site {
	const struct operands_site *from;
	int insn;
	struct operand_value *value; /* the most frequent first */
	size_t nr;
	struct interval same; /* executions with the value of the execution before */
	struct interval class[OPERAND_NR_CLASSES];
	uint64_t unlisted; /* executions with values that are not in the list */
	/*
	 * The share of the procedure's time that stalls with this instruction as the
	 * first culprit take; NAN: not known.
	 */
	double stalls;
	/*
	 * The largest share of the procedure's time that a test for the most frequent
	 * value or class can save, as if executions with that value took no time. 0: no
	 * test is suggested.
	 */
	double saves;
};

struct operand_sites {
	struct operand_site *site; /* by insn and kind */
	size_t nr;
};

/*
 * image is the number that set uses for the image of cfg. stalls is by instruction, the
 * member of struct operand_site; or NULL. The result lives in the arena. Returns 0 or
 * -ENOMEM.
 */
int operand_values_find(const struct cfg *cfg, const struct operands *set,
			uint32_t image, const double *stalls, struct arena *arena,
			struct operand_sites *out);

#endif
