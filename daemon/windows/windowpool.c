/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpool.c - first fit over a bitmap
 *
 * Pages take 4 to 160 granules, and most of them a few dozen. A search begins at the
 * first word of the bitmap that has a free granule: the lowest holes are filled first,
 * which leaves long free runs at higher addresses.
 */
#include "config.h"

#include "daemon/windows/windowpool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

uint32_t windowpool_granules(const struct windowpool *p, uint32_t nr_cells)
{
	return (nr_cells + p->granule - 1) / p->granule;
}

int windowpool_init(struct windowpool *p, uint32_t nr_cells, uint32_t granule)
{
	memset(p, 0, sizeof(*p));
	p->granule = granule;
	p->nr = nr_cells / granule;
	p->taken = calloc(p->nr / 64 + 1, sizeof(*p->taken));
	if (!p->taken)
		return -ENOMEM;
	windowpool_clear(p);
	return 0;
}

void windowpool_fini(struct windowpool *p)
{
	free(p->taken);
	p->taken = NULL;
}

void windowpool_clear(struct windowpool *p)
{
	memset(p->taken, 0, (p->nr / 64 + 1) * sizeof(*p->taken));
	p->taken[0] = 1;
	p->nr_free = p->nr ? p->nr - 1 : 0;
	p->lowest = 0;
}

/* The first granule in [from, to) that is taken, or that is free; to if none is. */
static uint32_t next(const struct windowpool *p, uint32_t from, uint32_t to, bool taken)
{
	while (from < to) {
		const uint64_t word = p->taken[from / 64];
		const uint64_t left = (taken ? word : ~word) >> from % 64;

		if (left) {
			from += (uint32_t)__builtin_ctzll(left);
			break;
		}
		from += 64 - from % 64;
	}
	return from < to ? from : to;
}

/* The first run of nr free granules in [from, to), or 0. */
static uint32_t find_run(const struct windowpool *p, uint32_t from, uint32_t to,
			 uint32_t nr)
{
	while (from < to) {
		const uint32_t start = next(p, from, to, false);
		const uint32_t enough = to - start > nr ? start + nr : to;

		from = next(p, start, enough, true);
		if (from - start == nr)
			return start;
	}
	return 0;
}

uint32_t windowpool_take(struct windowpool *p, uint32_t nr_cells)
{
	const uint32_t nr = windowpool_granules(p, nr_cells);
	uint32_t at = 0;

	while (p->lowest < p->nr / 64 && p->taken[p->lowest] == UINT64_MAX)
		p->lowest++;
	if (nr <= p->nr_free)
		at = find_run(p, p->lowest * 64, p->nr, nr);
	if (!at)
		return 0;
	for (uint32_t i = at; i < at + nr; i++)
		p->taken[i / 64] |= 1ULL << i % 64;
	p->nr_free -= nr;
	return at * p->granule;
}

void windowpool_give_back(struct windowpool *p, uint32_t first, uint32_t nr_cells)
{
	const uint32_t at = first / p->granule;
	const uint32_t nr = windowpool_granules(p, nr_cells);

	for (uint32_t i = at; i < at + nr; i++)
		p->taken[i / 64] &= ~(1ULL << i % 64);
	p->nr_free += nr;
	if (at / 64 < p->lowest)
		p->lowest = at / 64;
}
