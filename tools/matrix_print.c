/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/matrix_print.h"

#include "tools/whom.h"

const char *matrix_procedure(const struct matrix_row *row)
{
	return row->unknown ? "[unknown]" : row->procedure;
}

const char *matrix_image(const struct matrix_row *row)
{
	return row->unknown ? row->procedure : row->image;
}

size_t matrix_name_columns(int by, struct column out[MATRIX_NAME_COLUMNS])
{
	static const struct column procedure = { "procedure", "procedure", COLUMN_TEXT,
						 COLUMN_EVERYWHERE };
	static const struct column image = { "image", "image", COLUMN_TEXT,
					     COLUMN_EVERYWHERE };
	size_t nr = 0;

	switch (by) {
	case BY_LINE:
		out[nr++] = (struct column){ "file", "file", COLUMN_TEXT,
					     COLUMN_EVERYWHERE };
		out[nr++] = (struct column){ "line", "line", COLUMN_NUMBER,
					     COLUMN_EVERYWHERE };
		/* fall through */
	case BY_PROCEDURE:
		out[nr++] = procedure;
		/* fall through */
	case BY_IMAGE:
		out[nr++] = image;
		break;
	default:
		nr = whom_columns(by, out);
	}
	return nr;
}

void matrix_name_cells(struct table *t, int by, const struct matrix_row *row)
{
	switch (by) {
	case BY_LINE:
		table_text(t, row->file);
		if (row->line)
			table_number(t, row->line);
		else
			table_empty(t);
		/* fall through */
	case BY_PROCEDURE:
		table_text(t, matrix_procedure(row));
		/* fall through */
	case BY_IMAGE:
		table_text(t, matrix_image(row));
		break;
	default:
		whom_cells(t, by, row->unknown ? row->procedure : row->whom,
			   row->container);
	}
}
