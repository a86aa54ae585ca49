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
 * The ids of those that query_takes_context() takes, as a JSON array. 0 or a negative
 * error.
 */
int contexts_list(sqlite3 *h, const struct query_selection *sel, struct buf *out);

/*
 * -CPI_EEMPTY when the epochs (a JSON array) have no profiles by one of these kinds, or
 * none by several of them together.
 */
int contexts_need(sqlite3 *h, const char *epochs, unsigned int kinds);

#endif
