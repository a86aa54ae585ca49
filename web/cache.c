/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.c - kept answers: a hash map, and a list in order of last use
 *
 * An answer is found by its key, in the map, and evicted from the end of the list. Both
 * take constant time. Its size counts as reply_bytes() says.
 */
#include "config.h"

#include "web/cache.h"

#include <stdlib.h>
#include <string.h>

struct cache_entry {
	struct hnode node;
	struct cache_entry *newer, *older;
	struct job_key key;
	struct reply *reply;
};

/* The key is a cryptographic hash already. */
static uint64_t hash_of(const struct job_key *key)
{
	uint64_t hash;

	memcpy(&hash, key->bytes, sizeof(hash));
	return hash;
}

static void unlink_entry(struct cache *c, struct cache_entry *e)
{
	*(e->newer ? &e->newer->older : &c->newest) = e->older;
	*(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct cache *c, struct cache_entry *e)
{
	e->newer = NULL;
	e->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = e;
	c->newest = e;
}

static uint64_t bytes_of(const struct cache_entry *e)
{
	return sizeof(*e) + reply_bytes(e->reply);
}

static void remove_entry(struct cache *c, struct cache_entry *e)
{
	c->bytes -= bytes_of(e);
	unlink_entry(c, e);
	hmap_remove(&c->map, &e->node);
	reply_drop(e->reply);
	free(e);
}

static struct cache_entry *find(const struct cache *c, const struct job_key *key)
{
	struct hnode *n = hmap_first(&c->map, hash_of(key));

	for (; n; n = hmap_next(n)) {
		struct cache_entry *e = container_of(n, struct cache_entry, node);

		if (!memcmp(&e->key, key, sizeof(*key)))
			return e;
	}
	return NULL;
}

struct reply *cache_find(struct cache *c, const struct job_key *key)
{
	struct cache_entry *e = find(c, key);

	if (!e) {
		c->nr_misses++;
		return NULL;
	}
	c->nr_hits++;
	unlink_entry(c, e);
	link_newest(c, e);
	return e->reply;
}

void cache_put(struct cache *c, const struct job_key *key, struct reply *reply)
{
	struct cache_entry *e;

	if (reply_bytes(reply) + sizeof(*e) > c->max_bytes || find(c, key))
		return;
	e = calloc(1, sizeof(*e));
	if (!e)
		return;
	e->key = *key;
	e->reply = reply;
	if (hmap_insert(&c->map, &e->node, hash_of(key))) {
		free(e);
		return;
	}
	reply_take(reply);
	link_newest(c, e);
	c->bytes += bytes_of(e);
	while (c->bytes > c->max_bytes)
		remove_entry(c, c->oldest);
}

void cache_clear(struct cache *c)
{
	while (c->oldest)
		remove_entry(c, c->oldest);
}

void cache_fini(struct cache *c)
{
	cache_clear(c);
	hmap_fini(&c->map);
}
