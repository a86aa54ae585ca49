/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.c - cells are strings in one buffer; widths are known when it prints
 *
 * I1  Each row has nr_columns cells; a line between rows has one, and the mark.
 */
#include "config.h"

#include "tools/table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/times.h"
#include "tools/out.h"
#include "tools/term.h"
#include "tools/text.h"

#define COLUMN_GAP     2  /* blanks between columns */
#define MAX_PADDING    60 /* a longer name pushes its row aside, not every row */
#define LEAST_CUT      12 /* a terminal's names are not cut below this */
#define CUT_MARK       "..."
#define CUT_MARK_WIDTH 3

enum cell_kind { CELL_NONE, CELL_STRING, CELL_NUMBER, CELL_PERCENT };

struct cell {
	enum cell_kind kind;
	size_t at; /* in text */
};

struct row {
	size_t first; /* in cells */
	const char *color;
	bool line; /* one cell, over all columns */
};

struct table {
	struct column *column;
	size_t nr_columns;
	struct buf text, cells, rows;
	size_t filled; /* cells of the row that is being made */
	const char *color;
};

struct table *table_new(const struct column *columns, size_t nr)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->column = malloc(nr * sizeof(*columns));
	if (!t->column) {
		free(t);
		return NULL;
	}
	memcpy(t->column, columns, nr * sizeof(*columns));
	t->nr_columns = nr;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	buf_fini(&t->text);
	buf_fini(&t->cells);
	buf_fini(&t->rows);
	free(t->column);
	free(t);
}

void table_clear(struct table *t)
{
	buf_reset(&t->text);
	buf_reset(&t->cells);
	buf_reset(&t->rows);
	t->filled = 0;
	t->color = NULL;
}

static int table_err(const struct table *t)
{
	return t->text.err || t->cells.err || t->rows.err ? -ENOMEM : 0;
}

static size_t nr_rows(const struct table *t)
{
	return t->rows.len / sizeof(struct row);
}

static const struct row *row_at(const struct table *t, size_t i)
{
	return &((const struct row *)t->rows.data)[i];
}

static const struct cell *cell_at(const struct table *t, const struct row *row,
				  size_t i)
{
	return &((const struct cell *)t->cells.data)[row->first + i];
}

static const char *cell_text(const struct table *t, const struct cell *c)
{
	return c->kind == CELL_NONE ? "" : t->text.data + c->at;
}

static void begin_row(struct table *t, const char *color, bool line)
{
	struct row row = { t->cells.len / sizeof(struct cell), color, line };

	buf_put(&t->rows, &row, sizeof(row));
}

static void put_cell(struct table *t, enum cell_kind kind, const char *s)
{
	struct cell c = { kind, t->text.len };

	if (!t->filled) {
		begin_row(t, t->color, false);
		t->color = NULL;
	}
	if (kind != CELL_NONE)
		buf_put(&t->text, s, strlen(s) + 1);
	buf_put(&t->cells, &c, sizeof(c));
	t->filled = (t->filled + 1) % t->nr_columns;
}

void table_text(struct table *t, const char *s)
{
	put_cell(t, s ? CELL_STRING : CELL_NONE, s);
}

void table_number(struct table *t, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, v);
	put_cell(t, CELL_NUMBER, s);
}

void table_signed(struct table *t, int64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRId64, v);
	put_cell(t, CELL_NUMBER, s);
}

void table_real(struct table *t, double v, int decimals)
{
	char s[340]; /* DBL_MAX has 309 digits */

	snprintf(s, sizeof(s), "%.*f", decimals, v);
	put_cell(t, isfinite(v) ? CELL_NUMBER : CELL_NONE, s);
}

void table_percent(struct table *t, double v)
{
	char s[340];

	snprintf(s, sizeof(s), "%.2f", v);
	put_cell(t, isfinite(v) ? CELL_PERCENT : CELL_NONE, s);
}

void table_hex(struct table *t, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "0x%" PRIx64, v);
	put_cell(t, CELL_STRING, s);
}

void table_time(struct table *t, uint64_t real_ns)
{
	char s[TIME_TEXT_SIZE];

	put_cell(t, CELL_STRING, time_format(real_ns, s));
}

void table_empty(struct table *t)
{
	put_cell(t, CELL_NONE, NULL);
}

void table_color(struct table *t, const char *color)
{
	assert(!t->filled);
	t->color = color;
}

void table_line(struct table *t, const char *color, const char *s)
{
	struct cell c = { CELL_STRING, t->text.len };

	assert(!t->filled);
	begin_row(t, color, true);
	buf_put(&t->text, s, strlen(s) + 1);
	buf_put(&t->cells, &c, sizeof(c));
}

/*
 * Text
 */

static bool in_text(const struct column *c)
{
	return c->where != COLUMN_NOT_IN_TEXT;
}

static bool in_data(const struct column *c)
{
	return c->where != COLUMN_ONLY_IN_TEXT;
}

/* The cell as it is shown: safe, with its unit. */
static const char *shown(const struct table *t, const struct cell *c, struct buf *b)
{
	buf_reset(b);
	text_put_clean(b, cell_text(t, c));
	if (c->kind == CELL_PERCENT)
		buf_putc(b, '%');
	return buf_str(b);
}

