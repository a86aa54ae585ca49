/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_print.c - the columns of names that cpi stats and cpi diff share
 */
#include "config.h"

#include "tools/write/compare.h"

#include "report/profile/prof_context.h"
#include "tools/write/plain_name.h"
#include "tools/write/profile.h"

void matrix_put_procedure(const struct matrix_row *row, bool text, struct buf *out)
{
	if (row->unknown)
		buf_puts(out, text ? plain_unknown(row->procedure) : "[unknown]");
	else if (text && row->procedure)
		plain_procedure(row->procedure, row->image, out);
	else
		buf_puts(out, row->procedure ? row->procedure : "");
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
		nr = context_columns(by, out);
	}
	return nr;
}

void matrix_name_cells(struct table *t, int by, const struct matrix_row *row, bool text)
{
	struct buf name = { 0 };

	switch (by) {
	case BY_LINE:
		table_text(t, row->file);
		if (row->line)
			table_number(t, row->line);
		else
			table_empty(t);
		/* fall through */
	case BY_PROCEDURE:
		matrix_put_procedure(row, text, &name);
		table_text(t, buf_str(&name));
		buf_fini(&name);
		/* fall through */
	case BY_IMAGE:
		table_text(t, matrix_image(row));
		break;
	default:
		context_cells(t, by, row->unknown ? row->procedure : row->context,
			      row->container);
	}
}
