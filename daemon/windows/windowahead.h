/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowahead.h - where a page of micro-ops leads to
 *
 * A window that ends at code that is not translated tells of one page, and the next one
 * ends where that page leads to. But for jumps through registers and memory that can be
 * seen before.
 */
#ifndef CPI_DAEMON_WINDOWAHEAD_H
#define CPI_DAEMON_WINDOWAHEAD_H

#include <stdint.h>

#include "abi/uop.h"

/*
 * The places outside the page that are reached from an offset of it within a window's
 * instructions, nearest first: as offsets from the page's begin. How many, max at most.
 */
int windowahead_find(const struct cpi_code_page *page, uint32_t from, int64_t *to,
		     int max);

#endif
