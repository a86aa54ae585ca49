/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grow.h - arrays that double when they are full
 */
#ifndef CPI_BASE_GROW_H
#define CPI_BASE_GROW_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for element nr of an array (an lvalue) that starts as NULL and grows one
 * element at a time. Returns 0, or -ENOMEM; then the array is unchanged. The room is
 * always the next power of two, so it need not be stored.
 */
#define GROW(array, nr) grow_array(&(array), nr, sizeof(*(array)))

static inline int grow_array(void *at, size_t nr, size_t size)
{
	void *array;

	if (nr & (nr - 1))
		return 0;
	memcpy(&array, at, sizeof(array));
	array = reallocarray(array, nr ? nr * 2 : 1, size);
	if (!array)
		return -ENOMEM;
	memcpy(at, &array, sizeof(array));
	return 0;
}

/*
 * The same for an array whose room is stored in *cap. Elements have size bytes. Returns
 * where the array is now, or NULL when out of memory; then the array is unchanged.
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
