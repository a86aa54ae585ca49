/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_source_print.c - the procedure as its programmer wrote it
 *
 * The procedure's own file from its first to its last line; of other files,
 * from which code was inlined, the lines that have code.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/ui/term.h"
#include "tools/write/calls.h"
#include "tools/write/explain.h"

#define MAX_BLANK_RUN 100 /* lines without code that are shown in a row */

static void put_row(struct table *t, const struct list *l,
		    const struct event_sum *tally, const char *file, int line,
		    const struct inlined_chain *inlined, bool text)
{
	const char *source = file ? sources_line(l->sources, file, line) : NULL;

	table_color(t, out_heat(list_time_percent(l, tally)));
	list_event_cells(l, t, tally, text);
	table_text(t, file);
	if (file)
		table_number(t, line);
	else
		table_empty(t);
	table_text(t, source ? source : file ? NULL : "(code of no source line)");
	if (l->inlines)
		inlined_put_cell(t, inlined);
	table_percent(t, list_time_percent(l, tally));
}

static const struct inlined_chain nothing_inlined;

/* Lines between two rows of the procedure's own file, which have no code. */
static void put_between(struct table *t, const struct list *l,
			const struct list_line *a, const struct list_line *b)
{
	static const struct event_sum none[EVENTS_MAX];

	if ((int64_t)b->line - a->line > MAX_BLANK_RUN)
		return;
	for (int line = a->line + 1; line < b->line; line++)
		put_row(t, l, none, a->file, line, &nothing_inlined, true);
}

static void put_lines(struct table *t, const struct list *l, const struct list_lines *s,
		      const struct hotspots *spots, bool text)
{
	bool follows = false; /* the row above is shown */

	for (size_t i = 0, next; i < s->nr; i = next) {
		const struct list_line *row = &s->line[i];
		bool same = follows && list_same_file(row, &row[-1]);

		next = hotspots_shows(spots, i) ? i + 1 : hotspots_next(spots, i);
		follows = hotspots_shows(spots, i);
		if (!follows) {
			list_put_left_out(t, next - i, "line",
					  list_percent_between(l, s->tally, i, next));
			continue;
		}
		if (row->file && !same)
			table_line(t, TERM_BLUE, row->file);
		if (inlined_compare(&row->inlined,
				    same ? &row[-1].inlined : &nothing_inlined))
			inlined_put_lines(t, &row->inlined, l->place->name);
		if (text && same && row->file && row->first == s->line[0].first)
			put_between(t, l, row - 1, row);
		put_row(t, l, &s->tally[row->index * l->scope->ev.nr], row->file,
			row->line, &row->inlined, text);
	}
}

static int print_json(const struct list *l, struct table *t)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	list_json_header(&j, l);
	json_array(&j, "lines");
	err = table_print_json(t, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

static int print(const struct list *l, struct table *t, const struct out_options *out)
{
	if (out->format == OUT_JSON)
		return print_json(l, t);
	if (out->format == OUT_CSV)
		return table_print_csv(t, true);
	list_print_header(l, false);
	return table_print_text(t, out_use_color(out->color), true);
}

int list_print_source(const struct list *l, const struct out_options *out)
{
	static const struct column rest[] = {
		{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "line", "line", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "source", "source", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct column columns[2 * EVENTS_MAX + 8];
	char *keys[2 * EVENTS_MAX] = { NULL };
	const bool text = out->format == OUT_TEXT;
	struct hotspots spots = { NULL, 0 };
	struct list_lines lines;
	struct table *t;
	size_t nr;
	int err = list_find_lines(l, &lines);

	if (err)
		return err;
	nr = list_event_columns(l, columns, keys);
	memcpy(columns + nr, rest, sizeof(rest));
	nr = list_last_columns(l, columns, nr + sizeof(rest) / sizeof(rest[0]));
	t = table_new(columns, nr);
	err = t ? 0 : -ENOMEM;
	if (t) {
		if (text)
			err = list_find_hotspots(l, lines.tally, lines.nr, &spots);
		put_lines(t, l, &lines, &spots, text);
		hotspots_fini(&spots);
		err = err ? err : print(l, t, out);
	}
	table_free(t);
	for (size_t i = 0; i < 2 * EVENTS_MAX; i++)
		free(keys[i]);
	list_lines_fini(&lines);
	return err;
}
