/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_gate.h - a condition on a comparison, for scripts that stop a release
 */
#ifndef CPI_REPORT_DIFF_GATE_H
#define CPI_REPORT_DIFF_GATE_H

#include "report/compare/diff.h"

enum diff_gate_kind {
	DIFF_GATE_SLOWER,  /* takes more time, and not since it ran more often */
	DIFF_GATE_MORE,    /* takes more time */
	DIFF_GATE_CHANGED, /* takes more or less time */
};

struct diff_gate {
	enum diff_gate_kind kind;
	double percent; /* smaller changes are let through */
};

/*
 * Reads "slower > 3 %", where the word may be more or changed, and the part from '>' on
 * may be missing. 0 or -EINVAL.
 */
int diff_gate_parse(const char *text, struct diff_gate *out);

/* Whether chance was ruled out at all: there were runs enough to know what is chance.
 */
bool diff_gate_can_judge(const struct diff *d);

/*
 * Whether the row meets the condition. Only findings do: changes beyond chance. A row
 * of one side alone is a change, and takes more time if it is new.
 */
bool diff_gate_meets(const struct diff_gate *g, const struct diff_row *r);

#endif
