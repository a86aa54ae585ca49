/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_text.c - prints a table as aligned text
 *
 * Nothing is cut in a pipe; a very long name shifts the rest of its own row instead of
 * widening every row. On a terminal the lines fit its width.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tools/ui/table_cells.h"
#include "tools/ui/term.h"

#define COLUMN_GAP     2  /* blanks between columns */
#define MAX_PADDING    60 /* a longer name shifts only its own row */
#define LEAST_CUT      12 /* names are not cut below this width */
#define LEAST_NAME     24 /* nor below this one while columns can be left out */
#define CUT_MARK       "..."
#define CUT_MARK_WIDTH 3

/* The columns of text in their order, and the width of each column of the table. */
struct layout {
	size_t *shown, nr;
	size_t *width;
	size_t limit; /* of a line; 0 if there is none */
};

static bool has_key(const char *const *keys, const char *key)
{
	for (size_t i = 0; keys && keys[i]; i++) {
		if (!strcmp(keys[i], key))
			return true;
	}
	return false;
}

static void put_in_order(const struct table *t, struct layout *l)
{
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (t->column[i].where != COLUMN_NOT_IN_TEXT &&
		    !has_key(t->last, t->column[i].key))
			l->shown[l->nr++] = i;
	}
	for (size_t k = 0; t->last && t->last[k]; k++) {
		for (size_t i = 0; i < t->nr_columns; i++) {
			if (!strcmp(t->column[i].key, t->last[k]))
				l->shown[l->nr++] = i;
		}
	}
}

/* The text of a cell: safe, with its unit. */
static const char *shown(const struct table *t, const struct table_cell *c,
			 struct buf *b)
{
	buf_reset(b);
	text_put_clean(b, table_cell_text(t, c));
	if (c->kind == CELL_PERCENT)
		buf_putc(b, '%');
	return buf_str(b);
}

static void measure(const struct table *t, size_t *width, bool header, struct buf *b)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		width[i] = header ? text_width(t->column[i].title) : 0;
	for (size_t r = 0; r < table_nr_rows(t); r++) {
		const struct table_row *row = table_row(t, r);

		for (size_t i = 0; i < t->nr_columns && !row->line; i++) {
			size_t w = text_width(shown(t, table_cell(t, row, i), b));

			if (w > width[i])
				width[i] = w;
		}
	}
}

/* The width of a line if names are cut to `most` columns. */
static size_t line_width(const struct table *t, const struct layout *l, size_t most)
{
	size_t sum = 0;

	for (size_t k = 0; k < l->nr; k++) {
		const size_t i = l->shown[k], width = l->width[i];
		const bool cut = t->column[i].kind == COLUMN_TEXT && width > most;

		sum += (cut ? most : width) + (k ? COLUMN_GAP : 0);
	}
	return sum;
}

/* Leaves out columns until there is room for names. */
static void drop_columns(const struct table *t, struct layout *l)
{
	for (size_t k = 0; t->drop && t->drop[k]; k++) {
		size_t kept = 0;

		if (line_width(t, l, LEAST_NAME) <= l->limit)
			return;
		for (size_t i = 0; i < l->nr; i++) {
			if (strcmp(t->column[l->shown[i]].key, t->drop[k]) != 0)
				l->shown[kept++] = l->shown[i];
		}
		l->nr = kept;
	}
}

/* Narrows the widest names until the line fits. */
static void narrow(const struct table *t, struct layout *l)
{
	size_t *width = l->width;

	for (;;) {
		const size_t sum = line_width(t, l, SIZE_MAX);
		size_t widest = t->nr_columns, next = LEAST_CUT;

		for (size_t k = 0; k < l->nr; k++) {
			const size_t i = l->shown[k];

			if (t->column[i].kind != COLUMN_TEXT)
				continue;
			if (widest == t->nr_columns || width[i] > width[widest]) {
				if (widest < t->nr_columns && width[widest] > next)
					next = width[widest];
				widest = i;
			} else if (width[i] > next) {
				next = width[i];
			}
		}
		if (sum <= l->limit || widest == t->nr_columns ||
		    width[widest] <= LEAST_CUT)
			return;
		if (next == width[widest])
			next--;
		if (width[widest] - next > sum - l->limit)
			next = width[widest] - (sum - l->limit);
		width[widest] = next;
	}
}

