/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contexts.h - the contexts of a selection
 */
#ifndef CPI_DB_CONTEXTS_H
#define CPI_DB_CONTEXTS_H

#include <sqlite3.h>

#include "base/buf.h"
#include "db/profile/selection.h"

/*
 * Writes the ids of the contexts for which query_takes_context() is true, as a JSON
 * array. Returns 0 or a negative error.
 */
int contexts_list(sqlite3 *h, const struct query_selection *sel, struct buf *out);

/*
 * Checks that the epochs (a JSON array) have profiles by these kinds of contexts, and
 * by several of them together. Returns 0, -CPI_EEMPTY if not, or another error.
 */
int contexts_need(sqlite3 *h, const char *epochs, unsigned int kinds);

#endif
