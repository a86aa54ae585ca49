/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_print.h - the names of a matrix's rows, in a table
 */
#ifndef CPI_TOOLS_MATRIX_PRINT_H
#define CPI_TOOLS_MATRIX_PRINT_H

#include "tools/matrix.h"
#include "tools/table.h"

#define MATRIX_NAME_COLUMNS 4 /* at most; whom.h's are no more */

/* The columns of names by enum prof_by. How many they are. */
size_t matrix_name_columns(int by, struct column out[MATRIX_NAME_COLUMNS]);

/* Their cells. */
void matrix_name_cells(struct table *t, int by, const struct matrix_row *row);

/* A row's procedure and image; of samples without an image "[unknown]" and the reason.
 */
const char *matrix_procedure(const struct matrix_row *row);
const char *matrix_image(const struct matrix_row *row);

#endif
