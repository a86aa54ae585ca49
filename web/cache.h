/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - answers that were given, the newest looks first
 *
 * The bytes of all answers stay below a bound; the one that was asked for least lately
 * goes first.
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

/* The answer, which is the cache's; NULL if it is not there. */
struct reply *cache_find(struct cache *c, const struct job_key *key);

/* Keeps an answer that is not there; takes a reference. Nothing if memory is short. */
void cache_put(struct cache *c, const struct job_key *key, struct reply *reply);
void cache_clear(struct cache *c); /* of all answers */
void cache_fini(struct cache *c);

#endif
