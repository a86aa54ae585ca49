/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calc.h - figures for single blocks and edges of an explained procedure
 */
#ifndef CPI_REPORT_CALC_H
#define CPI_REPORT_CALC_H

#include "report/explain/explainer.h"

/* Cycles of one execution of a block; NAN if its frequency is not known. */
double calc_block_cycles(const struct explained *e, int block);

/*
 * The cycles of one execution of a block, or of an instruction, with their 90 %
 * interval.
 */
struct freq_interval calc_block_range(const struct explained *e, int block);
struct freq_interval calc_insn_range(const struct explained *e, int insn);

/*
 * Whether a block of a known frequency took less than its best case. Then the frequency
 * is too high, or the timing model too slow, and every view says so. A difference below
 * half a percent does not count, because no text would show it.
 */
bool calc_is_too_fast(const struct explained *e, int block);

/* The same, given the best case and the actual cycles. */
bool calc_is_below_best(double best, const struct freq_interval *actual);

/*
 * The cycles of a stall. A dynamic stall is the rest of an instruction's time.
 * Its low end assumes the most executions that the block's interval allows, and
 * may be 0; its high end assumes the fewest.
 */
struct freq_interval calc_stall_range(const struct explained *e, int insn,
				      const struct stall *stall);

const char *confidence_name(enum confidence confidence); /* "high" */

/* Sampled outcomes of the conditional jump at the source of an edge. */
struct outcomes {
	uint64_t taken, not_taken;
};

struct outcomes calc_outcomes(const struct explained *e, const struct cfg_edge *edge);

/*
 * Samples by block. A row has ev.nr entries; the row after the last block's has the
 * samples of the procedure outside all blocks. total is the first event's weight. The
 * caller frees *out. 0 or -ENOMEM.
 */
int calc_tally_blocks(const struct explainer *x, const struct explained *e,
		      const struct found_place *place, struct event_sum **out,
		      double *total);

#endif
