/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat_edges.c - the raw edges of a selection, one a row
 */
#include "config.h"

#include "tools/cat/cat.h"

#include <errno.h>

#include "db/core/rows.h"
#include "tools/ui/table.h"

static const struct column columns[] = {
	{ "kind", "kind", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "event", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "from", "from", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "to", "to", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "times", "n", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "cycles", "cycles", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "timed", "timed", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "mispredicted", "mispredicted", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "target", "target", COLUMN_TEXT, COLUMN_EVERYWHERE },
};

struct listing {
	const struct selection *sel;
	struct table *t;
};

static int put_edges(void *ctx, const struct query_edges *q)
{
	const struct listing *l = ctx;
	const struct query_stream *stream =
		query_stream_by_id(&l->sel->streams, q->stream);
	const struct edge *e;
	size_t nr;

	if (!rows_image_matches(&l->sel->query, q->image.desc.name))
		return 0;
	e = edges_sorted(q->edges, &nr);
	for (size_t i = 0; i < nr; i++) {
		table_text(l->t, edges_kind_str(q->kind));
		table_text(l->t, stream ? stream->desc.event : "?");
		table_hex(l->t, e[i].from);
		table_hex(l->t, e[i].to);
		table_number(l->t, e[i].n);
		table_number(l->t, e[i].cycles);
		table_number(l->t, e[i].nr_timed);
		table_number(l->t, e[i].mispredicted);
		table_text(l->t, q->image.desc.name);
		table_text(l->t, q->target.desc.name);
	}
	return 0;
}

int cat_edges(const struct selection *sel, int format)
{
	struct listing l = { sel,
			     table_new(columns, sizeof(columns) / sizeof(columns[0])) };
	int err;

	if (!l.t)
		return -ENOMEM;
	err = query_edges(sel->db, &sel->query, 0, put_edges, &l);
	if (!err)
		err = table_print(l.t, format, "edges", false);
	table_free(l.t);
	return err;
}
