/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_rows.h - finds and makes the rows of a struct matrix
 */
#ifndef CPI_REPORT_MATRIX_ROWS_H
#define CPI_REPORT_MATRIX_ROWS_H

#include "report/compare/matrix.h"

/* The key of a row. A new row gets copies of the strings. */
struct matrix_key {
	bool unknown;
	uint64_t image_hash;
	const char *image, *procedure, *context, *file;
	const struct cgroup_container *container; /* of context; not part of the key */
	int line;
};

/* Finds the row of key; makes it if add is set. Returns 0, -ENOENT or -ENOMEM. */
int matrix_row(struct matrix *m, const struct matrix_key *key, bool add,
	       struct matrix_row **out);

void matrix_rows_fini(struct matrix *m);

#endif
