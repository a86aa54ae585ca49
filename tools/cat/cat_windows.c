/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat_windows.c - the raw windows of a selection, one a row
 *
 * A window's jumps are one cell: a column for each would be a hundred.
 */
#include "config.h"

#include "tools/cat/cat.h"

#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "db/query/window_query.h"
#include "tools/ui/table.h"

static const struct column columns[] = {
	{ "times", "n", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "stand_for", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "instructions", "instructions", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "reason", "reason", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "start", "start", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "end", "end", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "jumps", "jumps", COLUMN_TEXT, COLUMN_EVERYWHERE },
};

/* "1184>1100 11f0>/lib/x.so:5a00": the image where it becomes another one. */
static int put_jumps(const struct query_windows *q, const struct window *w,
		     struct buf *text)
{
	int64_t image = q->image->id;

	buf_reset(text);
	for (uint32_t i = 0; i < w->nr_jumps; i++) {
		const struct query_image *to = &q->images[w->jump[i].image];

		buf_printf(text, "%s%" PRIx64 ">", i ? " " : "", w->jump[i].from);
		if (to->id != image)
			buf_printf(text, "%s:", to->desc.name);
		buf_printf(text, "%" PRIx64, w->jump[i].to);
		image = to->id;
	}
	return text->err;
}

static int put_windows(void *ctx, const struct query_windows *q)
{
	struct table *t = ctx;
	struct buf text = { 0 };
	size_t nr;
	const struct window *w = windows_sorted(q->windows, &nr);
	const double each =
		(double)windows_seen(q->windows) / (double)windows_kept(q->windows);
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		err = put_jumps(q, &w[i], &text);
		table_number(t, w[i].n);
		table_exact(t, each * (double)w[i].n);
		table_number(t, w[i].nr_insns);
		table_number(t, w[i].reason);
		table_hex(t, w[i].start);
		table_hex(t, w[i].end);
		table_text(t, q->image->desc.name);
		table_text(t, buf_str(&text));
	}
	buf_fini(&text);
	return err;
}

int cat_windows(const struct selection *sel, int format)
{
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	err = query_windows(sel->db, &sel->query, put_windows, t);
	if (!err)
		err = table_print(t, format, "windows", false);
	table_free(t);
	return err;
}
