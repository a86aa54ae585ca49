/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.c - a dense array of counts, and an index of it by offset
 *
 * The index is an open-addressing hash table of positions in the array, so that
 * an empty slot costs 4 bytes and not a whole count, sorting happens in place,
 * and growing copies counts only where realloc() must. A decoded blob is ascending
 * already, so only counts added after it are sorted.
 *
 * I1  slot[] holds position + 1 of each count once; 0 is an empty slot.
 * I2  At most 2/3 of the slots are full: a probe always ends.
 * I3  total sums the counts without overflow, hence so does each count.
 */
#include "config.h"

#include "db/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "db/profile/records.h"

#define MIN_SLOTS 16

struct profile {
	struct count *count;
	uint32_t *slot;
	uint32_t nr, cap;   /* counts */
	uint32_t nr_sorted; /* of these, at the front, ascending */
	uint32_t nr_slots;  /* 0 or a power of two */
	struct count total;
	struct records *records; /* NULL while there are none */
	struct profile
		*weight[NR_WEIGHTS]; /* each as counts; made when it is added to */
};

struct profile *profile_new(void)
{
	return calloc(1, sizeof(struct profile));
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	records_free(p->records);
	for (int w = 0; w < NR_WEIGHTS; w++)
		profile_free(p->weight[w]);
	free(p->count);
	free(p->slot);
	free(p);
}

/* The slot of offset's count, or the empty one where it belongs. */
static uint32_t *find_slot(const struct profile *p, uint64_t offset)
{
	const uint32_t mask = p->nr_slots - 1;
	uint32_t i = hash_u64(offset) & mask;

	while (p->slot[i] && p->count[p->slot[i] - 1].offset != offset)
		i = (i + 1) & mask;
	return &p->slot[i];
}

static void rebuild_index(struct profile *p)
{
	memset(p->slot, 0, p->nr_slots * sizeof(*p->slot));
	for (uint32_t i = 0; i < p->nr; i++)
		*find_slot(p, p->count[i].offset) = i + 1;
}

