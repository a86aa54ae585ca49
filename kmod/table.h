/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.h - the sample table of one CPU: 4-way buckets, two overflow buffers
 *
 * SOSP'97 section 4.2.1: a hash table of fixed-size buckets counts how often each (pid,
 * pc, event) was seen; a miss evicts one entry, chosen by a counter that is incremented
 * on each eviction, to one of two overflow buffers, so that one fills while the other
 * is read. One header serves the kernel module, the BPF program, the daemon (for
 * collectors that bring single samples), the unit tests and the simulator, so it uses
 * no library and allocates nothing: the caller owns all memory.
 *
 * I1  A bucket is one cache line: a hit touches it and struct cpi_table only.
 * I2  A key is in at most one slot of its bucket, and in no other bucket.
 * I3  Samples in == Σ counts in slots + Σ counts in overflow buffers + drained
 *     counts + dropped.
 * I4  There is one writer. To read or clear the table, stop the writer first.
 *
 * The number of ways and the replacement are compile-time parameters. The simulator
 * uses them to answer the question of SOSP'97 section 5.4 (6 ways? swap-to-front?) with
 * this code; all others use the defaults.
 */
#ifndef CPI_KMOD_TABLE_H
#define CPI_KMOD_TABLE_H

#include "abi/entry.h"

#ifndef CPI_TABLE_WAYS
#define CPI_TABLE_WAYS 4
#endif
#ifndef CPI_TABLE_SWAP_TO_FRONT
#define CPI_TABLE_SWAP_TO_FRONT 0
#endif

#define CPI_TABLE_DEFAULT_BUCKETS  4096u /* 16 K entries, 256 KiB (SOSP'97 5.3) */
#define CPI_TABLE_DEFAULT_OVERFLOW 8192u /* entries per overflow buffer */

struct cpi_bucket {
	struct cpi_entry way[CPI_TABLE_WAYS];
} __attribute__((aligned(64)));

struct cpi_overflow {
	struct cpi_entry *entries;
	uint32_t nr;
	uint32_t cap;
};

/* The state of one CPU. A hit reads only this and its bucket. */
struct cpi_table {
	struct cpi_bucket *buckets;
	uint32_t mask;     /* number of buckets - 1; the number is a power of two */
	uint32_t next_way; /* the mod-4 counter of section 4.2.1 */
	struct cpi_overflow overflow[2];
	uint32_t active;  /* the overflow buffer that evictions go to */
	uint32_t dropped; /* counts lost because both buffers were full */
	uint64_t *lost;   /* the same by event, CPI_MAX_EVENTS counts, or NULL */
} __attribute__((aligned(64)));

enum cpi_table_result {
	CPI_TABLE_HIT,
	CPI_TABLE_INSERT,  /* into an empty slot */
	CPI_TABLE_EVICT,   /* an entry went to the overflow buffer */
	CPI_TABLE_FILLED,  /* the same, and the buffer is full now: drain it */
	CPI_TABLE_DROPPED, /* no room: the evicted entry's count is in dropped */
};

/*
 * Mixes both key words by multiplication with odd random constants (from splitmix64).
 * The upper half of the product is used, because it depends on all bits.
 */
