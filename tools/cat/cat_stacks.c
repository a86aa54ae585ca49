/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat_stacks.c - call stacks as they are stored, a row for each
 */
#include "config.h"

#include "tools/cat/cat.h"

#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "db/query/stacks.h"
#include "tools/ui/table.h"

static const struct column columns[] = {
	{ "", "event", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "source", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "mean_period", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "", "unit", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "samples", "n", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "context", "context", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "mark", "mark", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "frames", "frames", COLUMN_TEXT, COLUMN_EVERYWHERE },
};

struct stacks_dump {
	struct query_streams streams;
	struct table *t;
	struct buf frames, context;
};

/* "IMAGE+0xOFFSET;...", leaf first; of an unknown image "[REASON]". */
static const char *frames_text(struct stacks_dump *d, const struct query_stack *row)
{
	buf_reset(&d->frames);
	for (size_t i = 0; i < row->nr_frames; i++) {
		const struct query_frame *f = &row->frames[i];

		buf_puts(&d->frames, i ? ";" : "");
		if (f->image->id)
			buf_printf(&d->frames, "%s+%#" PRIx64, f->image->desc.name,
				   f->offset);
		else
			buf_printf(&d->frames, "[%s]", stack_unknown_str(f->offset));
	}
	return buf_str(&d->frames);
}

/* The lines of a context's name as words. */
static const char *context_text(struct stacks_dump *d, const char *name)
{
	buf_reset(&d->context);
	for (const char *c = name; *c; c++) {
		if (*c != '\n')
			buf_putc(&d->context, *c);
		else if (c[1])
			buf_putc(&d->context, ' ');
	}
	return buf_str(&d->context);
}

static int on_stack(void *ctx, const struct query_stack *row)
{
	struct stacks_dump *d = ctx;
	const struct query_stream *s = query_stream_by_id(&d->streams, row->stream);

	if (!s)
		return 0; /* of a flush that came in between */
	table_text(d->t, s->desc.event);
	table_text(d->t, s->desc.source);
	table_number(d->t, s->desc.mean_period);
	table_text(d->t, s->desc.unit);
	table_number(d->t, row->n);
	table_text(d->t, context_text(d, row->context));
	table_text(d->t, stack_mark_str(row->mark));
	table_text(d->t, frames_text(d, row));
	return d->frames.err ? d->frames.err : d->context.err;
}

int cat_stacks(const struct selection *sel, int format)
{
	struct stacks_dump d = { .t = table_new(columns,
						sizeof(columns) / sizeof(columns[0])) };
	int err = d.t ? 0 : -ENOMEM;

	if (!err)
		err = query_streams_of(sel->db, TALLY_STACKS, &sel->epochs,
				       sel->query.event, &d.streams);
	if (!err)
		err = query_stacks(sel->db, &sel->query, on_stack, &d);
	if (!err)
		err = table_print(d.t, format, "stacks", false);
	query_streams_fini(&d.streams);
	buf_fini(&d.frames);
	buf_fini(&d.context);
	table_free(d.t);
	return err;
}
