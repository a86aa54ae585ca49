/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowahead.h - finds the pages to which a page of micro-ops leads
 *
 * A window ends at the first page that is not translated, so windows alone would
 * find missing pages one at a time. Except for jumps through registers and
 * memory, the next pages are known in advance.
 */
#ifndef CPI_DAEMON_WINDOWAHEAD_H
#define CPI_DAEMON_WINDOWAHEAD_H

#include <stdint.h>

#include "abi/uop.h"

/*
 * Finds places outside the page that a window can reach from this offset, nearest
 * first, as offsets from the page's begin. Returns how many, at most max.
 */
int windowahead_find(const union cpi_code_cell *page, uint32_t from, int64_t *to,
		     int max);

#endif
