/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries.h - sorts entries into an order that is cheap to attribute
 */
#ifndef CPI_DAEMON_ENTRIES_H
#define CPI_DAEMON_ENTRIES_H

#include <stddef.h>

#include "abi/entry.h"

/*
 * Sorts nr entries by process and generation, then by event, address and outcome. Adds
 * up entries with the same key if the sum fits in an entry. Returns the number of
 * entries that remain at the beginning of the array. spare must have room for nr
 * entries.
 */
size_t entries_sort(struct cpi_entry *entries, struct cpi_entry *spare, size_t nr);

#endif
