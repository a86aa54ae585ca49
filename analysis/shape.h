/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.h - did a procedure become slower, or did it run more often?
 *
 * Samples are frequency times cycles, so their number alone tells neither. Their shape
 * does: a longer stall adds samples at some instructions and none at others that run
 * as often; more iterations add to all of a loop's instructions the same part, and
 * none to what is outside of it. Where all of a procedure has grown by one factor, its
 * callers tell: if what is around their calls has grown by the same, there were more
 * calls. Otherwise nobody knows.
 */
#ifndef CPI_ANALYSIS_SHAPE_H
#define CPI_ANALYSIS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum shape_kind {
	SHAPE_UNDETERMINED,
	SHAPE_CYCLES,    /* other cycles of an execution */
	SHAPE_FREQUENCY, /* other executions */
};

/* An instruction's samples on both sides. */
struct shape_insn {
	double a, b;
	int class; /* all of a class run as often (analysis/equiv.h); from 0 */
};

struct shape_input {
	const struct shape_insn *insn;
	size_t nr;
	double size;             /* b of an a that did not change: B's size over A's */
	double calls_a, calls_b; /* samples of the classes that call it; 0: not known */
};

struct shape_verdict {
	enum shape_kind kind;
	double stalls;  /* of the change, the part at some instructions of a class */
	double uniform; /* the part that all instructions of a class share */
	double calls;   /* ratio at call sites; NAN where it is not known */
};

/* 0 or -ENOMEM. */
int shape_judge(const struct shape_input *in, struct shape_verdict *out);

/* "slower" or "faster", "more often" or "less often", "undetermined". */
const char *shape_verdict_name(enum shape_kind kind, bool grew);

#endif
