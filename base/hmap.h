/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hmap.h - an intrusive chained hash map
 *
 * The caller embeds a struct hnode and compares keys itself:
 *
 *	for (n = hmap_first(&m, hash); n; n = hmap_next(n))
 *		if (container_of(n, struct image, node)->id == id) ...
 */
#ifndef CPI_BASE_HMAP_H
#define CPI_BASE_HMAP_H

#include <stddef.h>
#include <stdint.h>

#ifndef container_of
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#endif

struct hnode {
	struct hnode *next;
	struct hnode **from; /* the pointer that points here */
	uint64_t hash;
};

/* Starts as { 0 }. */
struct hmap {
	struct hnode **bucket;
	size_t nr_buckets; /* 0 or a power of two */
	size_t nr;
};

void hmap_fini(struct hmap *m); /* frees the buckets; the nodes are the caller's */

/* Inserts n under hash. Returns 0 or -ENOMEM. Equal keys are kept side by side. */
int hmap_insert(struct hmap *m, struct hnode *n, uint64_t hash);

/* Takes constant time, however many nodes have the same hash. */
void hmap_remove(struct hmap *m, struct hnode *n);

/* First and following nodes with exactly this hash. */
struct hnode *hmap_first(const struct hmap *m, uint64_t hash);
struct hnode *hmap_next(const struct hnode *n);

/*
 * The node after n in no defined order, or NULL at the end; n = NULL begins. Take the
 * next node before you remove n.
 */
struct hnode *hmap_each(const struct hmap *m, const struct hnode *n);

#define hmap_for_each(m, n, following)                                            \
	for ((n) = hmap_each(m, NULL); (n) && ((following) = hmap_each(m, n), 1); \
	     (n) = (following))

#endif
