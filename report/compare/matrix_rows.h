/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_rows.h - the rows of a struct matrix: found, and made
 */
#ifndef CPI_REPORT_MATRIX_ROWS_H
#define CPI_REPORT_MATRIX_ROWS_H

#include "report/compare/matrix.h"

/* What tells rows apart; strings are copied into a new row. */
struct matrix_key {
	bool unknown;
	uint64_t image_hash;
	const char *image, *procedure, *context, *file;
	const struct cgroup_container *container; /* of context; tells no rows apart */
	int line;
};

/* The row of key, made when it is new and add says so. 0, -ENOENT or -ENOMEM. */
int matrix_row(struct matrix *m, const struct matrix_key *key, bool add,
	       struct matrix_row **out);

void matrix_rows_fini(struct matrix *m);

#endif
