/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.c - cells are appended, and written as CSV and JSON
 */
#include "config.h"

#include "tools/ui/table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/times.h"
#include "tools/ui/out.h"
#include "tools/ui/table_cells.h"

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

void table_put_last(struct table *t, const char *const *keys)
{
	t->last = keys;
}

void table_drop_first(struct table *t, const char *const *keys)
{
	t->drop = keys;
}

void table_clear(struct table *t)
{
	buf_reset(&t->text);
	buf_reset(&t->cells);
	buf_reset(&t->rows);
	t->filled = 0;
	t->color = NULL;
}

static void begin_row(struct table *t, const char *color, bool line)
{
	struct table_row row = { t->cells.len / sizeof(struct table_cell), color,
				 line };

	buf_put(&t->rows, &row, sizeof(row));
}

static void put_cell(struct table *t, enum cell_kind kind, const char *s)
{
	struct table_cell c = { kind, t->text.len };

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

void table_exact(struct table *t, double v)
{
	char s[32];

	snprintf(s, sizeof(s), "%.15g", v);
	put_cell(t, isfinite(v) ? CELL_NUMBER : CELL_NONE, s);
}

void table_value(struct table *t, double v, int decimals, bool text)
{
	if (text)
		table_real(t, v, decimals);
	else
		table_exact(t, v);
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
	struct table_cell c = { CELL_STRING, t->text.len };

	assert(!t->filled);
	begin_row(t, color, true);
	buf_put(&t->text, s, strlen(s) + 1);
	buf_put(&t->cells, &c, sizeof(c));
}

/*
 * CSV
 */

static bool in_data(const struct column *c)
{
	return c->where != COLUMN_ONLY_IN_TEXT;
}

/*
 * Whether a spreadsheet would take the text, without its leading quotes, for a formula.
 * Such a text gets one more quote, even if it begins with one. So removing one quote
 * always gives the original text.
 */
static bool is_formula(const char *s)
{
	const char first = s[strspn(s, "'")];

	return first && strchr("=+-@", first) && !json_is_number(s);
}

/* Appends a text so that it is harmless on a terminal and in a spreadsheet. */
static void put_csv_text(const char *s)
{
	struct buf clean = { 0 }, b = { 0 };
	bool quote;

	text_put_clean(&clean, s);
	s = buf_str(&clean);
	quote = strpbrk(s, ",\"") != NULL;
	if (quote)
		buf_putc(&b, '"');
	if (is_formula(s))
		buf_putc(&b, '\'');
	for (; *s; s++) {
		if (*s == '"')
			buf_putc(&b, '"');
		buf_putc(&b, *s);
	}
	if (quote)
		buf_putc(&b, '"');
	fputs(buf_str(&b), stdout);
	buf_fini(&b);
	buf_fini(&clean);
}

static void put_csv_row(const struct table *t, const struct table_row *row)
{
	bool any = false;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct column *c = &t->column[i];
		const struct table_cell *cell = row ? table_cell(t, row, i) : NULL;

		if (!in_data(c))
			continue;
		if (any)
			putchar(',');
		any = true;
		if (!cell) /* a title may contain an event's name, with commas */
			put_csv_text(c->key);
		else if (cell->kind == CELL_STRING)
			put_csv_text(table_cell_text(t, cell));
		else
			fputs(table_cell_text(t, cell), stdout);
	}
	putchar('\n');
}

int table_print_csv(struct table *t, bool header)
{
	if (table_err(t))
		return -ENOMEM;
	if (header)
		put_csv_row(t, NULL);
	for (size_t r = 0; r < table_nr_rows(t); r++) {
		if (!table_row(t, r)->line)
			put_csv_row(t, table_row(t, r));
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
	for (size_t r = 0; r < table_nr_rows(t); r++) {
		const struct table_row *row = table_row(t, r);

		if (row->line)
			continue;
		json_object(j, NULL);
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct column *c = &t->column[i];
			const struct table_cell *cell = table_cell(t, row, i);

			if (!in_data(c))
				continue;
			if (cell->kind == CELL_NONE)
				json_null(j, c->key);
			else if (cell->kind == CELL_STRING)
				json_string(j, c->key, table_cell_text(t, cell));
			else
				json_verbatim(j, c->key, table_cell_text(t, cell));
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
