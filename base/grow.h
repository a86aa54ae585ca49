/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grow.h - arrays that double when they are full
 */
#ifndef CPI_BASE_GROW_H
#define CPI_BASE_GROW_H

#include <stdlib.h>

/*
 * Makes room for one more behind array[0..nr), whose elements have size bytes:
 * returns where the array is now, or NULL when out of memory (then it is where
 * it was).
 */
static inline void *grow(void *array, size_t nr, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 64;

	if (nr < *cap)
		return array;
	array = reallocarray(array, want, size);
	if (array)
		*cap = want;
	return array;
}

#endif
