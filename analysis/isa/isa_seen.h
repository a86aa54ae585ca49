/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_seen.h - schedules of blocks that were simulated before
 *
 * Programs are full of equal short blocks, which differ only in constants. Their
 * schedules are looked up, because simulation takes most of the analysis's time.
 */
#ifndef CPI_ANALYSIS_ISA_SEEN_H
#define CPI_ANALYSIS_ISA_SEEN_H

#include "analysis/isa/isa.h"
#include "base/hmap.h"

/* Starts as { 0 }. */
struct isa_seen {
	bool by_code; /* tell instructions apart by their bytes, as well */
	struct hmap map;
	size_t nr_insns; /* in all */
};

void isa_seen_fini(struct isa_seen *seen); /* empty again */

/* Copies to out[run->nr] and returns true when such a run is known. */
bool isa_seen_find(const struct isa_seen *seen, const struct isa_run *run,
		   struct isa_timing *out);

/* Remembers it, if there is memory. */
void isa_seen_add(struct isa_seen *seen, const struct isa_run *run,
		  const struct isa_timing *timing);

#endif
