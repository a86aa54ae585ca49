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

#define ISA_SEEN_INSNS 64 /* of a run; longer ones do not come twice */

/* Starts as { 0 }. */
struct isa_seen {
	bool by_code;  /* tell instructions apart by their bytes, as well */
	bool grew;     /* isa_seen_add() has added some */
	uint64_t seed; /* of the hashes; may be set while it is empty */
	struct hmap map;
	size_t nr_insns; /* in all */
};

void isa_seen_fini(struct isa_seen *seen); /* empty again */

/* A run and its schedule. */
struct isa_seen_run {
	uint64_t hash, check;
	int nr; /* 1 to ISA_SEEN_INSNS */
	const struct isa_timing *timing;
};

/* Calls fn for each; they are valid until it returns. */
void isa_seen_each(const struct isa_seen *seen,
		   void (*fn)(void *ctx, const struct isa_seen_run *run), void *ctx);

/* Copies one in. False: it is known, there are too many, or out of memory. */
bool isa_seen_put(struct isa_seen *seen, const struct isa_seen_run *run);

/* Copies to out[run->nr] and returns true when such a run is known. */
bool isa_seen_find(const struct isa_seen *seen, const struct isa_run *run,
		   struct isa_timing *out);

/* Remembers it, if there is memory. */
void isa_seen_add(struct isa_seen *seen, const struct isa_run *run,
		  const struct isa_timing *timing);

#endif
