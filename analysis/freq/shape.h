/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.h - whether a procedure became slower or ran more often
 *
 * Two sides of a comparison, A and B, have samples at each instruction. Samples are
 * frequency times cycles, so their number alone cannot tell. Their distribution can
 * (this is not the shape of scale.h): a longer stall adds samples at some instructions
 * and none at others that run equally often. More iterations multiply the samples of
 * all instructions of a loop by one factor and add none outside. Code that runs only in
 * A or only in B, while the rest did not change, makes each execution longer or
 * shorter.
 *
 * If the whole procedure grew by one factor, other evidence decides: executions that
 * were measured on both sides; the code around its calls; or its steady instructions,
 * which can wait neither for memory nor for a jump, so that only more executions give
 * them more time. Otherwise the verdict is "undetermined".
 */
#ifndef CPI_ANALYSIS_SHAPE_H
#define CPI_ANALYSIS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/freq/scale.h"

enum shape_kind {
	SHAPE_UNDETERMINED,
	SHAPE_CYCLES,    /* the cycles of an execution changed */
	SHAPE_FREQUENCY, /* the number of executions changed */
};

/* An instruction's samples on both sides. */
struct shape_insn {
	double a, b;
	int class;                 /* instructions of one class run equally often
				      (analysis/cfg/equiv.h); from 0 */
	double steady_a, steady_b; /* blamed samples, if nothing that it may wait for
				      varies (the instruction is steady); else 0 */
};

struct shape_input {
	const struct shape_insn *insn;
	size_t nr;
	double size; /* the ratio b / a that an unchanged instruction has; B may have
			more samples than A altogether */
	double calls_a, calls_b; /* samples in the callers, at the code that runs as
				    often as the call; 0: not known */
	/* Executions of the code with the most time, 90 % intervals; 0: not known. */
	struct freq_interval runs_a, runs_b;
	double time_size; /* as size, but of time; used only if runs_a and runs_b are
			     known */
};

struct shape_verdict {
	enum shape_kind kind;
	/* Parts of the change of the samples, 0 to 1; NAN: there is no change. */
	double stalls;  /* the part at only some instructions of a class */
	double uniform; /* the part that is the same at all instructions of a class */
	double added;   /* the part in code that runs on one side only */
	double calls;   /* ratio at call sites; NAN: not known */
	/*
	 * Executions of B over those of A, divided by the ratio of unchanged code; from
	 * measured executions, or from steady instructions. Unlike in scale.h, the
	 * interval is of 95 %. NANs: not known.
	 */
	struct freq_interval runs;
};

/* 0 or -ENOMEM. */
int shape_judge(const struct shape_input *in, struct shape_verdict *out);

/* "slower" or "faster", "more often" or "less often", "undetermined". */
const char *shape_verdict_name(enum shape_kind kind, bool grew);

/* The same for people: "changed (cause unknown)" instead of "undetermined". */
const char *shape_verdict_text(enum shape_kind kind, bool grew);

#endif
