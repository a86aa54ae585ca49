/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranking.h - ranks instructions by time, and stalls by cost
 */
#ifndef CPI_REPORT_RANKING_H
#define CPI_REPORT_RANKING_H

#include "report/explain/explainer.h"
#include "report/explain/ranked_insns.h"

struct ranking {
	struct ranked_insns insns;
	double all; /* samples of the selection, without idle */
};

/*
 * Of all procedures, the instructions that took the most time, or the stalls that cost
 * the most: at most limit of them; 0: RANKED_INSNS_DEFAULT. words: give the reasons of
 * stalls as text, else as names. Errors are logged, except -ENOMEM; the caller frees
 * out->insns with ranked_insns_fini() in any case.
 */
int ranking_hot(struct explainer *x, uint64_t limit, struct ranking *out);
int ranking_stalls(struct explainer *x, uint64_t limit, bool words,
		   struct ranking *out);

/* Fills in the place of ranked, but not its text. 0 or -ENOMEM. */
int ranked_insn_locate(struct ranked_insn *ranked, const struct explanation *ex,
		       uint64_t offset);

#endif
