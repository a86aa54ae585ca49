/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calc.h - an explained procedure, block by block
 */
#ifndef CPI_REPORT_CALC_H
#define CPI_REPORT_CALC_H

#include "report/explain/explainer.h"

/* Cycles of one execution of a block; NAN where its frequency is not known. */
double calc_block_cycles(const struct explained *e, int block);

const char *confidence_name(enum confidence confidence); /* "high" */

/* What sampled branches say of an edge, for people and for programs. */
struct outcomes {
	uint64_t taken, not_taken;
};

struct outcomes calc_outcomes(const struct explained *e, const struct cfg_edge *edge);

/*
 * Samples by block: rows of ev.nr, of each block and then of the procedure's place that
 * no block has. total is the first event's weight. The caller frees them. 0 or -ENOMEM.
 */
int calc_tally_blocks(const struct explainer *x, const struct explained *e,
		      const struct found_place *place, struct event_sum **out,
		      double *total);

#endif
