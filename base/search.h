/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search.h - binary search
 */
#ifndef CPI_BASE_SEARCH_H
#define CPI_BASE_SEARCH_H

#include <stddef.h>

/*
 * The first i below nr for which the expression test is true, or nr if there is none.
 * If test is true for some i, it must be true for all greater i.
 */
#define SEARCH(i, nr, test)                                         \
	({                                                          \
		size_t low_ = 0, high_ = (nr);                      \
		while (low_ < high_) {                              \
			const size_t i = low_ + (high_ - low_) / 2; \
			if (test)                                   \
				high_ = i;                          \
			else                                        \
				low_ = i + 1;                       \
		}                                                   \
		low_;                                               \
	})

#endif
