/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_source.c - the procedure as its programmer wrote it
 *
 * The procedure's own file from its first to its last line; of other files,
 * from which code was inlined, the lines that have code.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/list.h"
#include "tools/out.h"
#include "tools/report.h"
#include "tools/table.h"
#include "tools/term.h"

#define MAX_BLANK_RUN 100 /* lines without code that are shown in a row */

/* A line with code. */
struct row {
	const char *file; /* NULL for code of no line */
	int line;
	struct inlined_chain inlined; /* with --inlines */
	size_t first; /* the first instruction of its file, for the order of files */
	size_t index; /* of its tallies */
};

struct lines {
	struct row *row;
	size_t nr;
	struct tally *tally; /* nr rows of ev.nr */
};

static int compare_files(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b; /* code of no line comes last */
	return strcmp(a, b);
}

static int by_file_and_line(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;
	int c = compare_files(a->file, b->file);

	if (c)
		return c;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	c = inlined_compare(&a->inlined, &b->inlined);
	return c ? c : (a->index > b->index) - (a->index < b->index);
}

static int by_first_use(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (!a->file != !b->file)
		return !a->file - !b->file;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return by_file_and_line(va, vb);
}

static bool same_line(const struct row *a, const struct row *b)
{
	return a->line == b->line && !compare_files(a->file, b->file) &&
	       !inlined_compare(&a->inlined, &b->inlined);
}

/* Rows of one line become one; sorted by file and line before and after. */
static void merge_rows(const struct listing *l, struct lines *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct tally *from = &l->tally[s->row[i].index * l->ev.nr];
		struct tally *to;

		if (!nr || !same_line(&s->row[nr - 1], &s->row[i])) {
			s->row[nr] = s->row[i];
			s->row[nr].index = nr;
			nr++;
		}
		to = &s->tally[(nr - 1) * l->ev.nr];
		for (size_t e = 0; e < l->ev.nr; e++) {
			to[e].n += from[e].n;
			to[e].weight += from[e].weight;
		}
	}
	s->nr = nr;
}

/* The first instruction of each file, told to all of its rows. */
static void find_first_uses(struct lines *s)
{
	for (size_t i = 0, k; i < s->nr; i = k) {
		size_t first = SIZE_MAX;

		for (k = i; k < s->nr && !compare_files(s->row[i].file, s->row[k].file);
		     k++)
			first = s->row[k].index < first ? s->row[k].index : first;
		for (size_t m = i; m < k; m++)
			s->row[m].first = first;
	}
}

static int make_lines(const struct listing *l, struct lines *s)
{
	s->nr = l->nr_insns;
	s->row = calloc(s->nr + 1, sizeof(*s->row));
	s->tally = calloc(s->nr * l->ev.nr + 1, sizeof(*s->tally));
	if (!s->row || !s->tally)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		s->row[i] = (struct row){ l->insn[i].line.file, l->insn[i].line.line,
					  l->insn[i].inlined, 0, i };
	qsort(s->row, s->nr, sizeof(*s->row), by_file_and_line);
	find_first_uses(s);
	merge_rows(l, s);
	qsort(s->row, s->nr, sizeof(*s->row), by_first_use);
	return 0;
}

static void put_row(struct table *t, struct listing *l, const struct tally *tally,
		    const char *file, int line, const struct inlined_chain *inlined)
{
	const char *text = file ? sources_line(l->sources, file, line) : NULL;

	table_color(t, out_heat(list_percent(l, tally, 0)));
	list_event_cells(l, t, tally);
	table_text(t, file);
	if (file)
		table_number(t, line);
	else
		table_empty(t);
	table_text(t, text ? text : file ? NULL : "(code of no source line)");
	if (l->ctx->opt.inlines)
		inlined_put_cell(t, inlined);
}

/* Lines between two rows of the procedure's own file, which have no code. */
static const struct inlined_chain nothing_inlined;

static void put_between(struct table *t, struct listing *l, const struct row *a,
			const struct row *b)
{
	static const struct tally none[EVENTS_MAX];

	if (l->ctx->opt.format != OUT_TEXT ||
	    (int64_t)b->line - a->line > MAX_BLANK_RUN)
		return;
	for (int line = a->line + 1; line < b->line; line++)
		put_row(t, l, none, a->file, line, &nothing_inlined);
}

static void put_lines(struct table *t, struct listing *l, const struct lines *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct row *row = &s->row[i];
		bool same = i && !compare_files(row->file, row[-1].file);

		if (row->file && !same)
			table_line(t, TERM_BLUE, row->file);
		if (inlined_compare(&row->inlined,
				    same ? &row[-1].inlined : &nothing_inlined))
			inlined_put_lines(t, &row->inlined, l->place->name);
		if (same && row->file && row->first == s->row[0].first)
			put_between(t, l, row - 1, row);
		put_row(t, l, &s->tally[row->index * l->ev.nr], row->file, row->line,
			&row->inlined);
	}
}

static int print_json(struct listing *l, struct table *t)
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

static int print(struct listing *l, struct table *t)
{
	if (l->ctx->opt.format == OUT_JSON)
		return print_json(l, t);
	if (l->ctx->opt.format == OUT_CSV)
		return table_print_csv(t, true);
	list_print_header(l);
	return table_print_text(t, out_use_color(l->ctx->opt.color), true);
}

int list_print_source(struct listing *l)
{
	static const struct column rest[] = {
		{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "line", "line", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "source", "source", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "inlined", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	};
	struct column columns[2 * EVENTS_MAX + 4];
	char *keys[2 * EVENTS_MAX] = { NULL };
	struct lines lines = { 0 };
	struct table *t = NULL;
	size_t nr;
	int err;

	err = make_lines(l, &lines);
	if (err)
		goto out;
	nr = list_event_columns(l, columns, keys);
	memcpy(columns + nr, rest, sizeof(rest));
	t = table_new(columns,
		      nr + sizeof(rest) / sizeof(rest[0]) - !l->ctx->opt.inlines);
	if (!t) {
		err = -ENOMEM;
		goto out;
	}
	put_lines(t, l, &lines);
	err = print(l, t);
out:
	table_free(t);
	for (size_t i = 0; i < 2 * EVENTS_MAX; i++)
		free(keys[i]);
	free(lines.row);
	free(lines.tally);
	return err;
}