static inline uint32_t cpi_table_hash(uint64_t word0, uint64_t who)
{
	uint64_t h = (word0 ^ who * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;

	return (uint32_t)(h >> 32);
}

/* Appends to the active buffer, or to the other when the active one is full. */
static inline enum cpi_table_result cpi_table_spill(struct cpi_table *t,
						    const struct cpi_entry *e)
{
	struct cpi_overflow *o = &t->overflow[t->active & 1];

	if (o->nr >= o->cap) {
		struct cpi_overflow *other = &t->overflow[(t->active ^ 1) & 1];

		if (other->nr >= other->cap) {
			t->dropped += cpi_entry_count(e);
			if (t->lost)
				t->lost[cpi_entry_event(e)] += cpi_entry_count(e);
			return CPI_TABLE_DROPPED;
		}
		t->active ^= 1;
		o = other;
	}
	o->entries[o->nr++] = *e;
	return o->nr >= o->cap ? CPI_TABLE_FILLED : CPI_TABLE_EVICT;
}

/*
 * Unrolls the loop over the ways: compilers do not, and the loop would take half the
 * time of a hit. The code of a BPF program is rarely in the cache when it runs, so
 * there short code is faster, and the loop stays.
 */
#ifdef __bpf__
#define CPI_TABLE_UNROLL _Pragma("nounroll")
#elif defined(__clang__)
#define CPI_TABLE_UNROLL _Pragma("unroll")
#else
#define CPI_TABLE_UNROLL _Pragma("GCC unroll 8")
#endif

/* The bits of word1 - (who + one) that are 0 if the keys agree and 1 <= count <= 2^31.
 */
#define CPI_TABLE_DIFFERENT 0x80000000ffffffffULL

/*
 * The common case of cpi_table_add(): adds 1 to an existing entry. Returns whether
 * there was one; otherwise nothing has changed.
 */
static inline int cpi_table_hit(struct cpi_bucket *b, uint64_t word0, uint64_t who)
{
	const uint64_t one = 1ULL << CPI_COUNT_SHIFT;
	int i;

	CPI_TABLE_UNROLL
	for (i = 0; i < CPI_TABLE_WAYS; i++) {
		if (b->way[i].word0 != word0 ||
		    (b->way[i].word1 - (who + one)) & CPI_TABLE_DIFFERENT)
			continue;
		b->way[i].word1 += one;
		if (CPI_TABLE_SWAP_TO_FRONT && i) {
			struct cpi_entry first = b->way[0];

			b->way[0] = b->way[i];
			b->way[i] = first;
		}
		return 1;
	}
	return 0;
}

/*
 * The rare case of cpi_table_add(): no entry has the key, or the entry's count is huge.
 * Makes a slot for the sample. Returns CPI_TABLE_EVICT if *evicted has an entry that
 * must go to an overflow buffer, otherwise CPI_TABLE_HIT or CPI_TABLE_INSERT.
 */
static inline enum cpi_table_result cpi_table_place(struct cpi_bucket *b,
						    uint64_t word0, uint64_t who,
						    uint32_t *next_way,
						    struct cpi_entry *evicted)
{
	const uint64_t one = 1ULL << CPI_COUNT_SHIFT;
	struct cpi_entry *victim;
	int empty = -1;
	int i;

	CPI_TABLE_UNROLL
	for (i = 0; i < CPI_TABLE_WAYS; i++) {
		struct cpi_entry *e = &b->way[i];

		if (e->word1 >= one && e->word0 == word0 &&
		    (uint32_t)e->word1 == (uint32_t)who) {
			if (cpi_entry_count(e) < CPI_MAX_COUNT) {
				e->word1 += one;
				return CPI_TABLE_HIT;
			}
			*evicted = *e;
			e->word1 = who | one;
			return CPI_TABLE_EVICT;
		}
		if (empty < 0 && e->word1 < one)
			empty = i;
	}
	if (empty >= 0)
		victim = &b->way[empty];
	else /* Swap-to-front keeps the coldest entry last. */
		victim = &b->way[CPI_TABLE_SWAP_TO_FRONT
					 ? CPI_TABLE_WAYS - 1
					 : (*next_way)++ % CPI_TABLE_WAYS];
	*evicted = *victim;
	/* "inserting new entries at the beginning of the line": all before it move. */
	while (CPI_TABLE_SWAP_TO_FRONT && victim != &b->way[0]) {
		victim[0] = victim[-1];
		victim--;
	}
	victim->word0 = word0;
	victim->word1 = who | one;
	return empty >= 0 ? CPI_TABLE_INSERT : CPI_TABLE_EVICT;
}

static inline enum cpi_table_result
cpi_table_miss(struct cpi_table *t, struct cpi_bucket *b, uint64_t word0, uint64_t who)
{
	struct cpi_entry evicted;
	enum cpi_table_result result =
		cpi_table_place(b, word0, who, &t->next_way, &evicted);

	return result == CPI_TABLE_EVICT ? cpi_table_spill(t, &evicted) : result;
}

/*
 * Counts one sample. word0 is cpi_entry_word0()'s, who is cpi_entry_who()'s.
 * Returns what happened; the sample itself is always taken (I3): only an
 * older, evicted entry can be dropped.
 */
static inline enum cpi_table_result cpi_table_add(struct cpi_table *t, uint64_t word0,
						  uint64_t who)
{
	struct cpi_bucket *b = &t->buckets[cpi_table_hash(word0, who) & t->mask];

	if (cpi_table_hit(b, word0, who))
		return CPI_TABLE_HIT;
	return cpi_table_miss(t, b, word0, who);
}

#endif
