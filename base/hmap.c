/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hmap.c - chains of nodes that the caller allocates
 *
 * Each node has a pointer to the pointer that leads to it, so removal takes constant
 * time even where an attacker makes all hashes equal. Without memory for more buckets,
 * insertion goes on with longer chains: a slow map is better than a lost entry.
 */
#include "config.h"

#include "base/hmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hmap_fini(struct hmap *m)
{
	free(m->bucket);
	memset(m, 0, sizeof(*m));
}

static void put_first(struct hnode **head, struct hnode *n)
{
	n->next = *head;
	n->from = head;
	if (n->next)
		n->next->from = &n->next;
	*head = n;
}

static int hmap_grow(struct hmap *m)
{
	size_t nr_buckets = m->nr_buckets ? m->nr_buckets * 2 : 16;
	struct hnode **bucket = calloc(nr_buckets, sizeof(*bucket));
	struct hnode *n, *next;

	if (!bucket)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_buckets; i++) {
		for (n = m->bucket[i]; n; n = next) {
			next = n->next;
			put_first(&bucket[n->hash & (nr_buckets - 1)], n);
		}
	}
	free(m->bucket);
	m->bucket = bucket;
	m->nr_buckets = nr_buckets;
	return 0;
}

int hmap_insert(struct hmap *m, struct hnode *n, uint64_t hash)
{
	if (m->nr >= m->nr_buckets && hmap_grow(m) && !m->nr_buckets)
		return -ENOMEM; /* goes on with longer chains */
	n->hash = hash;
	put_first(&m->bucket[hash & (m->nr_buckets - 1)], n);
	m->nr++;
	return 0;
}

void hmap_remove(struct hmap *m, struct hnode *n)
{
	*n->from = n->next;
	if (n->next)
		n->next->from = n->from;
	n->next = NULL;
	n->from = NULL;
	m->nr--;
}

struct hnode *hmap_first(const struct hmap *m, uint64_t hash)
{
	struct hnode *n;

	if (!m->nr_buckets)
		return NULL;
	n = m->bucket[hash & (m->nr_buckets - 1)];
	while (n && n->hash != hash)
		n = n->next;
	return n;
}

struct hnode *hmap_next(const struct hnode *n)
{
	struct hnode *next = n->next;

	while (next && next->hash != n->hash)
		next = next->next;
	return next;
}

struct hnode *hmap_each(const struct hmap *m, const struct hnode *n)
{
	size_t i = 0;

	if (n) {
		if (n->next)
			return n->next;
		i = (n->hash & (m->nr_buckets - 1)) + 1;
	}
	for (; i < m->nr_buckets; i++) {
		if (m->bucket[i])
			return m->bucket[i];
	}
	return NULL;
}
