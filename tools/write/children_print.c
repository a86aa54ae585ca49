/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children_print.c - exclusive and inclusive time as a table
 */
#include "config.h"

#include <errno.h>

#include "tools/ui/table.h"
#include "tools/write/calls.h"
#include "tools/write/plain_name.h"

static const struct column columns[] = {
	{ "samples", "total_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "%", "total_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "total_time_ns", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "self", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "self%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "time_ns", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "procedure", "procedure", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "inlined", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
};

static void put_cost(struct table *t, const struct calls *calls, struct call_cost cost)
{
	const double all = calls->busy.weight;

	table_number(t, cost.n);
	table_percent(t, all > 0 ? 100 * cost.weight / all : 0);
	if (calls->ev.event[0].is_time)
		table_real(t, cost.weight, 0);
	else
		table_empty(t);
}

static void put_row(struct table *t, const struct children *c, uint32_t id, bool text)
{
	const struct frame *f = c->frames.frame[id];
	const bool by_image = c->req->by == BY_IMAGE;
	struct buf name = { 0 };

	plain_procedure(f->name, text ? f->image : NULL, &name);
	put_cost(t, &c->calls, c->sums.row[id].total);
	put_cost(t, &c->calls, c->sums.row[id].self);
	table_text(t, by_image ? NULL : buf_str(&name));
	table_number(t, !by_image && f->inlined);
	table_text(t, by_image ? children_image(c, id) : f->image);
	table_text(t, f->build_id);
	buf_fini(&name);
}

int children_print(const struct children *c, const struct out_options *out)
{
	const struct out_options plain = { .format = out->format,
					   .color = COLOR_NEVER };
	const uint64_t limit = out->limit;
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_rows && (!limit || i < limit); i++)
		put_row(t, c, c->order[i], out->format == OUT_TEXT);
	err = calls_print(&c->calls, t, &plain);
	table_free(t);
	return err;
}
