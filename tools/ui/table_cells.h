/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_cells.h - the representation of a table; for table.c and table_text.c
 *
 * Cells are strings in one buffer. Widths are computed when the table is printed.
 *
 * I1  A row has nr_columns cells. A line between rows has one cell, and line is set.
 */
#ifndef CPI_TOOLS_TABLE_CELLS_H
#define CPI_TOOLS_TABLE_CELLS_H

#include <errno.h>

#include "base/buf.h"
#include "tools/ui/table.h"

enum cell_kind { CELL_NONE, CELL_STRING, CELL_NUMBER, CELL_PERCENT };

struct table_cell {
	enum cell_kind kind;
	size_t at; /* in text */
};

struct table_row {
	size_t first; /* in cells */
	const char *color;
	bool line; /* one cell, over all columns */
};

struct table {
	struct column *column;
	size_t nr_columns;
	struct buf text, cells, rows;
	const char *const *last, *const *drop; /* keys; NULL: none */
	size_t filled;                         /* number of cells of the current row */
	const char *color;
};

static inline int table_err(const struct table *t)
{
	return t->text.err || t->cells.err || t->rows.err ? -ENOMEM : 0;
}

static inline size_t table_nr_rows(const struct table *t)
{
	return t->rows.len / sizeof(struct table_row);
}

static inline const struct table_row *table_row(const struct table *t, size_t i)
{
	return &((const struct table_row *)t->rows.data)[i];
}

static inline const struct table_cell *table_cell(const struct table *t,
						  const struct table_row *row, size_t i)
{
	return &((const struct table_cell *)t->cells.data)[row->first + i];
}

static inline const char *table_cell_text(const struct table *t,
					  const struct table_cell *c)
{
	return c->kind == CELL_NONE ? "" : t->text.data + c->at;
}

#endif
