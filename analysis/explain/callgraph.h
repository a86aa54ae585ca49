/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgraph.h - how often the procedures of one image call each other, from windows
 */
#ifndef CPI_ANALYSIS_CALLGRAPH_H
#define CPI_ANALYSIS_CALLGRAPH_H

#include "analysis/explain/explain.h"

struct callgraph;

struct callgraph *callgraph_new(void);    /* NULL when out of memory */
void callgraph_free(struct callgraph *g); /* accepts NULL */

/*
 * Adds a procedure and its calls, explained with shape_only. Its frequencies must come
 * from these windows. Returns 0, -CPI_ELIMIT or -ENOMEM; after an error only free g.
 */
int callgraph_add(struct callgraph *g, const struct explained *x,
		  const struct explain_windows *windows);

/*
 * Finds the factors (callscale.h), once all procedures are added. Returns 0 or -ENOMEM.
 */
int callgraph_solve(struct callgraph *g);

/*
 * The factor for the frequencies of the procedure at an image offset; 1 if the
 * procedure is unknown, or g is NULL or not solved.
 */
double callgraph_factor(const struct callgraph *g, uint64_t start);

/* One procedure's factor, as a later run may read it. */
struct callgraph_kept {
	uint64_t start;
	double factor;
};

/* Appends the factors of a solved graph, sorted by start. Returns 0 or -ENOMEM. */
int callgraph_put(const struct callgraph *g, struct buf *out);

/*
 * Makes a solved graph from factors, which are untrusted. Returns 0, -CPI_ECORRUPT or
 * -ENOMEM.
 */
int callgraph_get(const struct callgraph_kept *kept, size_t nr, struct callgraph **out);

#endif
