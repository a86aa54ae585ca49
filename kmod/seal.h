/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seal.h - takes overflow buffers and the table from the handler, without a lock
 *
 * SOSP'97 section 4.2.3: the flush routines run on the handler's own CPU, so the
 * handler needs no barrier. There the flush runs in an interrupt, which blocks the
 * handler; today the handler may be an NMI, which nothing blocks. So the handler may
 * run between any two instructions of every step here, and the step is still correct:
 *
 * I1  To take a buffer, one atomic exchange sets its nr so that it looks full, and
 *     returns the number of entries. The handler never appends to a full buffer (it
 *     tests nr >= cap), so from then on only the taker uses it.
 * I2  The handler makes a buffer active only when it writes the first entry. So a
 *     buffer that is taken without an entry did not become active meanwhile.
 * I3  A buffer is given back by one store of nr.
 *
 * The functions that change a table's state run on its CPU, or while its handler is
 * off. t/unit/check_seal.c runs the handler between their steps.
 */
#ifndef CPI_KMOD_SEAL_H
#define CPI_KMOD_SEAL_H

#include "kmod/table.h"

#ifdef __KERNEL__
#include <linux/atomic.h>
#define CPI_SEAL_EXCHANGE(at, value) xchg(at, value)
#else
#define CPI_SEAL_EXCHANGE(at, value) __atomic_exchange_n(at, value, __ATOMIC_RELAXED)
#endif

/* A compiler barrier is enough, because the other side runs on the same CPU. */
#define CPI_SEAL_BARRIER() __asm__ __volatile__("" ::: "memory")

/* A test defines this to run a handler between two steps, like an NMI. */
#ifndef CPI_SEAL_POINT
#define CPI_SEAL_POINT() CPI_SEAL_BARRIER()
#endif

/* Takes one buffer (I1). Returns how many entries it holds. */
static inline uint32_t cpi_seal_reserve(struct cpi_table *t, unsigned int which)
{
	struct cpi_overflow *o = &t->overflow[which & 1];

	return CPI_SEAL_EXCHANGE(&o->nr, o->cap);
}

/* Gives a taken buffer back, empty (I3). */
static inline void cpi_seal_release(struct cpi_table *t, unsigned int which)
{
	__atomic_store_n(&t->overflow[which & 1].nr, 0, __ATOMIC_RELAXED);
	CPI_SEAL_POINT();
}

/*
 * Takes the buffer that is not active; returns how many entries it holds. If it holds
 * none, the table may be moved to it.
 */
static inline uint32_t cpi_seal_take_idle(struct cpi_table *t, unsigned int *which)
{
	*which = (__atomic_load_n(&t->active, __ATOMIC_RELAXED) & 1) ^ 1;
	CPI_SEAL_POINT();
	return cpi_seal_reserve(t, *which);
}

/*
 * Takes a buffer that has entries: the idle one; else the active one, if it is full or
 * swap is set, and then the idle one becomes active. Returns the number of entries; 0:
 * no buffer was taken.
 */
static inline uint32_t cpi_seal_take(struct cpi_table *t, int swap, unsigned int *which)
{
	unsigned int idle;
	uint32_t nr = cpi_seal_take_idle(t, &idle);
	const struct cpi_overflow *active = &t->overflow[idle ^ 1];

	*which = idle;
	if (nr)
		return nr;
	CPI_SEAL_POINT();
	cpi_seal_release(t, idle);
	if (!swap && __atomic_load_n(&active->nr, __ATOMIC_RELAXED) < active->cap)
		return 0;
	/* If the handler has made it active meanwhile, this store changes nothing. */
	__atomic_store_n(&t->active, idle, __ATOMIC_RELAXED);
	CPI_SEAL_POINT();
	*which = idle ^ 1;
	nr = cpi_seal_reserve(t, *which);
	CPI_SEAL_POINT();
	if (!nr)
		cpi_seal_release(t, *which);
	return nr;
}

/*
 * Moves the entries of the buckets from *bucket on to out, as many whole buckets as
 * fit, and advances *bucket. Returns the number of entries. The handler must not use
 * the table meanwhile.
 */
static inline uint32_t cpi_seal_sweep(struct cpi_table *t, uint32_t *bucket,
				      struct cpi_entry *out, uint32_t cap)
{
	uint32_t nr = 0;
	int i;

	for (; *bucket <= t->mask && nr + CPI_TABLE_WAYS <= cap; ++*bucket) {
		struct cpi_bucket *b = &t->buckets[*bucket];

		for (i = 0; i < CPI_TABLE_WAYS; i++) {
			if (!cpi_entry_count(&b->way[i]))
				continue;
			out[nr++] = b->way[i];
			b->way[i].word1 = 0;
		}
	}
	return nr;
}

#endif
