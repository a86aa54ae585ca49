/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries.h - putting entries in an order that is cheap to attribute
 */
#ifndef CPI_DAEMON_ENTRIES_H
#define CPI_DAEMON_ENTRIES_H

#include <stddef.h>

#include "abi/entry.h"

/*
 * Sorts them by process and generation, then by event, address and outcome, and
 * adds up those of one key where the sum fits an entry. Returns how many are left,
 * at the array's beginning. spare has room for as many.
 */
size_t entries_sort(struct cpi_entry *entries, struct cpi_entry *spare, size_t nr);

#endif
