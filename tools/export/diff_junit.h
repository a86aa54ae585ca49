/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_junit.h - a comparison as a report of tests, which build servers read
 */
#ifndef CPI_TOOLS_DIFF_JUNIT_H
#define CPI_TOOLS_DIFF_JUNIT_H

#include "report/compare/diff_gate.h"

/*
 * Prints JUnit's XML: each tested row is a test, and fails if it meets the condition.
 * condition is its text. 0 or -ENOMEM.
 */
int diff_junit_print(const struct diff *d, const struct diff_gate *g,
		     const char *condition);

#endif
