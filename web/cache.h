/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - a cache of answers, sorted by last use
 *
 * The bytes of all answers stay below a limit; the least recently used answer is
 * removed first.
 */
#ifndef CPI_WEB_CACHE_H
#define CPI_WEB_CACHE_H

#include "base/hmap.h"
#include "web/job.h"

struct cache {
	uint64_t max_bytes;
	uint64_t bytes;
	struct hmap map;
	struct cache_entry *newest, *oldest;
	uint64_t nr_hits, nr_misses;
};

/* The answer, which the cache owns; NULL if there is none. */
struct reply *cache_find(struct cache *c, const struct job_key *key);

/*
 * Adds an answer that is not in the cache, and takes a reference. Does nothing if there
 * is no memory.
 */
void cache_put(struct cache *c, const struct job_key *key, struct reply *reply);
void cache_clear(struct cache *c); /* of all answers */
void cache_fini(struct cache *c);

#endif
