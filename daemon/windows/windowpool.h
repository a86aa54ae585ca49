/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpool.h - which cells of the shared memory are taken
 *
 * Packed pages (analysis/windows/codepack.h) and forms differ in size. Memory is
 * allocated in granules; each gets one contiguous run. The first granule is never
 * allocated, because cell 0 stands for none.
 */
#ifndef CPI_DAEMON_WINDOWPOOL_H
#define CPI_DAEMON_WINDOWPOOL_H

#include <stdint.h>

struct windowpool {
	uint64_t *taken; /* a bit per granule */
	uint32_t nr, nr_free;
	uint32_t lowest;  /* no word of taken before this one has a free granule */
	uint32_t granule; /* cells */
};

/* granule: in cells. 0 or -ENOMEM. */
int windowpool_init(struct windowpool *p, uint32_t nr_cells, uint32_t granule);
void windowpool_fini(struct windowpool *p);

/*
 * Takes nr_cells contiguous cells, at least one, and returns the first; 0 if
 * there is no such run.
 */
uint32_t windowpool_take(struct windowpool *p, uint32_t nr_cells);
void windowpool_give_back(struct windowpool *p, uint32_t first, uint32_t nr_cells);

/* Frees all cells. */
void windowpool_clear(struct windowpool *p);

/* Granules that nr_cells cells take. */
uint32_t windowpool_granules(const struct windowpool *p, uint32_t nr_cells);

#endif