static void measure(const struct table *t, size_t *width, bool header, struct buf *b)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		width[i] = header ? text_width(t->column[i].title) : 0;
	for (size_t r = 0; r < nr_rows(t); r++) {
		const struct row *row = row_at(t, r);

		for (size_t i = 0; i < t->nr_columns && !row->line; i++) {
			size_t w = text_width(shown(t, cell_at(t, row, i), b));

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

static void put_blanks(size_t n)
{
	printf("%*s", (int)n, "");
}

static void put_text_cell(const struct column *c, const char *s, size_t width, bool cut,
			  bool last)
{
	size_t w = text_width(s);

	if (c->kind != COLUMN_TEXT) {
		put_blanks(w < width ? width - w : 0);
		fputs(s, stdout);
	} else if (cut && w > width) {
		fwrite(s, 1, text_prefix(s, width - CUT_MARK_WIDTH), stdout);
		fputs(CUT_MARK, stdout);
	} else {
		fputs(s, stdout);
		put_blanks(!last && w < width ? width - w : 0);
	}
}

static size_t last_in_text(const struct table *t)
{
	size_t last = 0;

	for (size_t i = 0; i < t->nr_columns; i++) {
		if (in_text(&t->column[i]))
			last = i;
	}
	return last;
}

/* One line of cells; row NULL prints the titles. */
static void put_text_row(const struct table *t, const struct row *row,
			 const size_t *width, bool cut, struct buf *b)
{
	const size_t last = last_in_text(t);
	bool any = false;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct column *c = &t->column[i];

		if (!in_text(c))
			continue;
		if (any)
			put_blanks(COLUMN_GAP);
		any = true;
		put_text_cell(c, row ? shown(t, cell_at(t, row, i), b) : c->title,
			      width[i], cut, i == last);
	}
}

static void put_text_line(const struct table *t, const struct row *row,
			  const size_t *width, size_t limit, bool color, struct buf *b)
{
	const char *s;

	if (color && row->color)
		fputs(row->color, stdout);
	if (row->line) {
		s = shown(t, cell_at(t, row, 0), b);
		fwrite(s, 1, limit ? text_prefix(s, limit) : strlen(s), stdout);
	} else {
		put_text_row(t, row, width, limit != 0, b);
	}
	puts(color && row->color ? TERM_RESET : "");
}

int table_print_text(struct table *t, bool color, bool header)
{
	const unsigned int limit = term_width();
	struct buf b = { 0 };
	size_t *width;

	if (table_err(t))
		return -ENOMEM;
	width = calloc(t->nr_columns, sizeof(*width));
	if (!width)
		return -ENOMEM;
	measure(t, width, header, &b);
	if (limit)
		narrow(t, width, limit);
	for (size_t i = 0; i < t->nr_columns && !limit; i++) {
		if (t->column[i].kind == COLUMN_TEXT && width[i] > MAX_PADDING)
			width[i] = MAX_PADDING;
	}
	if (header) {
		put_text_row(t, NULL, width, limit != 0, &b);
		putchar('\n');
	}
	for (size_t r = 0; r < nr_rows(t); r++)
		put_text_line(t, row_at(t, r), width, limit, color, &b);
	buf_fini(&b);
	free(width);
	return 0;
}

/*
 * CSV
 */

/* Valid UTF-8 comes out; controls stay what they are, but not on a terminal. */
static void put_csv(const char *s, bool any, bool terminal)
{
	struct buf b = { 0 };
	bool quote = strpbrk(s, ",\"\r\n") != NULL;
	uint32_t code;

	if (any)
		buf_putc(&b, ',');
	if (quote)
		buf_putc(&b, '"');
	while ((code = text_next(&s))) {
		if (code == '"')
			buf_putc(&b, '"');
		text_put(&b, terminal && text_is_control(code) ? '?' : code);
	}
	if (quote)
		buf_putc(&b, '"');
	fputs(buf_str(&b), stdout);
	buf_fini(&b);
}

static void put_csv_row(const struct table *t, const struct row *row, bool terminal)
{
	bool any = false;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct column *c = &t->column[i];

		if (!in_data(c))
			continue;
		put_csv(row ? cell_text(t, cell_at(t, row, i)) : c->key, any, terminal);
		any = true;
	}
	putchar('\n');
}

int table_print_csv(struct table *t, bool header)
{
	const bool terminal = isatty(STDOUT_FILENO);

	if (table_err(t))
		return -ENOMEM;
	if (header)
		put_csv_row(t, NULL, terminal);
	for (size_t r = 0; r < nr_rows(t); r++) {
		if (!row_at(t, r)->line)
			put_csv_row(t, row_at(t, r), terminal);
	}
	return 0;
}

/*
 * JSON
 */

int table_print_json(struct table *t, struct json *j)
{
	if (table_err(t))
		return -ENOMEM;
	for (size_t r = 0; r < nr_rows(t); r++) {
		const struct row *row = row_at(t, r);

		if (row->line)
			continue;
		json_object(j, NULL);
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct column *c = &t->column[i];
			const struct cell *cell = cell_at(t, row, i);

			if (!in_data(c))
				continue;
			if (cell->kind == CELL_NONE)
				json_null(j, c->key);
			else if (cell->kind == CELL_STRING)
				json_string(j, c->key, cell_text(t, cell));
			else
				json_verbatim(j, c->key, cell_text(t, cell));
		}
		json_end(j);
	}
	return 0;
}

int table_print(struct table *t, int format, const char *name, bool color)
{
	struct json j = { 0 };
	int err;

	if (format == OUT_TEXT)
		return table_print_text(t, color, true);
	if (format == OUT_CSV)
		return table_print_csv(t, true);
	json_object(&j, NULL);
	json_array(&j, name);
	err = table_print_json(t, &j);
	json_end(&j);
	json_end(&j);
	return err;
}
