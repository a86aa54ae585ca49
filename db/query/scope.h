/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.h - turns a selection's epochs and contexts into parameters of a statement
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
 * Fills s, which must be zeroed. Returns 0, -ENOMEM, -CPI_EEMPTY as in selection.h, or
 * another error. The caller calls query_scope_fini() in any case.
 */
int query_scope_init(struct query_scope *s, sqlite3 *h,
		     const struct query_selection *sel);
void query_scope_fini(struct query_scope *s);

#endif
