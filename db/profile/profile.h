/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - sample counts of one image and stream, by image offset
 *
 * The daemon gathers samples in it between two flushes, blobs decode to it, and
 * analyses read it. It is the per-image hash table of SOSP'97 section 4.3.
 */
#ifndef CPI_DB_PROFILE_H
#define CPI_DB_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* taken + not_taken <= n: only samples on conditional jumps have an outcome. */
struct count {
	uint64_t offset;
	uint64_t n;
	uint64_t taken;
	uint64_t not_taken;
};

/*
 * The states in which a cycle is spent, as time-proportional profiling tells them apart
 * (MICRO'21 section 3.1). They are columns of PROFILE_WEIGHTED: never renumber.
 */
enum weight {
	WEIGHT_EXECUTION = 0,  /* the instruction committed */
	WEIGHT_STALL = 1,      /* it was the oldest one, and not finished */
	WEIGHT_FRONT_END = 2,  /* the pipeline was empty until it was fetched */
	WEIGHT_MISPREDICT = 3, /* ... because it was a mispredicted jump */
	WEIGHT_FLUSH = 4,      /* ... because it flushed the pipeline */
	WEIGHT_EXCEPTION = 5,  /* ... because it raised an exception */
	NR_WEIGHTS
};

#define WEIGHT_UNIT                                                                 \
	840 /* of a whole sample, or of a cycle that hardware measured (precise.h): \
	       1/n of it is exact up to n = 8 */

struct profile;
struct records;

struct profile *profile_new(void);    /* NULL when out of memory */
void profile_free(struct profile *p); /* accepts NULL */

/*
 * Adds c's counts at its offset. Returns 0, -EOVERFLOW or -ENOMEM; on failure
 * p is unchanged.
 */
int profile_add(struct profile *p, const struct count *c);

/* Adds all of from, its records and weights too. On failure a part may have been added.
 */
int profile_merge(struct profile *p, const struct profile *from);

/*
 * The records that hardware made of the samples (db/profile/records.h); they belong to
 * p. profile_records() returns NULL if there are none. profile_make_records() makes an
 * empty set then, and returns NULL when out of memory.
 */
const struct records *profile_records(const struct profile *p);
struct records *profile_make_records(struct profile *p);

/*
 * Adds n units of weight at an offset, beside its counts. As profile_add(); the sum of
 * each kind of weight stays below 2^64.
 */
int profile_add_weight(struct profile *p, enum weight weight, uint64_t offset,
		       uint64_t n);

/* The weights of one kind, as counts; NULL where there are none. It belongs to p. */
struct profile *profile_weights(const struct profile *p, enum weight weight);

bool profile_is_weighted(const struct profile *p);
uint64_t profile_weight_at(const struct profile *p, uint64_t offset); /* of all kinds */

size_t profile_nr(const struct profile *p);      /* offsets that have counts */
uint64_t profile_total(const struct profile *p); /* Σ n */
size_t profile_memory(const struct profile *p);  /* bytes, for the caller's bound */

/* The counts at one offset; all zero (but the offset) where there are none. */
struct count profile_at(const struct profile *p, uint64_t offset);

/*
 * All counts in ascending order of offset. The array belongs to p and stays
 * until p's next change. NULL when empty; sorting is in place and cannot fail.
 */
const struct count *profile_sorted(struct profile *p, size_t *nr);

#endif
