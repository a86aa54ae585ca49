/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calc.h - an explained procedure, block by block
 */
#ifndef CPI_TOOLS_CALC_H
#define CPI_TOOLS_CALC_H

#include "tools/explaining.h"

struct calc {
	struct explainer *x;
	const struct explanation *ex;
};

/* Text or CSV: 0 or -ENOMEM. */
int calc_print_table(const struct calc *c);

/* An object; on one line, where there are others. */
void calc_print_json(const struct calc *c, bool one_line);

/* Cycles of one execution of a block; NAN where its frequency is not known. */
double calc_block_cycles(const struct explained *e, int block);

const char *confidence_name(enum confidence confidence); /* "high" */

/* What sampled branches say of an edge, for people and for programs. */
struct outcomes {
	uint64_t taken, not_taken;
};

struct outcomes calc_outcomes(const struct explained *e, const struct cfg_edge *edge);

#endif
