/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgraph.h - who calls whom how often, in one image, by windows
 */
#ifndef CPI_ANALYSIS_CALLGRAPH_H
#define CPI_ANALYSIS_CALLGRAPH_H

#include "analysis/explain.h"

struct callgraph;

struct callgraph *callgraph_new(void);    /* NULL when out of memory */
void callgraph_free(struct callgraph *g); /* accepts NULL */

/*
 * Adds a procedure, with its calls, whose frequencies are from these windows. 0,
 * -CPI_ELIMIT or -ENOMEM; then g is only to be freed.
 */
int callgraph_add(struct callgraph *g, const struct explained *x,
		  const struct explain_windows *windows);

/* Finds the factors (callscale.h), when all are there. 0 or -ENOMEM. */
int callgraph_solve(struct callgraph *g);

/*
 * What frequencies of the procedure at an image offset are to be multiplied by; 1 where
 * it is unknown, or g is NULL or not solved.
 */
double callgraph_factor(const struct callgraph *g, uint64_t start);

/* The deviation of its logarithm, where anchors tell; 0: they do not. */
double callgraph_factor_sd(const struct callgraph *g, uint64_t start);

#endif
