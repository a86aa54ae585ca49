/* SPDX-License-Identifier: GPL-2.0-or-later */
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

static int hmap_grow(struct hmap *m)
{
	size_t nr_buckets = m->nr_buckets ? m->nr_buckets * 2 : 16;
	struct hnode **bucket = calloc(nr_buckets, sizeof(*bucket));
	struct hnode *n, *next;

	if (!bucket)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_buckets; i++) {
		for (n = m->bucket[i]; n; n = next) {
			struct hnode **head = &bucket[n->hash & (nr_buckets - 1)];

			next = n->next;
			n->next = *head;
			*head = n;
		}
	}
	free(m->bucket);
	m->bucket = bucket;
	m->nr_buckets = nr_buckets;
	return 0;
}

int hmap_insert(struct hmap *m, struct hnode *n, uint64_t hash)
{
	struct hnode **head;

	if (m->nr >= m->nr_buckets && hmap_grow(m) && !m->nr_buckets)
		return -ENOMEM; /* longer chains are better than a loss */
	head = &m->bucket[hash & (m->nr_buckets - 1)];
	n->hash = hash;
	n->next = *head;
	*head = n;
	m->nr++;
	return 0;
}

void hmap_remove(struct hmap *m, struct hnode *n)
{
	struct hnode **p = &m->bucket[n->hash & (m->nr_buckets - 1)];

	while (*p != n)
		p = &(*p)->next;
	*p = n->next;
	n->next = NULL;
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
