/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - comparisons of epochs, and how much they differ
 *
 * Functions that return an int return 0 or -ENOMEM.
 */
#ifndef CPI_TOOLS_WRITE_COMPARE_H
#define CPI_TOOLS_WRITE_COMPARE_H

#include "report/compare/diff.h"
#include "report/compare/diff_procedure.h"
#include "report/compare/stats.h"
#include "tools/ui/cmd.h"
#include "tools/ui/table.h"

int diff_print(struct diff *d, const struct out_options *out);
int diff_print_svg(const struct diff *d, uint64_t limit);

/* CSV has the instructions alone. */
int diff_procedure_print(const struct diff_procedure *d, const struct out_options *out);

int stats_print(struct stats *s, const struct out_options *out);

#define MATRIX_NAME_COLUMNS 5 /* also of contexts */

/* Fills the columns of names for by (enum prof_by). Returns how many there are. */
size_t matrix_name_columns(int by, struct column out[MATRIX_NAME_COLUMNS]);

/* Their cells; text has plain names (plain_name.h). */
void matrix_name_cells(struct table *t, int by, const struct matrix_row *row,
		       bool text);

/* A row's procedure and image; of samples without an image "[unknown]" and the reason.
 */
void matrix_put_procedure(const struct matrix_row *row, bool text, struct buf *out);
const char *matrix_image(const struct matrix_row *row);

#endif
