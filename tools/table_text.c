/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_text.c - a table as aligned text
 *
 * In a pipe nothing is cut, but one long name does not widen every row either:
 * it pushes aside what follows it. A terminal has a width to keep to.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/table_cells.h"
#include "tools/term.h"
#include "tools/text.h"

#define COLUMN_GAP     2  /* blanks between columns */
#define MAX_PADDING    60 /* a longer name pushes its row aside, not every row */
#define LEAST_CUT      12 /* a terminal's names are not cut below this */
#define CUT_MARK       "..."
#define CUT_MARK_WIDTH 3

static bool in_text(const struct column *c)
{
	return c->where != COLUMN_NOT_IN_TEXT;
}

/* The cell as it is shown: safe, with its unit. */
static const char *shown(const struct table *t, const struct cell *c, struct buf *b)
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
		const struct row *row = table_row(t, r);

		for (size_t i = 0; i < t->nr_columns && !row->line; i++) {
			size_t w = text_width(shown(t, table_cell(t, row, i), b));

			if (w > width[i])
				width[i] = w;
		}
	}
}

/* Takes columns from the widest names until the line fits into limit. */
static void narrow(const struct table *t, size_t *width, size_t limit)
{
	for (;;) {
		size_t widest = t->nr_columns, sum = 0, next = LEAST_CUT;

		for (size_t i = 0; i < t->nr_columns; i++) {
			if (!in_text(&t->column[i]))
				continue;
			sum += width[i] + (sum ? COLUMN_GAP : 0);
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
		if (sum <= limit || widest == t->nr_columns ||
		    width[widest] <= LEAST_CUT)
			return;
		if (next == width[widest])
			next--;
		if (width[widest] - next > sum - limit)
			next = width[widest] - (sum - limit);
		width[widest] = next;
	}
}

static void put_blanks(struct buf *line, size_t n)
{
	while (n--)
		buf_putc(line, ' ');
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
		buf_put(line, s, text_prefix(s, width - CUT_MARK_WIDTH));
		buf_puts(line, CUT_MARK);
	} else {
		buf_puts(line, s);
		put_blanks(line, blanks);
	}
}

/* The cells of a row; row NULL makes the titles. */
static void put_cells(const struct table *t, const struct row *row, const size_t *width,
		      bool cut, struct buf *line)
{
	struct buf b = { 0 };
	bool any = false;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct column *c = &t->column[i];

		if (!in_text(c))
			continue;
		if (any)
			put_blanks(line, COLUMN_GAP);
		any = true;
		put_cell(line, c, row ? shown(t, table_cell(t, row, i), &b) : c->title,
			 width[i], cut);
	}
	buf_fini(&b);
}

/* A line of at most limit letters (0: any), without blanks at its end. */
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

static int print_rows(const struct table *t, const size_t *width, size_t limit,
		      bool color, bool header)
{
	struct buf line = { 0 }, b = { 0 };
	int err = 0;

	if (header) {
		put_cells(t, NULL, width, limit != 0, &line);
		err = print_line(&line, NULL, limit);
	}
	for (size_t r = 0; r < table_nr_rows(t) && !err; r++) {
		const struct row *row = table_row(t, r);

		buf_reset(&line);
		if (row->line)
			buf_puts(&line, shown(t, table_cell(t, row, 0), &b));
		else
			put_cells(t, row, width, limit != 0, &line);
		err = print_line(&line, color ? row->color : NULL, limit);
	}
	buf_fini(&line);
	buf_fini(&b);
	return err;
}

int table_print_text(struct table *t, bool color, bool header)
{
	const size_t limit = term_width();
	struct buf b = { 0 };
	size_t *width;
	int err;

	if (table_err(t))
		return -ENOMEM;
	width = calloc(t->nr_columns, sizeof(*width));
	if (!width)
		return -ENOMEM;
	measure(t, width, header, &b);
	buf_fini(&b);
	if (limit)
		narrow(t, width, limit);
	for (size_t i = 0; i < t->nr_columns && !limit; i++) {
		if (t->column[i].kind == COLUMN_TEXT && width[i] > MAX_PADDING)
			width[i] = MAX_PADDING;
	}
	err = print_rows(t, width, limit, color, header);
	free(width);
	return err;
}
