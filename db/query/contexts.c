/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contexts.c - lists the contexts of a selection by their names
 *
 * Names are parsed here and not in SQL, because there are only thousands of contexts,
 * but millions of profiles that refer to them.
 */
#include "config.h"

#include "db/query/contexts.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "db/core/sql.h"

struct lister {
	const struct query_selection *sel;
	struct buf *out;
	const char *before; /* text before the next id: "[" or "," */
};

static int list_context(sqlite3_stmt *st, void *ctx)
{
	struct lister *l = ctx;

	if (!query_takes_context(l->sel, sql_text(st, 1)))
		return 0;
	buf_printf(l->out, "%s%" PRId64, l->before,
		   (int64_t)sqlite3_column_int64(st, 0));
	l->before = ",";
	return l->out->err;
}

int contexts_list(sqlite3 *h, const struct query_selection *sel, struct buf *out)
{
	struct lister l = { sel, out, "[" };
	int err = sql_each(h, list_context, &l,
			   "SELECT id, name FROM context WHERE id != 0", "");

	buf_puts(out, *l.before == '[' ? "[]" : "]");
	buf_str(out);
	return err ? err : out->err;
}

struct kinds_finder {
	unsigned int kinds, found;
};

/* Returns -EEXIST, which ends the query, if all kinds were found. */
static int find_kinds(sqlite3_stmt *st, void *ctx)
{
	struct kinds_finder *f = ctx;
	const char *name = sql_text(st, 0);
	const bool several = f->kinds & (f->kinds - 1);

	if (!several || context_is_whole(name))
		f->found |= context_kinds(name);
	return (f->found & f->kinds) == f->kinds ? -EEXIST : 0;
}

int contexts_need(sqlite3 *h, const char *epochs, unsigned int kinds)
{
	static const char names[] =
		"SELECT c.name FROM profile p JOIN context c ON c.id = p.context"
		" WHERE p.epoch IN (SELECT value FROM json_each(?1)) AND p.context != "
		"0";
	struct kinds_finder f = { .kinds = kinds };
	int err = sql_each(h, find_kinds, &f, names, "s", epochs);

	return err == -EEXIST ? 0 : err ? err : -CPI_EEMPTY;
}
