/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.c - turns a selection's epochs and contexts into parameters of a statement
 */
#include "config.h"

#include "db/query/scope.h"

#include "db/core/rows.h"
#include "db/query/contexts.h"

/* Lists the selected contexts. Context 0 has all samples. */
static int list_contexts(sqlite3 *h, const struct query_selection *sel, struct buf *out)
{
	struct buf named = { 0 };
	int err = 0;

	if (query_restricted_kinds(sel))
		return contexts_list(h, sel, out);
	if (sel->apart)
		err = contexts_list(h, sel, &named);
	buf_puts(out, "[0");
	if (named.len > 2)
		buf_printf(out, ",%s", named.data + 1);
	else
		buf_putc(out, ']');
	buf_str(out);
	buf_fini(&named);
	return err ? err : out->err;
}

int query_scope_init(struct query_scope *s, sqlite3 *h,
		     const struct query_selection *sel)
{
	const unsigned int kinds = query_restricted_kinds(sel) | sel->apart;
	int err = rows_epoch_ids(sel->epochs, &s->epochs);

	if (!err)
		err = list_contexts(h, sel, &s->contexts);
	if (!err && kinds)
		err = contexts_need(h, s->epochs.data, kinds);
	return err;
}

void query_scope_fini(struct query_scope *s)
{
	buf_fini(&s->epochs);
	buf_fini(&s->contexts);
}