static int grow_index(struct profile *p)
{
	uint32_t nr_slots = p->nr_slots ? p->nr_slots * 2 : MIN_SLOTS;
	uint32_t *slot;

	if (nr_slots < p->nr_slots)
		return -ENOMEM;
	slot = realloc(p->slot, nr_slots * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	p->slot = slot;
	p->nr_slots = nr_slots;
	rebuild_index(p);
	return 0;
}

static int grow_counts(struct profile *p)
{
	uint32_t cap = p->cap + p->cap / 4 + 4;
	struct count *count = realloc(p->count, cap * sizeof(*count));

	if (!count)
		return -ENOMEM;
	p->count = count;
	p->cap = cap;
	return 0;
}

/* Room for one more count and its slot. */
static int reserve(struct profile *p)
{
	if (3 * ((uint64_t)p->nr + 1) > 2 * (uint64_t)p->nr_slots && grow_index(p))
		return -ENOMEM;
	if (p->nr == p->cap && grow_counts(p))
		return -ENOMEM;
	return 0;
}

static int add_counts(struct count *to, const struct count *c)
{
	struct count sum = *to;

	if (__builtin_add_overflow(to->n, c->n, &sum.n) ||
	    __builtin_add_overflow(to->taken, c->taken, &sum.taken) ||
	    __builtin_add_overflow(to->not_taken, c->not_taken, &sum.not_taken))
		return -EOVERFLOW;
	*to = sum;
	return 0;
}

int profile_add(struct profile *p, const struct count *c)
{
	struct count total = p->total;
	uint32_t *slot;

	if (!c->n && !c->taken && !c->not_taken)
		return 0;
	if (add_counts(&total, c))
		return -EOVERFLOW;
	slot = p->nr ? find_slot(p, c->offset) : NULL;
	if (slot && *slot) {
		add_counts(&p->count[*slot - 1], c);
	} else {
		if (reserve(p))
			return -ENOMEM;
		if (p->nr_sorted == p->nr &&
		    (!p->nr || p->count[p->nr - 1].offset < c->offset))
			p->nr_sorted++;
		p->count[p->nr++] = *c;
		*find_slot(p, c->offset) = p->nr;
	}
	p->total = total;
	return 0;
}

int profile_add_weight(struct profile *p, enum weight weight, uint64_t offset,
		       uint64_t n)
{
	if (!p->weight[weight])
		p->weight[weight] = profile_new();
	if (!p->weight[weight])
		return -ENOMEM;
	return profile_add(p->weight[weight],
			   &(struct count){ .offset = offset, .n = n });
}

struct profile *profile_weights(const struct profile *p, enum weight weight)
{
	return p->weight[weight];
}

bool profile_is_weighted(const struct profile *p)
{
	for (int w = 0; w < NR_WEIGHTS; w++) {
		if (p->weight[w] && p->weight[w]->nr)
			return true;
	}
	return false;
}

uint64_t profile_weight_at(const struct profile *p, uint64_t offset)
{
	uint64_t sum = 0;

	for (int w = 0; w < NR_WEIGHTS; w++)
		sum += p->weight[w] ? profile_at(p->weight[w], offset).n : 0;
	return sum;
}

static int merge_weights(struct profile *p, enum weight weight,
			 const struct profile *from)
{
	int err = 0;

	for (uint32_t i = 0; i < from->nr && !err; i++)
		err = profile_add_weight(p, weight, from->count[i].offset,
					 from->count[i].n);
	return err;
}

int profile_merge(struct profile *p, const struct profile *from)
{
	for (int w = 0; w < NR_WEIGHTS; w++) {
		int err = from->weight[w] ? merge_weights(p, w, from->weight[w]) : 0;

		if (err)
			return err;
	}
	for (uint32_t i = 0; i < from->nr; i++) {
		int err = profile_add(p, &from->count[i]);

		if (err)
			return err;
	}
	if (!from->records)
		return 0;
	return profile_make_records(p) ? records_merge(p->records, from->records)
				       : -ENOMEM;
}

const struct records *profile_records(const struct profile *p)
{
	return p->records;
}

struct records *profile_make_records(struct profile *p)
{
	if (!p->records)
		p->records = records_new();
	return p->records;
}

size_t profile_nr(const struct profile *p)
{
	return p->nr;
}

uint64_t profile_total(const struct profile *p)
{
	return p->total.n;
}

size_t profile_memory(const struct profile *p)
{
	size_t bytes = sizeof(*p) + p->cap * sizeof(*p->count) +
		       p->nr_slots * sizeof(*p->slot) +
		       (p->records ? records_memory(p->records) : 0);

	for (int w = 0; w < NR_WEIGHTS; w++)
		bytes += p->weight[w] ? profile_memory(p->weight[w]) : 0;
	return bytes;
}

struct count profile_at(const struct profile *p, uint64_t offset)
{
	uint32_t position = p->nr ? *find_slot(p, offset) : 0;

	return position ? p->count[position - 1] : (struct count){ .offset = offset };
}

static int compare_offsets(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts what stands behind the ascending part and merges the two, from the end. */
static void sort_counts(struct profile *p)
{
	uint32_t front = p->nr_sorted, back = p->nr - front, to = p->nr;
	struct count *tail = malloc(back * sizeof(*tail));

	p->nr_sorted = p->nr;
	if (!tail) {
		qsort(p->count, p->nr, sizeof(*p->count), compare_offsets);
		return;
	}
	memcpy(tail, &p->count[front], back * sizeof(*tail));
	qsort(tail, back, sizeof(*tail), compare_offsets);
	while (back) {
		if (front && p->count[front - 1].offset > tail[back - 1].offset)
			p->count[--to] = p->count[--front];
		else
			p->count[--to] = tail[--back];
	}
	free(tail);
}

const struct count *profile_sorted(struct profile *p, size_t *nr)
{
	if (p->nr_sorted < p->nr) {
		sort_counts(p);
		rebuild_index(p);
	}
	*nr = p->nr;
	return p->nr ? p->count : NULL;
}
