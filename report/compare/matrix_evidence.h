/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_evidence.h - combines ticks and random samples into the time of a matrix's
 * rows
 */
#ifndef CPI_REPORT_MATRIX_EVIDENCE_H
#define CPI_REPORT_MATRIX_EVIDENCE_H

#include "report/compare/matrix.h"

/* Adds n samples of an event to a row's sums, and to the totals. */
void matrix_sums_add(struct matrix_sums *s, struct matrix_totals *t, size_t event,
		     bool kernel, double n, double weight);

/*
 * Computes the time of an epoch's rows, and the mean weight of a sample; if the epoch
 * has no time, the mean weight of all epochs. Returns 0 or -ENOMEM.
 */
int matrix_take_column(const struct matrix *m, int side, const struct matrix_sums *sums,
		       const struct matrix_totals *t, double *time, double *sample);

#endif
