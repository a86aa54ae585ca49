/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_gate.h - a condition on a comparison, for scripts that stop a release
 */
#ifndef CPI_REPORT_DIFF_GATE_H
#define CPI_REPORT_DIFF_GATE_H

#include "report/compare/diff.h"

enum diff_gate_kind {
	DIFF_GATE_SLOWER,  /* takes more time, but not because it ran more often */
	DIFF_GATE_MORE,    /* takes more time */
	DIFF_GATE_CHANGED, /* takes more or less time */
};

struct diff_gate {
	enum diff_gate_kind kind;
	double percent; /* smaller changes do not count */
};

/*
 * Reads "slower > 3 %", "more > 3 %" or "changed > 3 %"; the part from '>' on is
 * optional. Returns 0 or -EINVAL.
 */
int diff_gate_parse(const char *text, struct diff_gate *out);

/* Says that a comparison cannot be judged. %d is COMPARE_MIN_RUNS. */
#define DIFF_GATE_UNJUDGED                                                         \
	"cannot be judged: each side needs %d epochs, or earlier ones to compare " \
	"with, and enough samples"

/*
 * Whether there were enough epochs to know how much rows differ by chance, and enough
 * samples to test a row.
 */
bool diff_gate_can_judge(const struct diff *d);

/*
 * Whether the row meets the condition. Only findings (changes beyond chance) can meet
 * it. A row that only one side has is a change; if only B has it, it takes more time.
 */
bool diff_gate_meets(const struct diff_gate *g, const struct diff_row *r);

#endif
