/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpool.h - which cells of the shared memory are taken
 *
 * Packed pages (analysis/windows/codepack.h) have any size. Room is given in granules
 * of 256 bytes, one run of them for each page. The first granule is never given,
 * because cell 0 stands for no page.
 */
#ifndef CPI_DAEMON_WINDOWPOOL_H
#define CPI_DAEMON_WINDOWPOOL_H

#include <stdint.h>

#define WINDOWPOOL_GRANULE 16u /* cells */

struct windowpool {
	uint64_t *taken; /* a bit per granule */
	uint32_t nr, nr_free;
	uint32_t lowest; /* no word of taken before this one has a free granule */
};

/* 0 or -ENOMEM. */
int windowpool_init(struct windowpool *p, uint32_t nr_cells);
void windowpool_fini(struct windowpool *p);

/* The first of nr_cells cells in a row, at least one; 0: there are not as many. */
uint32_t windowpool_take(struct windowpool *p, uint32_t nr_cells);
void windowpool_give_back(struct windowpool *p, uint32_t first, uint32_t nr_cells);

/* Gives everything back. */
void windowpool_clear(struct windowpool *p);

/* Granules that nr_cells cells take. */
uint32_t windowpool_granules(uint32_t nr_cells);

#endif
