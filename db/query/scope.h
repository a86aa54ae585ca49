/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.h - the epochs and contexts of a selection as parameters of a statement
 */
#ifndef CPI_DB_SCOPE_H
#define CPI_DB_SCOPE_H

#include <sqlite3.h>

#include "base/buf.h"
#include "db/profile/selection.h"

/* Sets of ids, as JSON arrays. */
struct query_scope {
	struct buf epochs, contexts;
};

/*
 * Fills s, which is zero. 0, -ENOMEM, or -CPI_EEMPTY as in selection.h; the caller
 * frees s in any case.
 */
int query_scope_init(struct query_scope *s, sqlite3 *h,
		     const struct query_selection *sel);
void query_scope_fini(struct query_scope *s);

#endif
