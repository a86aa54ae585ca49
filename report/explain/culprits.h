/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * culprits.h - the reasons of stalls, as text
 */
#ifndef CPI_REPORT_CULPRITS_H
#define CPI_REPORT_CULPRITS_H

#include "analysis/explain/explain.h"
#include "base/buf.h"

/* "dw": the letters for one stall's reasons in bubbles. */
void culprits_put_letters(const struct stall *s, struct buf *out);

/*
 * What usually helps against misses of data, by what windows saw of the addresses; NULL
 * if they saw too little, or for other reasons.
 */
const char *culprits_usual_help(const struct explained *e, const struct culprit *c);

/*
 * "d = D-cache miss 0x9810 0x9818; p = Branch mispredict 0x9840, mispredicts 38 to 52 %
 * (random outcome)": reasons with addresses, and what windows say of the likeliest
 * jump or load. between separates them ("; ").
 */
void culprits_put_legend(const struct explained *e, const struct stall *s,
			 const char *between, struct buf *out);

/*
 * The reasons of several stalls, each once: "dcache store"; as text "D-cache miss, …".
 */
void culprits_put_reasons(const struct stall *s, int nr, bool text, struct buf *out);

/* The addresses of culprits, each once: "0x9810 0x9818"; link-time addresses. */
void culprits_put_addresses(const struct cfg *cfg, const struct stall *s, int nr,
			    struct buf *out);

#endif