static void put_blanks(struct buf *line, size_t n)
{
	while (n--)
		buf_putc(line, ' ');
}

/* A path is cut at its beginning, because paths differ at their ends. */
static void put_cut(struct buf *line, const char *s, size_t width)
{
	const size_t left = width - CUT_MARK_WIDTH;

	if (*s == '/') {
		buf_puts(line, CUT_MARK);
		buf_puts(line, s + text_prefix(s, text_width(s) - left));
	} else {
		buf_put(line, s, text_prefix(s, left));
		buf_puts(line, CUT_MARK);
	}
}

static void put_cell(struct buf *line, const struct column *c, const char *s,
		     size_t width, bool cut)
{
	const size_t w = text_width(s);
	const size_t blanks = w < width ? width - w : 0;

	if (c->kind != COLUMN_TEXT) {
		put_blanks(line, blanks);
		buf_puts(line, s);
	} else if (cut && w > width) {
		put_cut(line, s, width);
	} else {
		buf_puts(line, s);
		put_blanks(line, blanks);
	}
}

/* Formats the cells of a row, or the titles if row is NULL. */
static void put_cells(const struct table *t, const struct table_row *row,
		      const struct layout *l, struct buf *line)
{
	struct buf b = { 0 };

	for (size_t k = 0; k < l->nr; k++) {
		const size_t i = l->shown[k];
		const struct column *c = &t->column[i];

		if (k)
			put_blanks(line, COLUMN_GAP);
		put_cell(line, c, row ? shown(t, table_cell(t, row, i), &b) : c->title,
			 l->width[i], l->limit != 0);
	}
	buf_fini(&b);
}

/* Prints a line of at most limit letters (0: no limit) without trailing blanks. */
static int print_line(struct buf *line, const char *color, size_t limit)
{
	const char *s;
	size_t len;

	while (line->len && line->data[line->len - 1] == ' ')
		line->len--;
	s = buf_str(line);
	len = limit ? text_prefix(s, limit) : line->len;
	printf("%s%.*s%s\n", color ? color : "", (int)len, s, color ? TERM_RESET : "");
	return line->err;
}

static int print_rows(const struct table *t, const struct layout *l, bool color,
		      bool header)
{
	struct buf line = { 0 }, b = { 0 };
	int err = 0;

	if (header) {
		put_cells(t, NULL, l, &line);
		err = print_line(&line, NULL, l->limit);
	}
	for (size_t r = 0; r < table_nr_rows(t) && !err; r++) {
		const struct table_row *row = table_row(t, r);

		buf_reset(&line);
		if (row->line)
			buf_puts(&line, shown(t, table_cell(t, row, 0), &b));
		else
			put_cells(t, row, l, &line);
		err = print_line(&line, color ? row->color : NULL, l->limit);
	}
	buf_fini(&line);
	buf_fini(&b);
	return err;
}

static void lay_out(const struct table *t, struct layout *l, bool header)
{
	struct buf b = { 0 };

	put_in_order(t, l);
	measure(t, l->width, header, &b);
	buf_fini(&b);
	if (l->limit) {
		drop_columns(t, l);
		narrow(t, l);
		return;
	}
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (t->column[i].kind == COLUMN_TEXT && l->width[i] > MAX_PADDING)
			l->width[i] = MAX_PADDING;
	}
}

int table_print_text(struct table *t, bool color, bool header)
{
	struct layout l = { .limit = term_width() };
	int err = -ENOMEM;

	if (table_err(t))
		return -ENOMEM;
	l.width = calloc(t->nr_columns, sizeof(*l.width));
	l.shown = calloc(t->nr_columns, sizeof(*l.shown));
	if (l.width && l.shown) {
		lay_out(t, &l, header);
		err = print_rows(t, &l, color, header);
	}
	free(l.width);
	free(l.shown);
	return err;
}
