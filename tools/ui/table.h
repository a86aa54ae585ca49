/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - rows and columns, as aligned text, as CSV, or as JSON objects
 *
 * Cells are appended row by row, left to right. Text columns align left,
 * others right. In a pipe no name is cut; on a terminal the widest names are,
 * until a line fits: paths at their beginning, other names at their end. CSV follows
 * RFC 4180, with a header line; its texts are harmless on terminals and in
 * spreadsheets.
 */
#ifndef CPI_TOOLS_TABLE_H
#define CPI_TOOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/ui/json.h"

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER };

enum column_where {
	COLUMN_EVERYWHERE,
	COLUMN_NOT_IN_TEXT, /* only in CSV and JSON */
	COLUMN_ONLY_IN_TEXT,
};

struct column {
	const char *title; /* in text; the string must stay */
	const char *key;   /* in CSV and JSON */
	enum column_kind kind;
	enum column_where where;
};

struct table;

/* Copies columns. NULL when out of memory. */
struct table *table_new(const struct column *columns, size_t nr);
void table_free(struct table *t);  /* accepts NULL */
void table_clear(struct table *t); /* drops the rows */

void table_text(struct table *t,
		const char *s); /* NULL gives an empty cell, null in JSON */
void table_number(struct table *t, uint64_t v);
void table_signed(struct table *t, int64_t v);
void table_real(struct table *t, double v, int decimals);
void table_exact(struct table *t, double v);   /* 15 digits; for programs */
void table_percent(struct table *t, double v); /* "12.34", "12.34%" in text */
void table_hex(struct table *t, uint64_t v);   /* "0x12" */
void table_time(struct table *t, uint64_t real_ns);
void table_empty(struct table *t);

/* As table_real() if text is true, else as table_exact(). */
void table_value(struct table *t, double v, int decimals, bool text);

/* Sets the colour, in text, of the row that the next cell begins (TERM_…, or NULL). */
void table_color(struct table *t, const char *color);

/* Adds a line between rows, only in text. */
void table_line(struct table *t, const char *color, const char *s);

/*
 * Both affect only text. keys ends with NULL, and must live as long as t.
 * table_put_last() moves these columns behind the others. table_drop_first() sets the
 * columns that are left out, in this order, if a terminal is too narrow for the names.
 */
void table_put_last(struct table *t, const char *const *keys);
void table_drop_first(struct table *t, const char *const *keys);

/* Each returns 0, or -ENOMEM: no memory now, or when a cell was appended. */
int table_print_text(struct table *t, bool color, bool header);
int table_print_csv(struct table *t, bool header);
int table_print_json(struct table *t, struct json *j); /* as objects in an open array */

/*
 * Prints in a format of enum out_format: text and CSV with titles, JSON as an object
 * whose only member is called name.
 */
int table_print(struct table *t, int format, const char *name, bool color);

#endif
