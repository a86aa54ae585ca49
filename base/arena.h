/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - memory that is freed all at once
 *
 * An analysis takes all its memory from one arena, so its passes free nothing and leak
 * nothing. An arena has a limit, so that hostile input ends in -ENOMEM.
 */
#ifndef CPI_BASE_ARENA_H
#define CPI_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* the newest */
	char *at, *end;            /* what is free in it */
	size_t used, limit;        /* bytes taken from the system; how many may be */
};

/* limit in bytes; 0 for the default, 4 GB. Takes no memory yet. */
void arena_init(struct arena *a, size_t limit);

/* Frees everything; the arena is empty, and may be used again. */
void arena_fini(struct arena *a);

/* Zeroed, aligned for any type. NULL when out of memory or beyond the limit. */
void *arena_alloc(struct arena *a, size_t size);

/* The same for nr elements of size bytes each; NULL if the product overflows. */
void *arena_array(struct arena *a, size_t nr, size_t size);

#endif
