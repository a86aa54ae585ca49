/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranking.h - the places with the most of something
 */
#ifndef CPI_REPORT_RANKING_H
#define CPI_REPORT_RANKING_H

#include "report/explain/explainer.h"
#include "report/explain/ranked_insns.h"

struct ranking {
	struct ranked_insns insns;
	double all; /* samples of the selection, but for idle */
};

/*
 * Of all procedures, the instructions that took the most time, and the stalls that
 * cost the most; their reasons in words for people, or as names. At most limit of
 * them; 0: RANKED_INSNS_DEFAULT. Errors are logged but for -ENOMEM; out is to be freed
 * with ranked_insns_fini() in any case.
 */
int ranking_hot(struct explainer *x, uint64_t limit, struct ranking *out);
int ranking_stalls(struct explainer *x, uint64_t limit, bool words,
		   struct ranking *out);

/* Fills where a ranked of an explanation is, but for its text. 0 or -ENOMEM. */
int ranked_insn_locate(struct ranked_insn *ranked, const struct explanation *ex,
		       uint64_t offset);

#endif
