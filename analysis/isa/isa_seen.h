/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_seen.h - schedules of blocks that were simulated before
 *
 * Programs have many short blocks that differ only in constants. The schedule of such a
 * block is looked up, because simulation takes most of the time of an analysis.
 */
#ifndef CPI_ANALYSIS_ISA_SEEN_H
#define CPI_ANALYSIS_ISA_SEEN_H

#include "analysis/isa/isa.h"
#include "base/hmap.h"

#define ISA_SEEN_INSNS 64 /* longer runs are not stored: they rarely repeat */

struct seen; /* a stored run */

/* Starts as { 0 }. */
struct isa_seen {
	bool by_code;  /* the key also has the bytes of the instructions */
	bool grew;     /* isa_seen_add() has added runs */
	uint64_t seed; /* of the hashes; set it only while the map is empty */
	struct hmap map;
	size_t nr_insns;     /* Σ over all runs */
	struct seen *newest; /* those of isa_seen_add() since isa_seen_mark() */
	/* Adds the stored runs that may have this hash, once. NULL: there are none. */
	void (*recall)(void *ctx, uint64_t hash);
	void *recall_ctx;
};

void isa_seen_fini(struct isa_seen *seen); /* seen is empty afterwards */

/* A run and its schedule. */
struct isa_seen_run {
	uint64_t hash, check;
	int nr; /* 1 to ISA_SEEN_INSNS */
	const struct isa_timing *timing;
};

/* Calls fn for each run, which is valid until fn returns. */
void isa_seen_each(const struct isa_seen *seen,
		   void (*fn)(void *ctx, const struct isa_seen_run *run), void *ctx);

/* The same for runs that isa_seen_add() has added since isa_seen_mark(). */
void isa_seen_each_new(const struct isa_seen *seen,
		       void (*fn)(void *ctx, const struct isa_seen_run *run),
		       void *ctx);
void isa_seen_mark(struct isa_seen *seen);

/* Adds a copy of a run. False: it exists, there are too many, or out of memory. */
bool isa_seen_put(struct isa_seen *seen, const struct isa_seen_run *run);

/*
 * The same for a run that another process has simulated for this one: it counts as used
 * in this run of the program, and others make room for it.
 */
bool isa_seen_take(struct isa_seen *seen, const struct isa_seen_run *run);

/* If isa_seen_put() may have refused a run, drops those that were not used. */
void isa_seen_trim(struct isa_seen *seen);

/* If the run is stored, copies its schedule to out[run->nr] and returns true. */
bool isa_seen_find(struct isa_seen *seen, const struct isa_run *run,
		   struct isa_timing *out);

/* Stores the schedule of a run; does nothing when out of memory. */
void isa_seen_add(struct isa_seen *seen, const struct isa_run *run,
		  const struct isa_timing *timing);

#endif
